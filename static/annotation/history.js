// One way back through one's labels, all or those that fit a filter: first those of this page, then, by
// what the server knows, those before. An entry is {pair, said, before}: a pair, the label that holds, and
// what this page said of it earlier, the oldest first.
import { page } from "./page.js";

const AT_A_TIME = 10;
const PATIENCE = 50; // tenths of a second for labels that are on their way

export class History {
  #entries;
  #last = "";   // the oldest label that the server has named
  #isAll = false;
  #place = -1;
  #loading = new AbortController();

  // filter: "", "grade=3", "cannot_tell=true", "noted=true", or "query": those of this pair's query.
  // unsent(): how many labels the server does not know yet, from this tab or one that was closed.
  constructor({ stream, unsent, filter = "", pair = null }) {
    Object.assign(this, { stream, unsent, filter, pair });
    this.#entries = [...stream.done].reverse().filter((entry) => this.#fits(entry));
  }

  get isNewest() {
    return this.#place <= 0;
  }

  newer() {
    this.#place -= 1;
    return this.#entries[this.#place];
  }

  // The next older entry; null if there is none. Throws where the server can't be asked, or is not
  // waited for any longer.
  async older() {
    while (this.#place + 1 >= this.#entries.length && !this.#isAll) await this.#load(this.#loading.signal);
    if (this.#place + 1 >= this.#entries.length) return null;
    this.#place += 1;
    return this.#entries[this.#place];
  }

  // Waits no longer for what the server was asked for; it can be asked again.
  callOff() {
    this.#loading.abort();
    this.#loading = new AbortController();
  }

  #fits({ pair, said }) {
    const [name, value] = this.filter.split("=");
    if (name === "grade") return said.grade === Number(value);
    if (name === "cannot_tell") return said.outcome !== "graded";
    if (name === "noted") return Boolean(said.note);
    return name !== "query" || pair.query.id === this.pair.query.id;
  }

  async #load(signal) {
    for (let times = PATIENCE; (await this.unsent()) > 0; times -= 1) {
      if (times === 0) throw new Error("labels wait for a connection");
      await new Promise((resolve) => { setTimeout(resolve, 100); });
      signal.throwIfAborted();
    }
    const asked = new URLSearchParams({ limit: AT_A_TIME });
    if (this.#last) asked.set("before", this.#last);
    const [name, value] = this.filter.split("=");
    if (name === "query") asked.set("query_of", this.pair.assignment);
    else if (name) asked.set(name, value);
    const url = `${page.dataset.labelsUrl}?${asked}`;
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]) });
    if (!response.ok) throw new Error(String(response.status));
    const labels = await response.json();
    signal.throwIfAborted();
    this.#isAll = labels.length < AT_A_TIME;
    this.#last = labels.at(-1)?.id ?? this.#last;
    // what this page has labelled or holds again is newer than what the server says of it
    const here = new Set([...this.stream.held, ...this.stream.done.map(({ pair }) => pair.assignment)]);
    for (const { pair, ...said } of labels) {
      if (!here.has(pair.assignment)) this.#entries.push({ pair, said, before: [] });
    }
  }
}

// The entry's newest words are these now.
export function sayAnew(entry, said) {
  entry.before.push(entry.said);
  entry.said = { ...entry.said, ...said };
}

// The entry without the label of this id, which was refused; whether anything is left of it.
export function unsay(entry, id) {
  if (entry.said.id === id) entry.said = entry.before.pop();
  else entry.before = entry.before.filter((said) => said.id !== id);
  return Boolean(entry.said);
}
