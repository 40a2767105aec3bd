// What one said before: on this page, and before that by what the server knows. It can be gone
// through by what was said, and anything in it can be said anew.
import { page } from "./page.js";

const AT_A_TIME = 10;
const PATIENCE = 50; // tenths of a second for labels that are on their way

export class History {
  #corrected = new Map(); // assignment → what was said anew on this page
  #entries = [];
  #last = "";             // the oldest label that the server has named
  #isAll = false;
  #filter = "";
  #query = null;
  #place = -1;

  // unsent(): how many labels the server does not know yet, from this tab or one that was closed.
  constructor({ stream, unsent }) {
    Object.assign(this, { stream, unsent });
  }

  get entry() {
    return this.#entries[this.#place] ?? null;
  }

  get isOpen() {
    return this.entry !== null;
  }

  get isNewest() {
    return this.#place <= 0;
  }

  // filter: "", "grade=3", "cannot_tell=true", "noted=true", or "query": those of this pair's query.
  choose(filter, pair) {
    this.#filter = filter;
    this.#query = filter === "query" ? pair : null;
    this.#place = -1;
    this.#last = "";
    this.#isAll = false;
    this.#entries = [...this.stream.done].reverse().filter((entry) => this.#fits(entry));
  }

  close() {
    this.#place = -1;
    this.#entries = [];
  }

  newer() {
    this.#place -= 1;
    return this.entry;
  }

  // The next older one; null if there is none. Throws where the server can't be asked.
  async older() {
    while (this.#place + 1 >= this.#entries.length && !this.#isAll) await this.#load();
    if (this.#place + 1 >= this.#entries.length) return null;
    this.#place += 1;
    return this.entry;
  }

  // What is shown has been said anew.
  correct(said) {
    const { entry } = this;
    Object.assign(entry.said, said);
    this.#corrected.set(entry.pair.assignment, entry.said);
  }

  // What is shown has been taken back: it is in the history no more.
  drop() {
    this.#corrected.delete(this.entry.pair.assignment);
  }

  #fits({ pair, said }) {
    const [name, value] = this.#filter.split("=");
    if (name === "grade") return said.grade === Number(value);
    if (name === "cannot_tell") return said.outcome !== "graded";
    if (name === "noted") return Boolean(said.note);
    return name !== "query" || pair.query.text === this.#query.query.text;
  }

  async #load() {
    for (let times = PATIENCE; (await this.unsent()) > 0; times -= 1) {
      if (times === 0) throw new Error("labels wait for a connection");
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
    const asked = new URLSearchParams({ limit: AT_A_TIME });
    if (this.#last) asked.set("before", this.#last);
    const [name, value] = this.#filter.split("=");
    if (name === "query") asked.set("query_of", this.#query.assignment);
    else if (name) asked.set(name, value);
    const response = await fetch(`${page.dataset.labelsUrl}?${asked}`, { signal: AbortSignal.timeout(15_000) });
    if (!response.ok) throw new Error(String(response.status));
    const labels = await response.json();
    this.#isAll = labels.length < AT_A_TIME;
    this.#last = labels.at(-1)?.id ?? this.#last;
    // what this page has labelled or holds again is newer than what the server says of it
    const here = new Set([...this.stream.held, ...this.stream.done.map(({ pair }) => pair.assignment)]);
    for (const { pair, ...said } of labels) {
      if (here.has(pair.assignment)) continue;
      const entry = { pair, said: this.#corrected.get(pair.assignment) ?? said };
      if (this.#fits(entry)) this.#entries.push(entry);
    }
  }
}
