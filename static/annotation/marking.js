// Marking text as the reason for a grade, and finding text: with a pointer, and with keys alone.
import { bringIntoSight, shownFields } from "./document.js";
import { frameDocument } from "./frame.js";
import { highlight } from "./highlights.js";
import { part } from "./page.js";

const MOST_FOUND = 1_000;
const MOST_SPANS = 200;

// A tap on a button takes the selection away before the button hears of it.
let selected = null;
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  if (selection.isCollapsed || !part("stage").contains(selection.anchorNode)) return;
  selected = { range: selection.getRangeAt(0).cloneRange(), at: performance.now() };
});
const SELECTION_HOLDS = 400; // milliseconds after it was taken away

function selectedRange() {
  const inFrame = frameDocument()?.getSelection();
  if (inFrame && !inFrame.isCollapsed) return inFrame.getRangeAt(0);
  const selection = document.getSelection();
  if (!selection.isCollapsed) {
    if (part("stage").contains(selection.anchorNode)) return selection.getRangeAt(0);
  } else if (selected && performance.now() - selected.at < SELECTION_HOLDS) return selected.range;
  return null;
}

const overlap = (one, other) => one.field === other.field && one.start < other.end && other.start < one.end;

// The pair's spans with what is selected; without it where that is marked already; null: nothing is.
export function spansWithSelection(pair, range = selectedRange()) {
  const chosen = range ? shownFields().spansOf(range) : [];
  if (chosen.length === 0) return null;
  const before = pair.spans ?? [];
  const others = before.filter((span) => !chosen.some((one) => overlap(one, span)));
  const isMarked = chosen.every((one) => before.some((span) => span.start <= one.start && one.end <= span.end && span.field === one.field));
  range.startContainer.ownerDocument.getSelection().removeAllRanges();
  selected = null;
  return isMarked ? others : [...others, ...chosen].slice(0, MOST_SPANS);
}

export class Finder {
  #ranges = [];
  #place = -1;
  #input = part("find").querySelector("input");

  constructor() {
    this.#input.addEventListener("input", () => this.#search());
    part("find").addEventListener("submit", (event) => {
      event.preventDefault();
      this.step(1);
    });
  }

  get isOpen() {
    return !part("find").hidden;
  }

  // What is found at the moment, as a range.
  get current() {
    return this.#ranges[this.#place] ?? null;
  }

  open() {
    part("find").hidden = false;
    this.#input.focus();
    this.#input.select();
    this.#search();
  }

  // What was found last is selected then, so that it can be marked.
  close() {
    const { current } = this;
    part("find").hidden = true;
    this.#show([], -1);
    part("scroll").focus({ preventScroll: true });
    if (current) {
      const selection = current.startContainer.ownerDocument.getSelection();
      selection.removeAllRanges();
      selection.addRange(current);
    }
  }

  // Another document: nothing is found yet, and looking stays as it was.
  reset() {
    if (this.isOpen) this.#search();
    else if (this.current) this.#show([], -1);
  }

  step(by) {
    const count = this.#ranges.length;
    if (count > 0) this.#show(this.#ranges, (this.#place + by + count) % count);
  }

  #search() {
    const needle = this.#input.value;
    const escaped = needle.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replace(/\s+/g, "\\s+");
    const ranges = needle.trim() ? shownFields().matches(new RegExp(escaped, "gi"), MOST_FOUND) : [];
    this.#show(ranges, ranges.length > 0 ? 0 : -1);
  }

  #show(ranges, place) {
    this.#ranges = ranges;
    this.#place = place;
    highlight("found", ranges);
    highlight("found-now", this.current ? [this.current] : []);
    if (this.current) bringIntoSight(this.current);
    const most = ranges.length === MOST_FOUND ? "+" : "";
    if (!this.#input.value.trim()) part("found").textContent = "";
    else part("found").textContent = ranges.length > 0 ? `${place + 1} of ${ranges.length}${most}` : "not found";
  }
}
