// Labels on their way to the server. They are written to IndexedDB before anything is sent, leave it
// only when the server has named their ids in an answer that parses, and so survive a closed tab, a
// restart of either side and hours offline. All tabs of one account share one outbox; one sends.

const BATCH = 50;
const TIMEOUT = 15_000;
const KEEPALIVE = 60_000; // bytes; browsers refuse to keep more alive than 64 KiB
const UNREADABLE = new Set([400, 413, 422]);
const WAITS = [500, 1000, 2000, 5000, 10_000, 15_000];

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("touchstone", 1);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore("labels", { keyPath: "n", autoIncrement: true });
      store.createIndex("desk", "desk");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const finished = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });

const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

// where the browser has no database to give (some private windows), this tab's memory has to do
class Memory {
  #rows = new Map();
  #n = 0;
  async add(row) { this.#n += 1; this.#rows.set(this.#n, { ...row, n: this.#n }); }
  async all() { return [...this.#rows.values()]; }
  async remove(keys) { for (const key of keys) this.#rows.delete(key); }
}

class Database {
  #db; #desk;
  constructor(db, desk) { this.#db = db; this.#desk = desk; }
  async add(row) {
    const transaction = this.#db.transaction("labels", "readwrite", { durability: "strict" });
    transaction.objectStore("labels").add({ ...row, desk: this.#desk });
    await finished(transaction);
  }
  async all() {
    const index = this.#db.transaction("labels").objectStore("labels").index("desk");
    return (await result(index.getAll(this.#desk))).sort((a, b) => a.n - b.n);
  }
  async remove(keys) {
    const transaction = this.#db.transaction("labels", "readwrite");
    for (const key of keys) transaction.objectStore("labels").delete(key);
    await finished(transaction);
  }
}

export class Outbox {
  // desk: names account and campaign; labels of another account are never sent from here.
  // headers(): of every request; they name the account, so that whoever has signed in meanwhile in
  // another tab does not become the author.
  // extras(): what to send along with the labels. onState({waiting, state}): saved, saving, offline,
  // signed-out or shut-out (the campaign is not theirs any more). onAnswer(answer): what the server said.
  // onRefused(receipt): a label that it won't take.
  constructor({ desk, url, headers, extras, onState, onAnswer, onRefused }) {
    Object.assign(this, { desk, url, headers, extras, onState, onAnswer, onRefused });
    this.failures = 0;
    this.sending = false;
    this.again = false;
    this.writes = Promise.resolve();
    this.unwritten = [];
    this.store = opened().then((db) => new Database(db, desk), () => new Memory());
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.send(); });
  }

  add(label) {
    this.unwritten.push(label);
    this.writes = this.writes.then(async () => {
      const store = await this.store;
      try {
        await store.add({ label });
      } catch {
        // the disk is full or the database gone: from here on memory, so that it is still sent
        this.store = Promise.resolve(new Memory());
        await (await this.store).add({ label });
      }
      this.unwritten = this.unwritten.filter((one) => one.id !== label.id);
    });
    this.send();
  }

  async waiting() {
    await this.writes;
    return (await this.store).all();
  }

  async send() {
    if (this.sending) { this.again = true; return; }
    this.sending = true;
    clearTimeout(this.timer);
    try {
      do {
        this.again = false;
        await (navigator.locks?.request(`touchstone ${this.desk}`, () => this.#sendAll()) ?? this.#sendAll());
      } while (this.again);
    } finally {
      this.sending = false;
    }
  }

  async #sendAll() {
    for (;;) {
      const rows = await this.waiting();
      if (rows.length === 0) {
        this.failures = 0;
        this.onState({ waiting: 0, state: "saved" });
        return;
      }
      if (this.failures === 0) this.onState({ waiting: rows.length, state: "saving" });
      const failure = await this.#sendBatch(rows.slice(0, BATCH));
      if (failure) {
        const wait = WAITS[Math.min(this.failures, WAITS.length - 1)];
        this.failures += 1;
        this.onState({ waiting: rows.length, state: failure });
        this.timer = setTimeout(() => this.send(), wait);
        return;
      }
      this.failures = 0;
    }
  }

  // Sends one batch; null if the server answered for every label of it, else the state to show.
  async #sendBatch(rows) {
    const labels = rows.map((row) => row.label);
    const body = JSON.stringify({ labels, ...this.extras() });
    let answer;
    try {
      const response = await fetch(this.url, {
        method: "POST",
        headers: this.headers(),
        body,
        signal: AbortSignal.timeout(TIMEOUT),
        keepalive: new Blob([body]).size < KEEPALIVE,
      });
      if (response.status === 401 || response.status === 403) return "signed-out";
      if (response.status === 404) return "shut-out";
      if (UNREADABLE.has(response.status)) return this.#sendSingly(rows);
      if (!response.ok) return "offline";
      answer = await response.json();
    } catch {
      return "offline";
    }
    // only what the answer names is out of our hands
    const named = new Map((answer.labels ?? []).map((receipt) => [receipt.id, receipt]));
    const settled = rows.filter((row) => named.has(row.label.id));
    for (const row of settled) {
      const receipt = named.get(row.label.id);
      if (receipt.status === "refused") this.onRefused(receipt, row.label);
    }
    await (await this.store).remove(settled.map((row) => row.n));
    this.onAnswer(answer, labels);
    return settled.length === rows.length ? null : "offline";
  }

  // The server can't read the batch as a whole: one label of it must not hold up the others.
  async #sendSingly(rows) {
    if (rows.length > 1) {
      for (const row of rows) {
        const failure = await this.#sendBatch([row]);
        if (failure) return failure;
      }
      return null;
    }
    this.onRefused({ message: "the server could not read it." }, rows[0].label);
    await (await this.store).remove([rows[0].n]);
    return null;
  }
}
