// Active time on a pair: from showing it to its label.
import { ActiveTime } from "./active-time.js";

const SIGNS = ["pointermove", "pointerdown", "keydown", "scroll"];

export class Clock {
  #time = new ActiveTime();

  constructor() {
    const sign = () => this.#time.sign(performance.now(), document.hidden);
    for (const event of SIGNS) addEventListener(event, sign, { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.settle() : sign()));
  }

  start() {
    this.#time.start(performance.now());
  }

  settle() {
    this.#time.settle(performance.now());
  }

  get seconds() {
    return this.#time.seconds;
  }
}
