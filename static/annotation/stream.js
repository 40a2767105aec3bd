// The pairs of this page in their order: to come, on the screen, and done. It knows neither the
// screen nor the server.

const LATEST = 30; // labels that may be on their way, at most

// by id: two queries may have the same text and ask for different things
const sameQuery = (one, other) => one.query.id === other.query.id;
// the same pair under another assignment
const areTwins = (one, other) => one.assignment !== other.assignment && one.name === other.name;

export class Stream {
  ahead = [];         // to come, in order
  current = null;     // on the screen
  done = [];          // what this page has labelled, oldest first: {pair, said, before}
  #known = new Set(); // assignments that are or were on this page
  #putOff = new Set(); // pairs that come back at the end of their query

  // Pairs from the server; those that were here before stay what they are.
  take(pairs) {
    for (const pair of pairs) {
      if (this.#known.has(pair.assignment)) continue;
      this.#known.add(pair.assignment);
      this.ahead.push(pair);
    }
  }

  // Whether some of these are here already, under assignments that may have ended.
  hasTwins(pairs) {
    return [this.current, ...this.ahead].some((here) => here && pairs.some((pair) => areTwins(here, pair)));
  }

  // These without what was labelled a moment ago, whose labels may have met the answer on its way.
  withoutSaid(pairs) {
    const said = this.done.slice(-LATEST).map(({ pair }) => pair);
    return pairs.filter((pair) => !said.some((one) => areTwins(one, pair)));
  }

  // The pair on the screen goes on under the assignment that it has among these, if another.
  adopt(pairs) {
    const here = this.current;
    const twin = here && pairs.find((pair) => areTwins(here, pair));
    if (!twin || pairs.some((pair) => pair.assignment === here.assignment)) return;
    here.assignment = twin.assignment;
    this.#known.add(twin.assignment);
  }

  // The later half of what is to come goes to another tab, and may come back.
  giveUp() {
    return this.#forget(this.ahead.splice(Math.floor(this.ahead.length / 2)));
  }

  // All that is to come goes, because the server may have given it to others; their assignments.
  clear() {
    return this.#forget(this.ahead.splice(0)).map((pair) => pair.assignment);
  }

  // Everything goes, for nothing more can be labelled; the assignments.
  empty() {
    const gone = [this.current, ...this.ahead].filter(Boolean);
    this.current = null;
    this.ahead = [];
    return this.#forget(gone).map((pair) => pair.assignment);
  }

  // What is to come and is no training goes; their assignments.
  keepTraining() {
    const gone = this.ahead.filter((pair) => !pair.is_training);
    this.ahead = this.ahead.filter((pair) => pair.is_training);
    return this.#forget(gone).map((pair) => pair.assignment);
  }

  // All pairs of a query go, wherever they are; they may come back another time. Their assignments.
  drop(pair) {
    const gone = [this.current, ...this.ahead].filter((one) => one && sameQuery(one, pair));
    this.ahead = this.ahead.filter((one) => !gone.includes(one));
    if (gone.includes(this.current)) this.current = null;
    return this.#forget(gone).map((one) => one.assignment);
  }

  #forget(pairs) {
    for (const { assignment } of pairs) this.#known.delete(assignment);
    return pairs;
  }

  get held() {
    return [...this.ahead, this.current].filter(Boolean).map((pair) => pair.assignment);
  }

  // How many pairs of the query on the screen are here, with the one on the screen.
  get inQuery() {
    if (!this.current) return 0;
    let count = 0;
    while (count < this.ahead.length && sameQuery(this.ahead[count], this.current)) count += 1;
    return count + 1;
  }

  next() {
    this.current = this.ahead.shift() ?? null;
    return this.current;
  }

  // How many pairs of the query on the screen were put off and are still to come.
  get putOffCount() {
    return this.ahead.slice(0, Math.max(0, this.inQuery - 1)).filter((pair) => this.#putOff.has(pair)).length;
  }

  // said: what the label says of the pair on the screen. Its entry in the history.
  finish(said) {
    const entry = { pair: this.current, said, before: [] };
    this.done.push(entry);
    return entry;
  }

  // The label of an entry was refused.
  forgetDone(entry) {
    this.done = this.done.filter((one) => one !== entry);
  }

  // A pair that was labelled is on the screen again; what was there comes after it.
  bringBack(pair) {
    const place = this.done.findIndex((entry) => entry.pair.assignment === pair.assignment);
    if (place >= 0) this.done.splice(place, 1);
    if (this.current) this.ahead.unshift(this.current);
    this.current = pair;
    this.#known.add(pair.assignment);
  }

  // The pair on the screen goes to the end of its query; false where it is there already.
  putOff() {
    const place = this.inQuery - 1;
    if (place === 0) return false;
    this.#putOff.add(this.current);
    this.ahead.splice(place, 0, this.current);
    return true;
  }

  setAside() {
    this.current = null;
  }
}
