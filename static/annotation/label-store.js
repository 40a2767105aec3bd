// What this browser keeps of one person and campaign, for all of its tabs: the labels that wait to be
// sent, and those that the server has refused. Every change is one transaction of IndexedDB.
import { DATABASE, DATABASE_TIMEOUT, DATABASE_VERSION, LABELS_STORE, OWNER_INDEX } from "./constants.js";
import { labelledAssignments, oldestFirst } from "./unsent.js";

/** @import { About, Label, Refusal, Row } from "./types.js" */

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, DATABASE_VERSION);
    setTimeout(() => reject(new Error("the browser's database does not answer")), DATABASE_TIMEOUT);
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion > 0) return;
      const labels = request.result.createObjectStore(LABELS_STORE, { keyPath: "n", autoIncrement: true });
      labels.createIndex(OWNER_INDEX, "desk");
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
  /** @type {Promise<IDBDatabase> | null} */
  #database = null;
  /**
   * Labels for which the browser had no room. Later ones join them until they are sent: order matters.
   * @type {Row[]}
   */
  #loose = [];
  #n = 0;

  /** @param {string} desk names account and campaign; nothing of another account is ever read */
  constructor(desk) {
    this.#desk = desk;
  }

  /** How many labels a closed tab would lose, because the browser did not take them. */
  get loose() {
    return this.#loose.length;
  }

  /**
   * Does the work, and waits until its transaction is finished.
   * @template T
   * @param {"readonly" | "readwrite"} mode
   * @param {(labels: IDBObjectStore) => T | Promise<T>} work
   * @param {IDBTransactionDurability} durability
   * @returns {Promise<T>}
   */
  async #run(mode, work, durability = "default") {
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#database ??= openDatabase();
        const transaction = (await this.#database).transaction(LABELS_STORE, mode, { durability });
        const [value] = await Promise.all([
          work(transaction.objectStore(LABELS_STORE)),
          finished(transaction),
        ]);
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
   * Stores a label.
   * @param {Label} label
   * @param {About} about
   */
  async put(label, about) {
    const row = { desk: this.#desk, label, about };
    if (this.#loose.length === 0) {
      try {
        const add = (/** @type {IDBObjectStore} */ labels) => {
          labels.add(row);
          labels.transaction.commit(); // a page that goes does not hear that it was added
        };
        await this.#run("readwrite", add, "strict");
        return;
      } catch {
        // private mode, a full disk, a database that is gone
      }
    }
    this.#n += 1;
    this.#loose.push({ ...row, n: Number.MAX_SAFE_INTEGER / 2 + this.#n, isLoose: true });
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
   * Which of these the labels here leave to be labelled, though the server may not know them yet.
   * @param {string[]} assignments
   */
  async unlabelled(assignments) {
    const done = labelledAssignments(await this.#labels());
    return new Set(assignments.filter((one) => !done.has(one)));
  }
}
