// All pairs of one query as a list or a grid: those that this annotator has labelled, the current one and the next
// ones, in the order of leasing. A grade goes to the chosen row.
import { EXCERPT_CHARACTERS } from "./constants.js";
import { closest } from "./dom.js";
import { labelWords } from "./label-words.js";
import { gradeButton, page, part, toast } from "./page.js";
import { afterPaint } from "./painting.js";
import { picturesOf } from "./pictures.js";
import { repeatedTitle } from "./repeated-title.js";
import { format, gettext } from "./texts.js";

/** @import { History } from "./history.js" */
/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Screen } from "./screen.js" */
/** @import { Entry, Pair } from "./types.js" */

/** @typedef {{ pair: Pair, entry: Entry | null, element: HTMLElement }} ListRow */

/**
 * @typedef {object} QueryListOptions
 * @property {PairQueue} queue
 * @property {Screen} screen
 * @property {(pair: Pair) => History} historyOf one's labels of this pair's query, from before this page too
 * @property {() => void} onLeave back to labelling
 */

const AS_GRID = "touchstone grid"; // in localStorage

/** @param {boolean} isGrid */
function showAsGrid(isGrid) {
  part("list").classList.toggle("is-grid", isGrid);
  page.querySelector('[data-action="grid"]')?.setAttribute("aria-pressed", String(isGrid));
}

export class QueryList {
  #options;
  /** @type {ListRow[]} */
  #rows = [];
  #position = 0;
  #opened = 0; // times

  /** @param {QueryListOptions} options */
  constructor(options) {
    this.#options = options;
    part("list").addEventListener("click", (event) => {
      const element = closest(event, "li");
      const position = this.#rows.findIndex((row) => row.element === element);
      if (position >= 0) this.#choose(position);
    });
    showAsGrid(localStorage.getItem(AS_GRID) !== null);
    part("list").addEventListener("keydown", (event) => {
      const columns = getComputedStyle(part("list-rows")).gridTemplateColumns.split(" ").length;
      /** @type {Record<string, number>} */
      const beside = columns > 1 ? { ArrowRight: 1, ArrowLeft: -1 } : {};
      const by = { ArrowDown: columns, ArrowUp: -columns, ...beside }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation(); // ← opens an older label elsewhere
      this.#choose(Math.min(this.#rows.length - 1, Math.max(0, this.#position + by)));
    });
  }

  get #isOpen() {
    return this.#options.screen.mode === "query";
  }

  toggle() {
    if (this.#isOpen) this.leave();
    else this.#open();
  }

  /** As a grid or as a list, in this browser from now on. */
  switchGrid() {
    const isGrid = !part("list").classList.contains("is-grid");
    if (isGrid) localStorage.setItem(AS_GRID, "on");
    else localStorage.removeItem(AS_GRID);
    showAsGrid(isGrid);
    this.#rows[this.#position]?.element.focus();
  }

  leave() {
    this.#options.onLeave();
    part("scroll").focus({ preventScroll: true });
  }

  #open() {
    const { queue, screen } = this.#options;
    const { current } = queue;
    if (screen.mode !== "labelling" || !current || current.is_training) {
      toast(gettext("There is no query to list."));
      return;
    }
    this.#opened += 1;
    const isOfQuery = (/** @type {Pair} */ { query }) => query.id === current.query.id;
    const done = queue.done.filter(({ pair }) => isOfQuery(pair));
    const rest = [current, ...queue.ahead].filter(isOfQuery);
    this.#rows = [...done.map((entry) => rowOf(entry.pair, entry)), ...rest.map((pair) => rowOf(pair, null))];
    part("list-rows").replaceChildren(...this.#rows.map(({ element }) => element));
    this.#choose(done.length);
    this.#count();
    this.#addOlder(current, this.#opened);
  }

  /**
   * What was labelled of the query before this page: below, so that no row moves.
   * @param {Pair} pair
   * @param {number} opened
   */
  async #addOlder(pair, opened) {
    const history = this.#options.historyOf(pair);
    try {
      for (let entry = await history.older(); entry; entry = await history.older()) {
        const { assignment } = entry.pair;
        if (opened !== this.#opened || !this.#isOpen) return;
        if (this.#rows.some((row) => row.pair.assignment === assignment)) continue;
        const row = rowOf(entry.pair, entry);
        this.#rows.push(row);
        part("list-rows").append(row.element);
        this.#count();
      }
    } catch {
      if (this.#isOpen) toast(gettext("Older labels need a connection."), "warn");
    }
  }

  /** @param {number} position */
  #choose(position) {
    const row = this.#rows[position];
    if (!row) return;
    const before = this.#rows[this.#position]?.element;
    before?.removeAttribute("aria-current");
    if (before) before.tabIndex = -1;
    this.#position = position;
    const { pair, entry, element } = row;
    if (entry) Object.assign(pair, { note: entry.label.note, spans: entry.label.spans });
    element.setAttribute("aria-current", "true");
    element.tabIndex = 0;
    this.#options.screen.dispatch({ type: "choose", pair, entry });
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest" });
    afterPaint().then(() => {
      if (this.#isOpen && element.hasAttribute("aria-current")) {
        this.#options.screen.dispatch({ type: "painted", pair });
      }
    });
  }

  /**
   * The chosen row has been labelled, or its label changed: it shows it, and the next one without a label is chosen.
   * When all have one, none is: a key that is pressed too often must not change a label.
   * @param {Pair} pair
   */
  goOn(pair) {
    const row = this.#rows[this.#position];
    if (!this.#isOpen || row?.pair !== pair) return;
    row.entry ??= this.#options.queue.done.find((entry) => entry.pair === pair) ?? null;
    showGrade(row);
    this.#count();
    const isOpen = (/** @type {ListRow} */ { entry }) => !entry;
    const later = this.#rows.findIndex((one, position) => position > this.#position && isOpen(one));
    const next = later >= 0 ? later : this.#rows.findIndex(isOpen);
    if (next >= 0) this.#choose(next);
    else this.#chooseNone();
  }

  #chooseNone() {
    const element = this.#rows[this.#position]?.element;
    element?.removeAttribute("aria-current");
    this.#position = -1;
    this.#options.screen.dispatch({ type: "choose", pair: null, entry: null });
    part("list-leave").focus();
  }

  /** How many are labelled; when all are, going back is what is left to do. */
  #count() {
    const done = this.#rows.filter(({ entry }) => entry).length;
    const all = this.#rows.length;
    part("list-count").textContent = format(gettext("{done} of {all} labelled."), { done, all });
    part("list-leave").classList.toggle("primary", done === all);
  }
}

/**
 * @param {Pair} pair
 * @param {Entry | null} entry
 * @returns {ListRow}
 */
function rowOf(pair, entry) {
  const element = document.createElement("li");
  const mark = document.createElement("span");
  const words = document.createElement("div");
  const title = document.createElement("p");
  const excerpt = document.createElement("p");
  const { title: name, text, html, fields } = pair.document;
  title.textContent = name || gettext("Untitled");
  const plain = text || Object.values(fields).join(" · ") || textOf(html);
  const begins = repeatedTitle(name, plain);
  excerpt.textContent = plain.slice(begins, begins + EXCERPT_CHARACTERS);
  title.className = "strong";
  excerpt.className = "small muted clamp";
  title.dir = "auto";
  excerpt.dir = "auto";
  words.append(title, excerpt);
  element.append(mark, words, ...picturesOf(pair.document).slice(0, 1));
  element.tabIndex = -1;
  const row = { pair, entry, element };
  showGrade(row);
  return row;
}

/** @param {string} html cleaned by the server; nothing of it is loaded or run */
const textOf = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent ?? "";

/** @param {ListRow} row */
function showGrade({ entry, element }) {
  const mark = element.firstElementChild;
  if (!mark) return;
  const label = entry?.label;
  const isGraded = label?.outcome === "graded";
  mark.textContent = label ? (isGraded ? String(label.grade) : "?") : "–";
  mark.className = (isGraded && gradeButton(label.grade)?.querySelector(".grade")?.className) || "grade none";
  mark.setAttribute("role", "img");
  mark.setAttribute(
    "aria-label",
    label ? format(gettext("Your label: {label}"), { label: labelWords(label) }) : gettext("No label yet"),
  );
}
