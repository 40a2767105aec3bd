// Active time on a pair, from the times of what happens: without hidden or idle stretches.
import { IDLE_AFTER } from "./constants.js";

export class ActiveTime {
  /** @type {number | null} since when time counts; null: it does not */
  #since = null;
  #total = 0;
  #lastSign = 0;

  /**
   * Another pair is shown.
   * @param {number} now milliseconds, as for all of these
   */
  start(now) {
    this.#total = 0;
    this.#since = now;
    this.#lastSign = now;
  }

  /**
   * Time stops to count, because the pair has been labelled or the page hidden.
   * @param {number} now
   */
  settle(now) {
    if (this.#since !== null) {
      this.#total += Math.max(0, Math.min(now, this.#lastSign + IDLE_AFTER) - this.#since);
    }
    this.#since = null;
  }

  /**
   * A sign of life; with the page in sight, time counts again.
   * @param {number} now
   * @param {boolean} isHidden
   */
  sign(now, isHidden) {
    if (this.#since !== null && now - this.#lastSign > IDLE_AFTER) this.settle(now);
    if (this.#since === null && !isHidden) this.#since = now;
    this.#lastSign = now;
  }

  get seconds() {
    return Math.round(this.#total) / 1000;
  }
}
