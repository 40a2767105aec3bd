// Active time on a pair: from showing it to its label, without hidden or idle stretches.

const IDLE = 60_000; // a minute without a sign of life is not counted as work
const SIGNS = ["pointermove", "pointerdown", "keydown", "scroll"];

export class Clock {
  #since = 0;
  #total = 0;
  #lastSign = 0;

  constructor() {
    for (const event of SIGNS) addEventListener(event, () => this.#sign(), { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.settle() : this.#sign()));
  }

  start() {
    this.#total = 0;
    this.#since = this.#lastSign = performance.now();
  }

  settle(now = performance.now()) {
    if (this.#since) this.#total += Math.max(0, Math.min(now, this.#lastSign + IDLE) - this.#since);
    this.#since = 0;
  }

  get seconds() {
    return Math.round(this.#total) / 1000;
  }

  #sign() {
    const now = performance.now();
    if (this.#since && now - this.#lastSign > IDLE) this.settle(now);
    if (!this.#since && !document.hidden) this.#since = now;
    this.#lastSign = now;
  }
}
