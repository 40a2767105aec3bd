// What is on the screen: one mode at a time, and in some modes a pair. Labels, corrections, notes and
// marks take their pair from `target`, which looks at the screen again at that moment: what is not shown
// can get none of them.
import { blank, isOnScreen, showInstead, showPair } from "./document.js";
import { page, part } from "./page.js";

export class Screen {
  #mode = "waiting";
  #pair = null;
  #entry = null;
  isReadOnly = false; // the campaign takes nothing more from this person

  // labelling: a pair to label. reviewing: a label of before, or none that fits the filter. notice: the
  // right answer of a training pair. waiting: for pairs. finished: there are none. closed: to this person.
  get mode() {
    return this.#mode;
  }

  // The pair in sight, if there is one; it may not have been painted yet.
  get pair() {
    return this.#pair;
  }

  // The label that is reviewed, if there is one.
  get entry() {
    return this.#entry;
  }

  // {pair, entry}: what a key of this moment is about; null: no pair is to be seen, or nothing can be
  // said of it. entry: null unless its label is reviewed.
  get target() {
    const canBeSaid = this.#mode === "labelling" || (this.#mode === "reviewing" && this.#entry);
    if (!canBeSaid || this.isReadOnly || !isOnScreen(this.#pair)) return null;
    return { pair: this.#pair, entry: this.#entry };
  }

  // former: what was said of it before it was undone.
  label(pair, former = null) {
    this.#set("labelling", pair);
    showPair(pair, { former });
  }

  // entry: null where no label fits the filter, which stays visible.
  review(entry, filter) {
    this.#set("reviewing", entry?.pair ?? null, entry);
    part("back").querySelector("select").value = filter;
    if (entry) showPair(entry.pair, { former: entry.said });
    else showInstead("No labels match this filter.", "Choose another filter, or go back to labelling.");
    part("end-home").hidden = !entry;
  }

  // The answer to the pair that is shown has come.
  notice() {
    this.#set("notice", this.#pair);
  }

  wait() {
    this.#set("waiting");
    blank();
  }

  // mode: waiting, finished or closed, in words.
  say(mode, heading, words) {
    this.#set(mode);
    showInstead(heading, words);
    part("end-home").hidden = false;
  }

  #set(mode, pair = null, entry = null) {
    this.#mode = mode;
    this.#pair = pair;
    this.#entry = entry;
    page.dataset.mode = mode;
    const isReview = mode === "reviewing";
    part("back").hidden = !isReview;
    if (!isReview) part("back").querySelector("select").value = "";
    part("said").textContent = isReview ? "Your labels" : "";
    part("in-query").hidden = isReview; // it is about the query at work
    for (const name of ["end-undo", "end-review", "end-refused"]) part(name).hidden = true;
  }
}
