// What is on the screen: one mode at a time, and in some modes a pair. Labels, corrections, notes and
// marks take their pair from `target`, which looks at the screen again at that moment: what is not shown
// can get none of them.
import { blank, isOnScreen, showInstead, showPair } from "./document.js";
import { page, part } from "./page.js";

/** @import { Entry, HeldLabel, Mode, Pair } from "./types.js" */

export class Screen {
  /** @type {Mode} */
  #mode = "waiting";
  /** @type {Pair | null} */
  #pair = null;
  /** @type {Entry | null} */
  #entry = null;
  isReadOnly = false; // the campaign takes nothing more from this person

  /**
   * labelling: a pair to label. reviewing: a label of before, or none that fits the filter. notice: the
   * right answer of a training pair. waiting: for pairs. finished: there are none. closed: to this person.
   */
  get mode() {
    return this.#mode;
  }

  /** The pair in sight, if there is one; it may not have been painted yet. */
  get pair() {
    return this.#pair;
  }

  /** The label that is reviewed, if there is one. */
  get entry() {
    return this.#entry;
  }

  /**
   * What a key of this moment is about; null: no pair is to be seen, or it can't be labelled. entry: null
   * unless its label is reviewed.
   */
  get target() {
    const canBeLabelled = this.#mode === "labelling" || (this.#mode === "reviewing" && this.#entry);
    if (!this.#pair || !canBeLabelled || this.isReadOnly || !isOnScreen(this.#pair)) return null;
    return { pair: this.#pair, entry: this.#entry };
  }

  /**
   * @param {Pair} pair
   * @param {HeldLabel | null} former what was said of it before it was undone
   */
  label(pair, former = null) {
    this.#set("labelling", pair);
    showPair(pair, former);
  }

  /**
   * @param {Entry | null} entry null where no label fits the filter, which stays visible
   * @param {string} filter
   */
  review(entry, filter) {
    this.#set("reviewing", entry?.pair ?? null, entry);
    part("back-filter").value = filter;
    if (entry) showPair(entry.pair, entry.label);
    else showInstead("No labels match this filter.", "Choose another filter, or go back to labelling.");
    part("end-home").hidden = !entry;
  }

  /** The answer to the pair that is shown has come. */
  notice() {
    this.#set("notice", this.#pair);
  }

  wait() {
    this.#set("waiting");
    blank();
  }

  /**
   * A mode without a pair, in words.
   * @param {"waiting" | "finished" | "closed"} mode
   * @param {string} heading
   * @param {string} words
   */
  say(mode, heading, words) {
    this.#set(mode);
    showInstead(heading, words);
    part("end-home").hidden = false;
  }

  /**
   * @param {Mode} mode
   * @param {Pair | null} pair
   * @param {Entry | null} entry
   */
  #set(mode, pair = null, entry = null) {
    this.#mode = mode;
    this.#pair = pair;
    this.#entry = entry;
    page.dataset.mode = mode;
    const isReview = mode === "reviewing";
    part("back").hidden = !isReview;
    if (!isReview) part("back-filter").value = "";
    part("said").textContent = isReview ? "Your labels" : "";
    part("in-query").hidden = isReview; // it is about the query of the pair that is to be labelled
    part("end-undo").hidden = true;
    part("end-review").hidden = true;
    part("end-refused").hidden = true;
  }
}
