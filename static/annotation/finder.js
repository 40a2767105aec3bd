// Finding text in the document that is shown.
import { MOST_FOUND } from "./constants.js";
import { bringIntoSight, shownFields } from "./document.js";
import { element } from "./dom.js";
import { highlight } from "./highlights.js";
import { part } from "./page.js";
import { needlePattern } from "./spans.js";
import { format, gettext } from "./texts.js";

export class Finder {
  /** @type {Range[]} */
  #ranges = [];
  #position = -1;
  #input = element(part("find"), "input", HTMLInputElement);

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

  /** What is found at the moment, as a range. */
  get current() {
    return this.#ranges[this.#position] ?? null;
  }

  open() {
    part("find").hidden = false;
    this.#input.focus();
    this.#input.select();
    this.#search();
  }

  /** What was found last is selected then, so that it can be marked. */
  close() {
    const { current } = this;
    part("find").hidden = true;
    this.#show([], -1);
    part("scroll").focus({ preventScroll: true });
    const selection = current?.startContainer.ownerDocument?.getSelection();
    if (current && selection) {
      selection.removeAllRanges();
      selection.addRange(current);
    }
  }

  /** Another document: nothing is found yet, and what is searched for stays. */
  reset() {
    if (this.isOpen) this.#search();
    else if (this.current) this.#show([], -1);
  }

  /** @param {1 | -1} by */
  step(by) {
    const count = this.#ranges.length;
    if (count > 0) this.#show(this.#ranges, (this.#position + by + count) % count);
  }

  #search() {
    const pattern = needlePattern(this.#input.value);
    const ranges = pattern ? shownFields().matches(pattern, MOST_FOUND) : [];
    this.#show(ranges, ranges.length > 0 ? 0 : -1);
  }

  /**
   * @param {Range[]} ranges
   * @param {number} position
   */
  #show(ranges, position) {
    this.#ranges = ranges;
    this.#position = position;
    const { current } = this;
    highlight("found", ranges);
    highlight("found-now", current ? [current] : []);
    if (current) bringIntoSight(current);
    const most = ranges.length === MOST_FOUND ? "+" : "";
    if (!this.#input.value.trim()) part("found").textContent = "";
    else
      part("found").textContent =
        ranges.length > 0
          ? format(gettext("{position} of {count}"), {
              position: position + 1,
              count: `${ranges.length}${most}`,
            })
          : gettext("not found");
  }
}
