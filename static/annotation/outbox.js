// Labels on their way to the server. They are in the browser's database before anything is sent, leave
// it only when the server has named their ids in an answer that parses, and so survive a closed tab, a
// restart of either side and hours offline. All tabs of one account share one outbox; one sends.
import { afterPaint } from "./page.js";

const BATCH = 50;
const TIMEOUT = 15_000;
const KEEPALIVE = 60_000; // bytes; browsers refuse to keep more alive than 64 KiB
const WAITS = [500, 1000, 2000, 5000, 10_000, 15_000];
const PROBLEM = "application/problem+json"; // what our server says no with; anything else may be a proxy's

class Unanswered extends Error {
  // state: what to show meanwhile
  constructor(state) {
    super(state);
    this.state = state;
  }
}

export class Outbox {
  #failures = 0;
  #again = false;
  #timer;
  #unwritten = new Map();
  #writes = Promise.resolve();
  sending = false;

  // headers(): of every request; they name the account, so that whoever has signed in meanwhile in
  // another tab does not become the author.
  // extras(): what to send along with labels. onState({waiting, state, refused}): saved, saving,
  // offline, signed-out or other-account; refused: with saved, how many labels are here that the server
  // will not take.
  // onAnswer(answer): what the server said; it settles every label. onRefused(): there are more that the
  // server will not take; nothing is called saved before it is done. onSurplus(): others had filled its pair. onReceipts(receipts): what became
  // of each label.
  constructor({ drawer, tabs, url, headers, extras, onState, onAnswer, onRefused, onSurplus, onReceipts }) {
    Object.assign(this, { drawer, tabs, url, headers, extras, onState, onAnswer, onRefused, onSurplus, onReceipts });
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.send(); });
    addEventListener("pagehide", () => this.#sendLast());
    addEventListener("beforeunload", (event) => { if (drawer.loose > 0) event.preventDefault(); });
  }

  // about: what the label is shown with, should the server refuse it.
  add(label, about) {
    this.#unwritten.set(label.id, label);
    if (this.#failures === 0) this.onState({ waiting: this.#unwritten.size, state: "saving" });
    this.#writes = this.#writes.then(async () => {
      await afterPaint(); // the next pair first
      await this.drawer.put(label, about);
      this.#unwritten.delete(label.id);
    });
    this.send();
  }

  // Everything that is not with the server yet, oldest first.
  async waiting() {
    await this.#writes;
    return this.drawer.waiting();
  }

  async send() {
    if (this.sending) { this.#again = true; return; }
    this.sending = true;
    clearTimeout(this.#timer);
    try {
      do {
        this.#again = false;
        await this.tabs.exclusively(() => this.#sendAll());
      } while (this.#again);
    } finally {
      this.sending = false;
    }
  }

  async #sendAll() {
    for (;;) {
      await this.#writes;
      const { waiting: rows, refused } = await this.drawer.kept();
      if (rows.length === 0) {
        if (this.#unwritten.size > 0) continue; // one was added while the database was read
        this.#failures = 0;
        this.onState({ waiting: 0, state: "saved", refused: refused.length });
        return;
      }
      try {
        if (this.#failures === 0) this.onState({ waiting: rows.length, state: "saving" });
        await this.#sendBatch(rows.slice(0, BATCH)).catch((error) => {
          if (error.state !== "shut-out") throw error;
          return this.#refuse(rows, { code: error.state, message: "You are no longer in this campaign." });
        });
        this.#failures = 0;
      } catch (error) {
        const wait = WAITS[Math.min(this.#failures, WAITS.length - 1)];
        this.#failures += 1;
        this.#again = false;
        this.#timer = setTimeout(() => this.send(), wait);
        // some may have been added while this one was tried: what is said is true until the next try
        this.onState({ waiting: (await this.waiting()).length, state: error.state ?? "offline" });
        if (!(error instanceof Unanswered)) throw error;
        return;
      }
    }
  }

  // Sends one batch. Raises Unanswered unless the server has said of every label of it what became of it.
  async #sendBatch(rows) {
    const labels = rows.map((row) => row.label);
    const response = await this.#post(JSON.stringify({ labels, ...(await this.extras()) }));
    const answer = await response.json().catch(() => { throw new Unanswered("offline"); });
    if (!response.ok) {
      await this.#sendSingly(rows, answer.detail);
      return;
    }
    // only what the answer names is out of our hands
    const receipts = Array.isArray(answer?.labels) ? answer.labels : [];
    const named = new Map(receipts.map((receipt) => [receipt?.id, receipt]));
    const settled = rows.filter((row) => named.has(row.label.id));
    const refused = settled.filter((row) => named.get(row.label.id).status === "refused");
    await this.drawer.remove(settled.filter((row) => !refused.includes(row)));
    this.onReceipts(receipts);
    for (const row of refused) await this.drawer.mark(row, named.get(row.label.id));
    if (refused.length > 0) await this.onRefused();
    if (receipts.some((receipt) => receipt?.surplus)) this.onSurplus();
    if (settled.length < rows.length) throw new Unanswered("offline");
    await this.onAnswer(answer);
  }

  async #post(body) {
    let response;
    try {
      response = await fetch(this.url, {
        method: "POST",
        headers: this.headers(),
        body,
        signal: AbortSignal.timeout(TIMEOUT),
        keepalive: body.length * 3 < KEEPALIVE, // a letter has at most three bytes
      });
    } catch {
      throw new Unanswered("offline");
    }
    if (response.ok) return response;
    const isOurs = response.headers.get("Content-Type")?.startsWith(PROBLEM);
    if (!isOurs) throw new Unanswered("offline");
    if (response.status === 401) throw new Unanswered("signed-out");
    if (response.status === 403) {
      const { code } = await response.json().catch(() => ({}));
      throw new Unanswered(code === "other_account" ? code.replace("_", "-") : "signed-out");
    }
    if (response.status === 404) throw new Unanswered("shut-out");
    if (![400, 413, 422].includes(response.status)) throw new Unanswered("offline");
    return response;
  }

  // The server can't read the batch as a whole: one label of it must not hold up the others.
  async #sendSingly(rows, reason) {
    if (rows.length > 1) {
      for (const row of rows) await this.#sendBatch([row]);
      return;
    }
    await this.#refuse(rows, { code: "unreadable", message: reason ?? "The server could not read it." });
  }

  async #refuse(rows, why) {
    for (const row of rows) await this.drawer.mark(row, why);
    await this.onRefused();
  }

  // What the browser has not written yet goes out with the page; the same ids again do no harm.
  #sendLast() {
    if (this.#unwritten.size === 0) return;
    const body = JSON.stringify({ labels: [...this.#unwritten.values()], count: 0 });
    fetch(this.url, { method: "POST", headers: this.headers(), body, keepalive: true }).catch(() => {});
  }

  // Refused labels once more, because their author says so.
  async retry(rows) {
    for (const row of rows) await this.drawer.mark(row, null);
    this.send();
  }
}
