// What this browser keeps of one person and campaign, for all of its tabs: the labels that wait to be
// sent, and which tab has which pair. Every change is one transaction of IndexedDB, so that two tabs never
// take the same pair and a label is never without its seat.
import {
  DATABASE,
  DATABASE_TIMEOUT,
  DATABASE_VERSION,
  LABELS_STORE,
  OWNER_INDEX,
  SEATS_STORE,
} from "./constants.js";
import { labelledAssignments, oldestFirst, RETRACTED } from "./unsent.js";

/** @import { About, Label, Refusal, Row, Seat } from "./types.js" */

const STORES = [LABELS_STORE, SEATS_STORE];

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, DATABASE_VERSION);
    setTimeout(() => reject(new Error("the browser's database does not answer")), DATABASE_TIMEOUT);
    request.onupgradeneeded = ({ oldVersion }) => {
      const database = request.result;
      if (oldVersion < 1) {
        const labels = database.createObjectStore(LABELS_STORE, { keyPath: "n", autoIncrement: true });
        labels.createIndex(OWNER_INDEX, "desk");
      }
      const seats = database.createObjectStore(SEATS_STORE, { keyPath: ["desk", "assignment"] });
      seats.createIndex(OWNER_INDEX, "desk");
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
}

/**
 * @param {IDBTransaction} transaction
 * @returns {Promise<void>}
 */
const finished = (transaction) =>
  new Promise((resolve, reject) => {
    const fail = () => reject(transaction.error ?? new Error("aborted"));
    transaction.oncomplete = () => resolve();
    transaction.onabort = fail;
    transaction.onerror = fail;
  });

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class LabelStore {
  #desk;
  #tab;
  /** @type {Promise<IDBDatabase> | null} */
  #database = null;
  /**
   * Labels for which the browser had no room. Later ones join them until they are sent: order matters.
   * @type {Row[]}
   */
  #loose = [];
  #n = 0;

  /**
   * @param {string} desk names account and campaign; nothing of another account is ever read
   * @param {string} tab this one
   */
  constructor(desk, tab) {
    this.#desk = desk;
    this.#tab = tab;
  }

  /** How many labels a closed tab would lose, because the browser did not take them. */
  get loose() {
    return this.#loose.length;
  }

  /**
   * Does the work, and waits until its transaction is finished.
   * @template T
   * @param {"readonly" | "readwrite"} mode
   * @param {(labels: IDBObjectStore, seats: IDBObjectStore) => T | Promise<T>} work
   * @param {IDBTransactionDurability} durability
   * @returns {Promise<T>}
   */
  async #run(mode, work, durability = "default") {
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#database ??= openDatabase();
        const transaction = (await this.#database).transaction(STORES, mode, { durability });
        const stores = STORES.map((name) => transaction.objectStore(name));
        const [labels, seats] = /** @type {[IDBObjectStore, IDBObjectStore]} */ (stores);
        const [value] = await Promise.all([work(labels, seats), finished(transaction)]);
        return value;
      } catch (error) {
        this.#database = null;
        // the browser has closed the connection, e.g. because its data was cleared: a new one may work
        const isClosed = error instanceof Error && error.name === "InvalidStateError";
        if (attempt > 0 || !isClosed) throw error;
      }
    }
  }

  /**
   * @param {IDBObjectStore} labels
   * @returns {Promise<Row[]>}
   */
  #rows(labels) {
    return result(labels.index(OWNER_INDEX).getAll(this.#desk));
  }

  /**
   * @param {IDBObjectStore} seats
   * @returns {Promise<Seat[]>}
   */
  #seats(seats) {
    return result(seats.index(OWNER_INDEX).getAll(this.#desk));
  }

  /**
   * Stores a label, and frees the seat of its pair; a retraction gives the pair to this tab again.
   * @param {Label} label
   * @param {About} about
   */
  async put(label, about) {
    const row = { desk: this.#desk, label, about };
    if (this.#loose.length === 0) {
      try {
        await this.#run(
          "readwrite",
          (labels, seats) => {
            labels.add(row);
            if (label.outcome === RETRACTED) seats.put(this.#seat(label.assignment, this.#tab));
            else seats.delete([this.#desk, label.assignment]);
          },
          "strict",
        );
        return;
      } catch {
        // private mode, a full disk, a database that is gone
      }
    }
    this.#n += 1;
    this.#loose.push({ ...row, n: Number.MAX_SAFE_INTEGER / 2 + this.#n, isLoose: true });
  }

  /**
   * @param {string} assignment
   * @param {string} tab
   * @returns {Seat}
   */
  #seat(assignment, tab) {
    return { desk: this.#desk, assignment, tab };
  }

  async #labels() {
    const stored = await this.#run("readonly", (labels) => this.#rows(labels)).catch(
      () => /** @type {Row[]} */ ([]),
    );
    return [...oldestFirst(stored), ...this.#loose];
  }

  /** The labels that are to be sent, oldest first. */
  async waiting() {
    return (await this.all()).waiting;
  }

  /** The labels that the server has refused, oldest first. */
  async refused() {
    return (await this.all()).refused;
  }

  /** Both at once. */
  async all() {
    const rows = await this.#labels();
    return { waiting: rows.filter((row) => !row.refused), refused: rows.filter((row) => row.refused) };
  }

  /** @param {Row[]} rows */
  async remove(rows) {
    const gone = new Set(rows.filter((row) => row.isLoose).map((row) => row.n));
    this.#loose = this.#loose.filter((row) => !gone.has(row.n));
    const stored = rows.filter((row) => !row.isLoose);
    if (stored.length === 0) return;
    await this.#run("readwrite", (labels) => {
      for (const row of stored) labels.delete(row.n);
    });
  }

  /**
   * @param {Row} row
   * @param {Refusal | null} refused stays beside the label; null: it is to be sent again
   */
  async mark(row, refused) {
    const { isLoose, ...stored } = row;
    if (isLoose) Object.assign(this.#loose.find((one) => one.n === row.n) ?? {}, { refused });
    else {
      await this.#run("readwrite", async (labels) => {
        // its author may have removed it meanwhile
        if (await result(labels.getKey(row.n))) labels.put({ ...stored, refused });
      });
    }
  }

  /**
   * The pairs that other tabs have; those of tabs that are gone are free.
   * @param {Set<string>} alive tabs
   */
  async heldByOthers(alive) {
    const seats = await this.#run("readonly", (_, store) => this.#seats(store)).catch(
      () => /** @type {Seat[]} */ ([]),
    );
    return seats.filter(({ tab }) => tab !== this.#tab && alive.has(tab)).map(({ assignment }) => assignment);
  }

  /**
   * Takes pairs for this tab; the assignments that it now has. The others are in another tab, or labelled.
   * @param {string[]} assignments
   * @param {Set<string>} alive tabs
   * @returns {Promise<Set<string>>}
   */
  async claim(assignments, alive) {
    try {
      return await this.#run("readwrite", async (labels, store) => {
        const [rows, seats] = await Promise.all([this.#rows(labels), this.#seats(store)]);
        const done = labelledAssignments([...oldestFirst(rows), ...this.#loose]);
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
      const done = labelledAssignments(this.#loose);
      return new Set(assignments.filter((one) => !done.has(one)));
    }
  }

  /**
   * Gives pairs of this tab to another one; false where the browser could not note it.
   * @param {string[]} assignments
   * @param {string} tab
   */
  async handOver(assignments, tab) {
    try {
      await this.#run("readwrite", (_, store) => {
        for (const one of assignments) store.put(this.#seat(one, tab));
      });
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Frees pairs that this tab no longer has.
   * @param {string[]} assignments
   */
  async release(assignments) {
    await this.#run("readwrite", (_, store) => {
      for (const one of assignments) store.delete([this.#desk, one]);
    }).catch(() => {});
  }
}
