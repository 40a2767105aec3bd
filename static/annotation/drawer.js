// What one person keeps of one campaign in this browser, for all of its tabs: the labels that wait to
// be sent, and which tab has which pair. Every change is one transaction of IndexedDB, so that two
// tabs never take the same pair and a label is never without its place.

const PATIENCE = 3000; // for a browser that never answers, or a tab that does not let go of the old version
const STORES = ["labels", "seats"];

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("touchstone", 2);
    setTimeout(() => reject(new Error("the browser's database does not answer")), PATIENCE);
    request.onupgradeneeded = ({ oldVersion }) => {
      const database = request.result;
      if (oldVersion < 1) {
        database.createObjectStore("labels", { keyPath: "n", autoIncrement: true }).createIndex("desk", "desk");
      }
      database.createObjectStore("seats", { keyPath: ["desk", "assignment"] }).createIndex("desk", "desk");
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
}

const finished = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("aborted"));
  });

const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const oldestFirst = (rows) => rows.sort((one, other) => one.n - other.n);
const RETRACTED = "retracted";

// The pairs that are labelled already, though the server may not know it yet.
function labelled(rows) {
  const last = new Map(rows.map(({ label }) => [label.assignment, label.outcome]));
  return new Set([...last].filter(([, outcome]) => outcome !== RETRACTED).map(([assignment]) => assignment));
}

export class Drawer {
  #desk;
  #tab;
  #database = null;
  // Labels for which the browser had no room. Later ones join them until they are sent: order matters.
  #loose = [];
  #n = 0;

  // desk: names account and campaign; nothing of another account is ever read. tab: this one.
  constructor(desk, tab) {
    this.#desk = desk;
    this.#tab = tab;
  }

  // Labels that a closed tab would lose, because the browser did not take them.
  get loose() {
    return this.#loose.length;
  }

  async #run(mode, work, durability = "default") {
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#database ??= opened();
        const transaction = (await this.#database).transaction(STORES, mode, { durability });
        const [value] = await Promise.all([work(...STORES.map((name) => transaction.objectStore(name))), finished(transaction)]);
        return value;
      } catch (error) {
        this.#database = null;
        // the browser has closed the connection, e.g. because its data was cleared: a new one may work
        if (attempt > 0 || error.name !== "InvalidStateError") throw error;
      }
    }
  }

  #rows(store) {
    return result(store.index("desk").getAll(this.#desk));
  }

  // A label is kept, and its pair is nobody's; one that is taken back gives the pair to this tab again.
  async put(label, about) {
    const row = { desk: this.#desk, label, about };
    if (this.#loose.length === 0) {
      try {
        await this.#run("readwrite", (labels, seats) => {
          labels.add(row);
          if (label.outcome === RETRACTED) seats.put(this.#seat(label.assignment, this.#tab));
          else seats.delete([this.#desk, label.assignment]);
        }, "strict");
        return;
      } catch {
        // private mode, a full disk, a database that is gone
      }
    }
    this.#n += 1;
    this.#loose.push({ ...row, n: Number.MAX_SAFE_INTEGER / 2 + this.#n, isLoose: true });
  }

  #seat(assignment, tab) {
    return { desk: this.#desk, assignment, tab };
  }

  async #labels() {
    const kept = await this.#run("readonly", (labels) => this.#rows(labels)).catch(() => []);
    return [...oldestFirst(kept), ...this.#loose];
  }

  // The labels that are to be sent, oldest first.
  async waiting() {
    return (await this.#labels()).filter((row) => !row.refused);
  }

  // Both at once: {waiting, refused}.
  async kept() {
    const rows = await this.#labels();
    return { waiting: rows.filter((row) => !row.refused), refused: rows.filter((row) => row.refused) };
  }

  // The labels that the server will not take.
  async refused() {
    return (await this.#labels()).filter((row) => row.refused);
  }

  async remove(rows) {
    const gone = new Set(rows.filter((row) => row.isLoose).map((row) => row.n));
    this.#loose = this.#loose.filter((row) => !gone.has(row.n));
    const kept = rows.filter((row) => !row.isLoose);
    if (kept.length > 0) await this.#run("readwrite", (labels) => { for (const row of kept) labels.delete(row.n); });
  }

  // refused: {code, message}, which stays beside the label; null: it is to be sent again.
  async mark(row, refused) {
    const { isLoose, ...kept } = row;
    if (isLoose) Object.assign(this.#loose.find((one) => one.n === row.n) ?? {}, { refused });
    else {
      await this.#run("readwrite", async (labels) => {
        // its author may have removed it meanwhile
        if (await result(labels.getKey(row.n))) labels.put({ ...kept, refused });
      });
    }
  }

  // The pairs that other tabs have; those of tabs that are gone are nobody's.
  async heldByOthers(alive) {
    const seats = await this.#run("readonly", (_, store) => this.#rows(store)).catch(() => []);
    return seats.filter(({ tab }) => tab !== this.#tab && alive.has(tab)).map(({ assignment }) => assignment);
  }

  // Takes pairs for this tab; the assignments that it now has. The others are in another tab, or labelled.
  async claim(assignments, alive) {
    try {
      return await this.#run("readwrite", async (labels, store) => {
        const [rows, seats] = await Promise.all([this.#rows(labels), this.#rows(store)]);
        const done = labelled([...oldestFirst(rows), ...this.#loose]);
        const elsewhere = new Set();
        for (const { assignment, tab } of seats) {
          if (!alive.has(tab)) store.delete([this.#desk, assignment]);
          else if (tab !== this.#tab) elsewhere.add(assignment);
        }
        const own = assignments.filter((one) => !done.has(one) && !elsewhere.has(one));
        for (const one of own) store.put(this.#seat(one, this.#tab));
        return new Set(own);
      });
    } catch {
      const done = labelled(this.#loose);
      return new Set(assignments.filter((one) => !done.has(one)));
    }
  }

  // Gives pairs of this tab to another one; false where the browser could not note it.
  async hand(assignments, tab) {
    try {
      await this.#run("readwrite", (_, store) => { for (const one of assignments) store.put(this.#seat(one, tab)); });
      return true;
    } catch {
      return false;
    }
  }

  // Pairs that this tab no longer has.
  async letGo(assignments) {
    const work = (_, store) => { for (const one of assignments) store.delete([this.#desk, one]); };
    await this.#run("readwrite", work).catch(() => {});
  }
}
