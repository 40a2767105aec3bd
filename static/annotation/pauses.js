// A pause is suggested after a long stretch of work; any real pause begins a new stretch.
import { part } from "./page.js";
import { preferences } from "./preferences.js";

const STRETCH = 50 * 60_000;
const PAUSE = 5 * 60_000;
const LOOK = 30_000;

export class Pauses {
  #began = 0;

  constructor(clock) {
    this.clock = clock;
    this.#began = performance.now();
    setInterval(() => this.#look(), LOOK);
  }

  goOn() {
    part("pause").hidden = true;
    this.#began = performance.now();
  }

  #look() {
    const now = performance.now();
    if (now - this.clock.lastSign > PAUSE) this.goOn();
    const stretch = this.clock.lastSign - this.#began;
    if (stretch < STRETCH || !preferences.suggests_pauses) return;
    part("pause-minutes").textContent = String(Math.round(stretch / 60_000));
    part("pause").hidden = false;
  }
}
