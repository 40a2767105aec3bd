// Labels on their way to the server. They are in the browser's database before anything is sent, leave
// it only when the server has named their ids in an answer that parses, and so survive a closed tab, a
// restart of either side and hours offline. All tabs of one account share one outbox; one sends.
import { KEEPALIVE_BYTES, LABELS_A_REQUEST, REQUEST_TIMEOUT, RETRY_WAITS } from "./constants.js";
import { afterPaint } from "./painting.js";
import { gettext, NOT_IN_CAMPAIGN } from "./texts.js";
import { settle, verdict } from "./unsent.js";

/** @import { LabelStore } from "./label-store.js" */
/** @import { Tabs } from "./tabs.js" */
/** @import { About, Answer, Label, Problem, Receipt, Refusal, Row, SendReport, SendState } from "./types.js" */

class Unanswered extends Error {
  /** @param {SendState | "shut-out"} state what to show meanwhile */
  constructor(state) {
    super(state);
    this.state = state;
  }
}

/**
 * @typedef {object} OutboxOptions
 * @property {LabelStore} store
 * @property {Tabs} tabs
 * @property {string} url
 * @property {() => Record<string, string>} headers of every request; they name the account, so that an
 *   account that signs in meanwhile in another tab does not become the author
 * @property {(report: SendReport) => void} onState refused: with saved, how many labels are here that the
 *   server has refused
 * @property {(answer: Answer) => Promise<void>} onAnswer it settles every label
 * @property {() => Promise<void>} onRefused there are more that the server has refused; nothing is called
 *   saved before it is done
 * @property {() => void} onSurplus others had filled the pair of a label
 * @property {(receipts: Receipt[]) => void} onReceipts what became of each label
 */

export class Outbox {
  #options;
  #failures = 0;
  #again = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Map<string, { label: Label, about: About }>} */
  #unwritten = new Map();
  /** @type {Promise<void>} */
  #writes = Promise.resolve();
  sending = false;

  /** @param {OutboxOptions} options */
  constructor(options) {
    this.#options = options;
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.send();
    });
    addEventListener("pagehide", () => this.#sendLast());
    addEventListener("beforeunload", (event) => {
      if (options.store.loose > 0) event.preventDefault();
    });
  }

  /**
   * @param {Label} label
   * @param {About} about what the label is shown with, should the server refuse it
   */
  add(label, about) {
    const { onState, store } = this.#options;
    this.#unwritten.set(label.id, { label, about });
    if (this.#failures === 0) onState({ waiting: this.#unwritten.size, state: "saving" });
    this.#writes = this.#writes.then(async () => {
      await afterPaint(); // the next pair first
      await store.put(label, about);
      this.#unwritten.delete(label.id);
    });
    this.send();
  }

  /** The assignments of labels that are in memory alone. */
  get unwritten() {
    return [...this.#unwritten.values()].map(({ label }) => label.assignment);
  }

  /** Everything that is not with the server yet, oldest first. */
  async waiting() {
    await this.#writes;
    return this.#options.store.waiting();
  }

  /** How many labels the server does not have, from this tab or one that was closed. */
  async unsent() {
    return (await this.waiting()).length;
  }

  async send() {
    if (this.sending) {
      this.#again = true;
      return;
    }
    this.sending = true;
    clearTimeout(this.#timer);
    try {
      let isMore = true;
      // what else waits for its turn gets it between two batches
      while (isMore || this.#again) isMore = await this.#options.tabs.exclusively(() => this.#sendNext());
    } finally {
      this.sending = false;
    }
  }

  /** Sends the oldest labels that are left; whether there may be more. */
  async #sendNext() {
    const { onState, store } = this.#options;
    this.#again = false;
    await this.#writes;
    const { waiting: rows, refused } = await store.all();
    if (rows.length === 0) {
      if (this.#unwritten.size > 0) return true; // one was added while the database was read
      this.#failures = 0;
      onState({ waiting: 0, state: "saved", refused: refused.length });
      return false;
    }
    try {
      if (this.#failures === 0) onState({ waiting: rows.length, state: "saving" });
      await this.#sendBatch(rows.slice(0, LABELS_A_REQUEST)).catch((error) => {
        if (!(error instanceof Unanswered) || error.state !== "shut-out") throw error;
        return this.#refuse(rows, { code: error.state, message: `${NOT_IN_CAMPAIGN}.` });
      });
      this.#failures = 0;
      return true;
    } catch (error) {
      this.#again = false;
      this.#timer = setTimeout(() => this.send(), RETRY_WAITS[this.#failures] ?? RETRY_WAITS.at(-1));
      this.#failures += 1;
      // some may have been added while this one was tried: what is said is true until the next try
      const waiting = (await this.waiting()).length;
      if (!(error instanceof Unanswered)) {
        onState({ waiting, state: "offline" });
        throw error;
      }
      onState({ waiting, state: error.state === "shut-out" ? "offline" : error.state });
      return false;
    }
  }

  /**
   * Sends one batch.
   * @param {Row[]} rows
   * @returns {Promise<void>}
   * @throws {Unanswered} unless the server has said of every label of it what became of it
   */
  async #sendBatch(rows) {
    const { onAnswer, onReceipts, onRefused, onSurplus, store } = this.#options;
    const labels = rows.map((row) => row.label);
    const response = await this.#post(JSON.stringify({ labels, count: 0 }));
    const answer = await response.json().catch(() => {
      throw new Unanswered("offline");
    });
    if (!response.ok) {
      await this.#sendSingly(rows, /** @type {Problem} */ (answer).detail);
      return;
    }
    const { receipts, stored, refused, isComplete, hasSurplus } = settle(rows, answer);
    await store.remove(stored);
    onReceipts(receipts);
    for (const { row, receipt } of refused) await store.mark(row, receipt);
    if (refused.length > 0) await onRefused();
    if (hasSurplus) onSurplus();
    if (!isComplete) throw new Unanswered("offline");
    await onAnswer(answer);
  }

  /**
   * @param {string} body
   * @throws {Unanswered}
   */
  async #post(body) {
    const { headers, url } = this.#options;
    /** @type {Response} */
    let response;
    try {
      response = await fetch(url, {
        method: "POST",
        headers: headers(),
        body,
        signal: AbortSignal.timeout(REQUEST_TIMEOUT),
        keepalive: body.length * 3 < KEEPALIVE_BYTES, // a letter has at most three bytes
      });
    } catch {
      throw new Unanswered("offline");
    }
    const { status } = response;
    const problem = status === 403 ? await response.json().catch(() => null) : null;
    const found = verdict({ status, type: response.headers.get("Content-Type"), code: problem?.code });
    if (found === "read" || found === "singly") return response;
    throw new Unanswered(found);
  }

  /**
   * The server can't read the batch as a whole: one label of it must not hold up the others.
   * @param {Row[]} rows
   * @param {string | undefined} reason
   */
  async #sendSingly(rows, reason) {
    if (rows.length > 1) {
      for (const row of rows) await this.#sendBatch([row]);
      return;
    }
    await this.#refuse(rows, {
      code: "unreadable",
      message: reason ?? gettext("The server could not read it."),
    });
  }

  /**
   * @param {Row[]} rows
   * @param {Refusal} why
   */
  async #refuse(rows, why) {
    for (const row of rows) await this.#options.store.mark(row, why);
    await this.#options.onRefused();
  }

  /**
   * What the browser has not written yet is written while the page goes, and goes out with it. The same
   * ids again do no harm.
   */
  #sendLast() {
    if (this.#unwritten.size === 0) return;
    const { headers, store, url } = this.#options;
    const last = [...this.#unwritten.values()];
    for (const { label, about } of last) store.put(label, about);
    const body = JSON.stringify({ labels: last.map(({ label }) => label), count: 0 });
    fetch(url, { method: "POST", headers: headers(), body, keepalive: true }).catch(() => {});
  }

  /**
   * Refused labels once more, because their author says so.
   * @param {Row[]} rows
   */
  async retry(rows) {
    for (const row of rows) await this.#options.store.mark(row, null);
    this.send();
  }
}
