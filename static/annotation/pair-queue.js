// The pairs of this page in their order: to come, on the screen, and done. It knows neither the
// screen nor the server.
import { LABELS_ON_THEIR_WAY } from "./constants.js";

/** @import { Entry, HeldLabel, Pair } from "./types.js" */

/**
 * By id: two queries may have the same text and ask for different things.
 * @param {Pair} one
 * @param {Pair} other
 */
const sameQuery = (one, other) => one.query.id === other.query.id;

/**
 * Whether they are the same pair under different assignments.
 * @param {Pair} one
 * @param {Pair} other
 */
const areTwins = (one, other) => one.assignment !== other.assignment && one.name === other.name;

export class PairQueue {
  /** @type {Pair[]} to come, in order */
  ahead = [];
  /** @type {Pair | null} on the screen */
  current = null;
  /** @type {Entry[]} what this page has labelled, oldest first */
  done = [];
  /** @type {Set<string>} assignments that are or were on this page */
  #known = new Set();
  /** @type {Set<Pair>} that come back at the end of their query */
  #postponed = new Set();

  /**
   * Pairs from the server; those that were here before stay what they are.
   * @param {Pair[]} pairs
   */
  add(pairs) {
    for (const pair of pairs) {
      if (this.#known.has(pair.assignment)) continue;
      this.#known.add(pair.assignment);
      this.ahead.push(pair);
    }
  }

  /** @param {string[]} assignments that another page has labelled: they do not come here */
  leaveOut(assignments) {
    for (const assignment of assignments) this.#known.add(assignment);
  }

  /** The pair on the screen, if there is one, and those to come. */
  get #present() {
    return this.current ? [this.current, ...this.ahead] : this.ahead;
  }

  /**
   * Whether some of these are here already, under assignments that may have ended.
   * @param {Pair[]} pairs
   */
  hasTwins(pairs) {
    return this.#present.some((here) => pairs.some((pair) => areTwins(here, pair)));
  }

  /**
   * These without what was labelled a moment ago, whose labels may have met the answer on its way.
   * @param {Pair[]} pairs
   */
  withoutLabelled(pairs) {
    const labelled = this.done.slice(-LABELS_ON_THEIR_WAY).map(({ pair }) => pair);
    return pairs.filter((pair) => !labelled.some((one) => areTwins(one, pair)));
  }

  /**
   * The pair on the screen goes on under the assignment that it has among these, if another.
   * @param {Pair[]} pairs
   */
  adopt(pairs) {
    const here = this.current;
    if (!here) return;
    const twin = pairs.find((pair) => areTwins(here, pair));
    if (!twin || pairs.some((pair) => pair.assignment === here.assignment)) return;
    here.assignment = twin.assignment;
    this.#known.add(twin.assignment);
  }

  /** All that is to come goes, because the server may have given it to others. */
  clear() {
    this.#forget(this.ahead.splice(0));
  }

  /** Everything goes, for nothing can be labelled here. */
  empty() {
    this.#forget(this.#present);
    this.current = null;
    this.ahead = [];
  }

  /** What is to come and is no training goes. */
  keepTraining() {
    this.#forget(this.ahead.filter((pair) => !pair.is_training));
    this.ahead = this.ahead.filter((pair) => pair.is_training);
  }

  /**
   * All pairs of a query go, wherever they are; they may come back another time.
   * @param {Pair} pair one of them
   */
  drop(pair) {
    const gone = this.#present.filter((one) => sameQuery(one, pair));
    this.ahead = this.ahead.filter((one) => !gone.includes(one));
    if (this.current && gone.includes(this.current)) this.current = null;
    this.#forget(gone);
  }

  /** @param {Pair[]} pairs */
  #forget(pairs) {
    for (const { assignment } of pairs) this.#known.delete(assignment);
  }

  /** The assignments that this page has. */
  get held() {
    return this.#present.map((pair) => pair.assignment);
  }

  /** How many pairs of the query on the screen are here, with the one on the screen. */
  get inQuery() {
    const { current } = this;
    if (!current) return 0;
    const other = this.ahead.findIndex((pair) => !sameQuery(pair, current));
    return 1 + (other < 0 ? this.ahead.length : other);
  }

  /** The next pair, which is on the screen from now on; null: there is none. */
  next() {
    this.current = this.ahead.shift() ?? null;
    return this.current;
  }

  /**
   * A pair is no longer to come, because it has been labelled; where it was on the screen, the next one is.
   * @param {Pair} pair
   */
  pass(pair) {
    if (pair === this.current) this.next();
    else this.ahead = this.ahead.filter((one) => one !== pair);
  }

  /** How many pairs of the query on the screen were put off and are still to come. */
  get postponedCount() {
    const rest = this.ahead.slice(0, Math.max(0, this.inQuery - 1));
    return rest.filter((pair) => this.#postponed.has(pair)).length;
  }

  /**
   * The pair on the screen has been labelled; its entry in the history.
   * @param {Pair} pair
   * @param {HeldLabel} label
   * @returns {Entry}
   */
  finish(pair, label) {
    /** @type {Entry} */
    const entry = { pair, label, earlier: [] };
    this.done.push(entry);
    return entry;
  }

  /**
   * The label of an entry was refused.
   * @param {Entry} entry
   */
  forgetDone(entry) {
    this.done = this.done.filter((one) => one !== entry);
  }

  /**
   * A pair that was labelled is on the screen again; what was there comes after it.
   * @param {Pair} pair
   */
  bringBack(pair) {
    const position = this.done.findIndex((entry) => entry.pair.assignment === pair.assignment);
    if (position >= 0) this.done.splice(position, 1);
    if (this.current) this.ahead.unshift(this.current);
    this.current = pair;
    this.#known.add(pair.assignment);
  }

  /** The pair on the screen goes to the end of its query; false where it is there already. */
  postpone() {
    const rest = this.inQuery - 1;
    if (!this.current || rest === 0) return false;
    this.#postponed.add(this.current);
    this.ahead.splice(rest, 0, this.current);
    return true;
  }
}
