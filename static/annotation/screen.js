// The page's state on the screen: every event goes through `dispatch`, and what it changes is shown.
import { FLASH } from "./constants.js";
import { blank, onPainted, pressFormer, showInstead, showPair } from "./document.js";
import { labelWords } from "./label-words.js";
import { announce, page, part } from "./page.js";
import { OPENING, reduce, savingOf, targetOf } from "./page-state.js";
import { format, gettext, NO_CONNECTION, NOT_IN_CAMPAIGN } from "./texts.js";

/** @import { Made, PageEvent, PageState, Said } from "./page-state.js" */
/** @import { Entry, Pair, SavingReport } from "./types.js" */

/**
 * @typedef {object} ScreenOptions
 * @property {(made: Made) => void} onMade a label, before what comes after it is shown
 * @property {(pair: Pair) => void} onShown a pair is shown, or shown again
 * @property {(pair: Pair) => void} onChosen a row of the list of its query
 * @property {(report: SavingReport) => void} onSaving where the labels are has changed
 * @property {() => string} summary what was labelled on this page
 */

/**
 * Why there is no pair, as a heading and what it means.
 * @param {PageState} state
 * @returns {[heading: string, words: string]}
 */
function wordsInstead({ mode, ended, paused }) {
  if (mode === "reviewing") {
    return [
      gettext("No labels match this filter."),
      gettext("Choose another filter, or go back to labelling."),
    ];
  }
  if (mode === "elsewhere") {
    return [
      gettext("Open in another tab"),
      gettext("You are labelling this campaign in another tab or window. Your labels are kept."),
    ];
  }
  if (mode === "signed-out") {
    return [gettext("You are signed out"), gettext("Sign in again to continue. Your labels are kept.")];
  }
  if (mode === "waiting") {
    return [NO_CONNECTION, gettext("The next pairs load once the connection is back. Your labels are kept.")];
  }
  if (ended === "closed") {
    return [
      gettext("This campaign is closed"),
      gettext("Labels made before it closed are kept. There is nothing left to label here."),
    ];
  }
  if (ended)
    return [NOT_IN_CAMPAIGN, gettext("You can’t add labels to it. If this is a mistake, ask its lead.")];
  if (paused) return [gettext("Paused"), paused];
  return [gettext("All done"), gettext("There is nothing left for you to label here right now. Thank you.")];
}

/** @param {Entry} entry */
function wordsOfReview({ label }) {
  const at = new Date(label.made_at).toLocaleString(document.documentElement.lang, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  const note = label.note && `“${label.note}”`;
  return [format(gettext("Your label: {label}"), { label: labelWords(label) }), at, note]
    .filter(Boolean)
    .join(" · ");
}

export class Screen {
  #options;
  #seenAt = 0;
  #said = ""; // of the pair before, where nobody has heard it yet
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #flashes;
  state = OPENING;

  /** @param {ScreenOptions} options */
  constructor(options) {
    this.#options = options;
    onPainted((pair, isNewQuery) => {
      this.dispatch({ type: "painted", pair });
      if (!this.state.entry && this.mode !== "query") announce(this.#wordsOfPair(pair, isNewQuery));
    });
  }

  /**
   * What is said to those who do not see it: the grade that was just given, and what comes.
   * @param {Pair} pair
   * @param {boolean} isNewQuery
   */
  #wordsOfPair({ query, document }, isNewQuery) {
    const need = isNewQuery
      ? [format(gettext("New query: {query}"), { query: query.text }), query.description]
      : [];
    const said = this.#said;
    this.#said = "";
    const parts = [said, ...need, document.title || gettext("Untitled")].filter(Boolean);
    return parts.map((one) => one.replace(/\.$/, "")).join(". ");
  }

  /** @param {Said} said of the pair that was on the screen a moment ago */
  #flash({ outcome, grade = null, reason = "" }) {
    this.#said = labelWords({ outcome, grade, reason });
    const flash = part("flash");
    flash.textContent = this.#said;
    flash.classList.add("is-on");
    clearTimeout(this.#flashes);
    this.#flashes = setTimeout(() => flash.classList.remove("is-on"), FLASH);
  }

  get mode() {
    return this.state.mode;
  }

  /** What a key of this moment is about; null: nothing that can be labelled is to be seen. */
  get target() {
    return targetOf(this.state);
  }

  /** At what time (event.timeStamp's clock) what can be graded was first to be seen; Infinity: not yet. */
  get seenSince() {
    return this.state.isSeen ? this.#seenAt : Infinity;
  }

  /**
   * @param {PageEvent} event
   * @returns {PageState} what it is from now on
   */
  dispatch(event) {
    const before = this.state;
    const after = reduce(before, event);
    this.state = after;
    if (after.isSeen && !before.isSeen) this.#seenAt = performance.now();
    if (after.made) this.#options.onMade(after.made);
    if (after.made?.kind === "label") this.#flash(after.made.said);
    if (after.made?.kind === "undo") this.#said = gettext("Label undone");
    const isSaving = savingOf(after) !== savingOf(before) || after.unsaved !== before.unsaved;
    if (isSaving || event.type === "sending") this.#showSaving();
    const shown = /** @type {const} */ (["mode", "pair", "entry", "former", "isOffline", "paused", "ended"]);
    if (shown.some((name) => after[name] !== before[name])) this.#show();
    if (after.filter !== before.filter) part("back-filter").value = after.filter;
    if (after.refused !== before.refused) this.#showButtons();
    return after;
  }

  #showSaving() {
    const shown = savingOf(this.state);
    if (shown) this.#options.onSaving({ shown, unsaved: this.state.unsaved });
  }

  #show() {
    const { mode, pair, entry, former, isOffline } = this.state;
    const isReview = mode === "reviewing";
    page.dataset.mode = mode;
    part("back").hidden = !isReview;
    part("in-query").hidden = isReview || mode === "query"; // it is about the pair that is next to be labelled
    part("said").textContent = entry ? wordsOfReview(entry) : gettext("Your labels");
    part("list").hidden = mode !== "query";
    if (mode === "query") {
      pressFormer(former);
      if (pair) this.#options.onChosen(pair);
    } else if (pair) {
      showPair(pair, former);
      this.#options.onShown(pair);
    } else if (mode === "waiting" && !isOffline) blank();
    else showInstead(...wordsInstead(this.state));
    const isEnd = mode === "finished" || mode === "closed";
    part("end-summary").textContent = isEnd ? this.#options.summary() : "";
    this.#showButtons();
    if (mode === "elsewhere") part("end-here").focus();
    if (isReview && entry) announce(part("said").textContent);
  }

  #showButtons() {
    const { mode, ended, refused } = this.state;
    part("end-home").hidden = mode === "reviewing";
    part("end-home").classList.toggle("primary", mode !== "elsewhere");
    part("end-here").hidden = mode !== "elsewhere";
    part("end-undo").hidden = mode !== "finished";
    part("end-review").hidden = mode !== "closed" || ended !== "closed";
    part("end-refused").hidden = mode !== "closed" || refused === 0;
  }
}
