// How far one is, in this campaign and in this query, and how long the rest will take at one's pace.
import { number, page, part } from "./page.js";

const FEW = 5;           // labels; from fewer no pace follows
const LONGEST = 600;     // seconds; one pair that took longer says little of the others

function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `about ${minutes} min`;
  return `about ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export class Progress {
  #labels = 0;
  #seconds = 0;
  #isKnown = false;
  #before = new Map(); // query id → labelled of it before it was first shown on this page

  constructor(stream) {
    this.stream = stream;
    this.done = 0;
    this.left = 0;
  }

  // What the server says when the page opens. pace: {labels, seconds}, of today.
  begin({ progress, pace }) {
    this.#labels += pace.labels;
    this.#seconds += pace.seconds;
    this.set(progress);
  }

  // What the server counted, once it knows every label of this page.
  set({ done, left }) {
    Object.assign(this, { done, left });
    this.#isKnown = true;
    this.show();
  }

  // labels: 1, or −1 where one was taken back. seconds: how long it took.
  count(labels, seconds = 0) {
    this.done = Math.max(0, this.done + labels);
    this.left = Math.max(0, this.left - labels);
    if (labels > 0) {
      this.#labels += 1;
      this.#seconds += Math.min(seconds, LONGEST);
    }
  }

  show() {
    if (!this.#isKnown) return;
    const total = this.done + this.left;
    part("done").textContent = number(this.done);
    part("total").textContent = number(total);
    part("bar-done").max = Math.max(total, 1);
    part("bar-done").value = this.done;
    this.#showQuery();
    this.#showPace();
  }

  #showQuery() {
    const { inQuery, putOffCount } = this.stream;
    const done = inQuery ? this.#doneInQuery() : 0;
    // of the only one of its query there is nothing to say
    part("in-query").textContent = done + inQuery > 1 ? `${done} done, ${inQuery} at hand` : "";
    const later = page.querySelector('[data-action="later"] .words');
    later.textContent = putOffCount > 0 ? `Later (${putOffCount})` : "Later";
  }

  #doneInQuery() {
    const { query: { id }, doneInQuery: done = 0 } = this.stream.current;
    const here = this.stream.done.filter(({ pair }) => pair.query.id === id).length;
    if (!this.#before.has(id)) this.#before.set(id, Math.max(0, done - here));
    return this.#before.get(id) + here;
  }

  #showPace() {
    const isKnown = this.#labels >= FEW && this.#seconds > 0;
    const each = this.#seconds / Math.max(1, this.#labels);
    part("pace").textContent = isKnown ? `${number(3600 / each)} an hour, ${duration(each * this.left)} left` : "";
  }
}
