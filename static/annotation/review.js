// One's own labels, looked through again. Older ones come from the server, so each step waits for the one
// before it. Another kind of step, and whatever else changes what is on the screen, calls off those that
// have not arrived.
import { SLOW_HISTORY } from "./constants.js";
import { History } from "./history.js";
import { config, part, toast } from "./page.js";
import { gettext } from "./texts.js";

/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Screen } from "./screen.js" */
/** @import { Entry, Pair } from "./types.js" */

/**
 * @typedef {object} ReviewOptions
 * @property {PairQueue} queue
 * @property {Screen} screen
 * @property {() => Promise<number>} unsent how many labels the server does not know yet
 * @property {(entry?: Entry) => void} onUndo of this label, or of the one on the screen
 * @property {() => void} onLeave back to labelling
 * @property {() => void} onOffline older labels could not be loaded
 */

/** @typedef {"undo" | "older" | "filter"} Step */

export class Review {
  #options;
  /** @type {History | null} while labels are reviewed */
  #history = null;
  /** @type {Promise<void>} */
  #steps = Promise.resolve();
  /** @type {Step | ""} */
  #kind = "";
  #calledOff = 0; // times
  /** @type {History | null} what is being loaded */
  #loading = null;

  /** @param {ReviewOptions} options */
  constructor(options) {
    this.#options = options;
  }

  /**
   * @param {Step} kind
   * @param {() => Promise<() => void>} find what there is to show, as a function that shows it
   */
  #step(kind, find) {
    if (kind !== this.#kind) this.callOff();
    this.#kind = kind;
    const since = this.#calledOff;
    const slow = setTimeout(() => {
      part("loading").hidden = false;
    }, SLOW_HISTORY);
    this.#steps = this.#steps
      .then(async () => {
        if (since !== this.#calledOff) return;
        try {
          const show = await find();
          if (since === this.#calledOff) show();
        } catch {
          if (since !== this.#calledOff) return;
          this.callOff();
          toast(gettext("Older labels need a connection."), "warn");
          this.#options.onOffline();
        }
      })
      .finally(() => {
        clearTimeout(slow);
        if (since === this.#calledOff) part("loading").hidden = true;
      });
  }

  /** @param {{ filter?: string, pair?: Pair | null }} what */
  #newHistory(what = {}) {
    const { queue, unsent } = this.#options;
    return new History({ queue, unsent, url: config.labelsUrl, ...what });
  }

  /** @param {History} history */
  #olderOf(history) {
    this.#loading = history;
    return history.older();
  }

  /** What is on the screen stays, with the filter that it was found by. */
  callOff() {
    this.#calledOff += 1;
    this.#kind = "";
    this.#loading?.abort();
    part("loading").hidden = true;
    part("back-filter").value = this.#history?.filter ?? "";
  }

  /** Something else is on the screen. */
  end() {
    this.#history = null;
  }

  /** Undoes the label that is reviewed, or else the latest. */
  undo() {
    const { onUndo, screen } = this.#options;
    if (screen.mode === "reviewing") {
      this.callOff();
      onUndo();
    } else if (!screen.state.ended) {
      this.#step("undo", async () => {
        const latest = await this.#olderOf(this.#newHistory());
        return () => (latest ? onUndo(latest) : toast(gettext("There is no label to undo.")));
      });
    }
  }

  older() {
    const { screen } = this.#options;
    if (screen.state.ended === "shut-out") return;
    this.#step("older", async () => {
      const history = this.#history ?? this.#newHistory();
      const entry = await this.#olderOf(history);
      return () => {
        if (entry) this.#review(history, entry);
        else if (screen.state.entry) toast(gettext("This is your first label."));
        else
          toast(
            this.#history ? gettext("No labels match this filter.") : gettext("You have no labels here yet."),
          );
      };
    });
  }

  /** @param {Pair} pair whose query's labels are gone through, beside what is reviewed */
  historyOf(pair) {
    return this.#newHistory({ filter: "query", pair });
  }

  /** @param {Entry} entry of this page */
  open(entry) {
    this.callOff();
    const history = this.#newHistory();
    history.startAt(entry);
    this.#review(history, entry);
  }

  /** Opens the label that the address names, as the rows of the table of one's labels do. */
  openNamed() {
    const [, id] = location.hash.split("#label=");
    if (!id) return;
    window.history.replaceState(null, "", location.pathname); // a reload goes on labelling
    this.#step("filter", async () => {
      const entry = await this.#olderOf(this.#newHistory({ filter: `only=${id}` }));
      const history = this.#newHistory();
      if (entry) history.startFrom(entry);
      return () =>
        entry ? this.#review(history, entry) : toast(gettext("That label has been changed or undone since."));
    });
  }

  /** @param {string} filter */
  filter(filter) {
    this.callOff();
    part("back-filter").value = filter;
    const pair = this.#options.screen.state.pair ?? this.#history?.pair ?? null;
    const history = this.#newHistory({ filter, pair });
    this.#step("filter", async () => {
      const entry = await this.#olderOf(history);
      return () => this.#review(history, entry);
    });
  }

  newer() {
    this.callOff();
    const history = this.#history;
    if (!history || this.#options.screen.mode !== "reviewing") return;
    if (history.isNewest) this.leave();
    else this.#review(history, history.newer());
  }

  leave() {
    this.end();
    this.callOff();
    this.#options.onLeave();
    part("scroll").focus({ preventScroll: true });
  }

  /**
   * @param {History} history
   * @param {Entry | null} entry null where no label fits
   */
  #review(history, entry) {
    this.#history = history;
    history.pair = entry?.pair ?? history.pair;
    if (entry) this.show(entry);
    else this.#options.screen.dispatch({ type: "review", entry: null, filter: history.filter });
  }

  /**
   * Shows a label that is reviewed, as it is now.
   * @param {Entry} entry
   */
  show(entry) {
    const { label, pair } = entry;
    pair.note = label.note;
    pair.spans = label.spans;
    this.#options.screen.dispatch({ type: "review", entry, filter: this.#history?.filter ?? "" });
  }
}
