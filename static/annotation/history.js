// One way back through one's labels, all or those that fit a filter: first those of this page, then, by
// what the server knows, those before.
import { HISTORY_PAGE, REQUEST_TIMEOUT, UNSENT_INTERVAL, UNSENT_TIMEOUT } from "./constants.js";

/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Entry, HeldLabel, Label, Pair } from "./types.js" */

/**
 * Whether an entry fits a filter: "", "grade=3", "cannot_tell=true", "noted=true", "only=" with the id
 * of a label, or "query": those of this pair's query.
 * @param {string} filter
 * @param {Entry} entry
 * @param {Pair | null} pair
 */
export function fits(filter, { pair: labelled, label }, pair) {
  const [name, value] = filter.split("=");
  if (name === "grade") return label.grade === Number(value);
  if (name === "cannot_tell") return label.outcome !== "graded";
  if (name === "noted") return Boolean(label.note);
  if (name === "only") return label.id === value;
  return name !== "query" || labelled.query.id === pair?.query.id;
}

/**
 * The query string that asks the server for labels that fit a filter.
 * @param {string} filter
 * @param {string} before the id of a label; "": the newest
 * @param {Pair | null} pair
 */
export function requestOf(filter, before, pair) {
  const query = new URLSearchParams({ limit: String(HISTORY_PAGE) });
  if (before) query.set("before", before);
  const [name, value = ""] = filter.split("=");
  if (name === "query" && pair) query.set("query_of", pair.assignment);
  else if (name) query.set(name, value);
  return query;
}

/**
 * @typedef {object} HistoryOptions
 * @property {PairQueue} queue
 * @property {string} url of one's own labels
 * @property {() => Promise<number>} unsent how many labels the server does not know yet, from this tab or
 *   one that was closed
 * @property {string} [filter]
 * @property {Pair | null} [pair] whose query the filter "query" means
 */

export class History {
  #options;
  /** @type {Entry[]} */
  #entries;
  #last = ""; // the oldest label that the server has named
  #isAll = false;
  #position = -1;
  #loading = new AbortController();
  filter;
  pair;

  /** @param {HistoryOptions} options */
  constructor(options) {
    this.#options = options;
    this.filter = options.filter ?? "";
    this.pair = options.pair ?? null;
    this.#entries = [...options.queue.done].reverse().filter((entry) => fits(this.filter, entry, this.pair));
  }

  get isNewest() {
    return this.#position <= 0;
  }

  /** @param {Entry} entry one of this page's, which is where the way goes on from */
  startAt(entry) {
    this.#position = this.#entries.indexOf(entry);
  }

  /** @param {Entry} entry one of the server's, which is the newest on the way */
  startFrom(entry) {
    this.#entries = [entry];
    this.#last = entry.label.id;
    this.#position = 0;
  }

  /** The next newer entry; null if there is none. */
  newer() {
    this.#position -= 1;
    return this.#entries[this.#position] ?? null;
  }

  /**
   * The next older entry; null if there is none.
   * @throws where the server can't be asked, or is not waited for any longer
   */
  async older() {
    while (this.#position + 1 >= this.#entries.length && !this.#isAll) await this.#load(this.#loading.signal);
    const entry = this.#entries[this.#position + 1];
    if (entry) this.#position += 1;
    return entry ?? null;
  }

  /** Waits no longer for what the server was asked for; it can be asked again. */
  abort() {
    this.#loading.abort();
    this.#loading = new AbortController();
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    const { queue, unsent, url } = this.#options;
    for (let waited = 0; (await unsent()) > 0; waited += UNSENT_INTERVAL) {
      if (waited >= UNSENT_TIMEOUT) throw new Error("labels wait for a connection");
      await new Promise((resolve) => {
        setTimeout(resolve, UNSENT_INTERVAL);
      });
      signal.throwIfAborted();
    }
    const response = await fetch(`${url}?${requestOf(this.filter, this.#last, this.pair)}`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT)]),
    });
    if (!response.ok) throw new Error(String(response.status));
    /** @type {(HeldLabel & { pair: Pair })[]} */
    const labels = await response.json();
    signal.throwIfAborted();
    this.#isAll = labels.length < HISTORY_PAGE;
    this.#last = labels.at(-1)?.id ?? this.#last;
    // what this page has labelled or holds again is newer than what the server says of it
    const here = new Set([...queue.held, ...queue.done.map(({ pair }) => pair.assignment)]);
    for (const { pair, ...label } of labels) {
      if (!here.has(pair.assignment)) this.#entries.push({ pair, label, earlier: [] });
    }
  }
}

/**
 * The entry's label is corrected by this one.
 * @param {Entry} entry
 * @param {Label} label
 */
export function amend(entry, label) {
  entry.earlier.push(entry.label);
  entry.label = { ...entry.label, ...label };
}

/**
 * Takes a label that was refused out of the entry; false where it was its only one.
 * @param {Entry} entry
 * @param {string} id of the label
 */
export function withdraw(entry, id) {
  if (entry.label.id !== id) {
    entry.earlier = entry.earlier.filter((label) => label.id !== id);
    return true;
  }
  const earlier = entry.earlier.pop();
  if (earlier) entry.label = earlier;
  return earlier !== undefined;
}
