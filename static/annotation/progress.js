// How far one is, in this campaign and in this query, and how long the rest will take at one's pace.
import { LONGEST_PAIR_SECONDS, PACE_LABELS } from "./constants.js";
import { duration, number } from "./numbers.js";
import { format, gettext } from "./texts.js";

/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Answer, Counts } from "./types.js" */

/**
 * What the page shows; words are empty where there is nothing to say.
 * @typedef {object} ProgressView
 * @property {number} done
 * @property {number} total
 * @property {string} inQuery
 * @property {string} left how long the rest takes at this person's pace
 * @property {string} pace that the time is reckoned with
 * @property {string} later on the button that puts a pair off
 */

export class Progress {
  #labels = 0;
  #seconds = 0;
  #isKnown = false;
  /** @type {Map<string, number>} query id → labelled of it before it was first shown on this page */
  #before = new Map();
  #queue;
  #onChange;
  done = 0;
  left = 0;

  /**
   * @param {PairQueue} queue
   * @param {(view: ProgressView) => void} onChange
   */
  constructor(queue, onChange) {
    this.#queue = queue;
    this.#onChange = onChange;
  }

  /**
   * What the server says when the page opens.
   * @param {Answer} answer
   */
  begin({ progress, pace }) {
    if (!progress || !pace) return;
    this.#labels += pace.labels;
    this.#seconds += pace.seconds;
    this.set(progress);
  }

  /**
   * What the server counted, once it knows every label of this page.
   * @param {Counts} counts
   */
  set({ done, left }) {
    this.done = done;
    this.left = left;
    this.#isKnown = true;
    this.show();
  }

  /**
   * @param {number} labels 1, or −1 where one was undone
   * @param {number} seconds how long it took
   */
  count(labels, seconds = 0) {
    this.done = Math.max(0, this.done + labels);
    this.left = Math.max(0, this.left - labels);
    if (labels > 0) {
      this.#labels += 1;
      this.#seconds += Math.min(seconds, LONGEST_PAIR_SECONDS);
    }
  }

  show() {
    if (!this.#isKnown) return;
    const { postponedCount } = this.#queue;
    this.#onChange({
      done: this.done,
      total: this.done + this.left,
      inQuery: this.#inQueryWords(),
      ...this.#paceWords(),
      later:
        postponedCount > 0 ? format(gettext("Later ({count})"), { count: postponedCount }) : gettext("Later"),
    });
  }

  #inQueryWords() {
    const { current, inQuery } = this.#queue;
    if (!current) return "";
    const { id } = current.query;
    const here = this.#queue.done.filter(({ pair }) => pair.query.id === id).length;
    const before = this.#before.get(id) ?? Math.max(0, (current.doneInQuery ?? 0) - here);
    this.#before.set(id, before);
    const done = before + here;
    // of the only one of its query there is nothing to say
    return done + inQuery > 1
      ? format(gettext("This query: {done} of {all}"), { done, all: done + inQuery })
      : "";
  }

  #paceWords() {
    if (this.#labels < PACE_LABELS || this.#seconds <= 0) return { left: "", pace: "" };
    const each = this.#seconds / this.#labels;
    return {
      left: format(gettext("{time} left"), { time: duration(each * this.left) }),
      pace: format(gettext("{count} labels per hour today, without breaks"), { count: number(3600 / each) }),
    };
  }
}
