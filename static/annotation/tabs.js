// The tabs of one person in one campaign. One of them labels, and another that is opened waits until it
// closes, crashes or is told to give its turn away; one at a time speaks with the server.
import { TURN_GRACE } from "./constants.js";

/** @typedef {"hello" | "here" | "take" | "news" | "bye"} MessageKind */

/** @typedef {{ kind: MessageKind, tab: string, labelled?: string[] }} Message between tabs */

/**
 * @typedef {object} TabsHandlers
 * @property {() => void} onTurn this tab labels from now on
 * @property {() => void} onElsewhere another tab labels
 * @property {() => void} onNews another tab has changed what is stored
 * @property {(assignments: string[]) => void} onBye another tab has closed; its last labels, of these, are on
 *   their way and not stored
 */

/** @returns {string} */
export const uuid = () => {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  // an address without https
  const bytes = /** @type {Crypto} */ (crypto).getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte, place) => {
    if (place === 6) return (byte & 0x0f) | 0x40;
    return place === 8 ? (byte & 0x3f) | 0x80 : byte;
  });
  const digits = hex.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
};

/**
 * Whether this window has shown the page before, as after a reload, if the browser lets it know.
 * @param {string} name
 */
function wasHere(name) {
  try {
    const before = sessionStorage.getItem(name);
    sessionStorage.setItem(name, "yes");
    return before !== null;
  } catch {
    return false;
  }
}

export class Tabs {
  #id = uuid();
  #name;
  #channel;
  /** @type {Set<string>} */
  #others = new Set();
  /** @type {TabsHandlers | null} */
  #handlers = null;
  #waiting = new AbortController();
  /** Whether this tab is the one that labels. */
  isMine = false;
  /** Whether this page follows another one of the same window. */
  isReloaded;

  /** @param {string} desk names account and campaign */
  constructor(desk) {
    this.#name = `touchstone ${desk}`;
    this.isReloaded = wasHere(this.#name);
    this.#channel = globalThis.BroadcastChannel ? new BroadcastChannel(this.#name) : null;
  }

  /** @param {TabsHandlers} handlers */
  listen(handlers) {
    this.#handlers = handlers;
    if (this.#channel) {
      this.#channel.onmessage = (/** @type {MessageEvent<Message>} */ { data }) => this.#hear(data);
    }
    this.#send("hello");
    if (navigator.locks) {
      this.#waitForTurn();
      // the lock of the page that was here before may outlive it a little
      setTimeout(() => {
        if (!this.isMine) handlers.onElsewhere();
      }, TURN_GRACE);
    } else this.#begin();
  }

  /** @param {Message} message */
  #hear({ kind, tab, labelled = [] }) {
    if (kind === "bye") {
      this.#others.delete(tab);
      this.#handlers?.onBye(labelled);
    } else this.#others.add(tab);
    if (kind === "hello" && this.isMine) this.#send("here");
    if (kind === "news") this.#handlers?.onNews();
    // where the browser has no locks, as without https, tabs tell each other
    if (!navigator.locks && (kind === "here" || kind === "take")) this.#lose();
  }

  /**
   * @param {MessageKind} kind
   * @param {string[]} labelled
   */
  #send(kind, labelled = []) {
    /** @type {Message} */
    const message = { kind, tab: this.#id, labelled };
    this.#channel?.postMessage(message);
  }

  #begin() {
    this.isMine = true;
    this.#handlers?.onTurn();
  }

  #lose() {
    if (!this.isMine) return;
    this.isMine = false;
    this.#handlers?.onElsewhere();
  }

  /** @param {LockOptions} options */
  #waitForTurn(options = { signal: this.#waiting.signal }) {
    navigator.locks
      .request(`${this.#name} turn`, options, () => {
        this.#begin();
        return new Promise(() => {});
      })
      .catch(() => {
        if (options.signal?.aborted) return;
        this.#lose();
        this.#waitForTurn(); // until the other one closes
      });
  }

  /** This tab labels from now on, and no other. */
  take() {
    if (this.isMine) return;
    this.#send("take");
    if (!navigator.locks) {
      this.#begin();
      return;
    }
    this.#waiting.abort();
    this.#waiting = new AbortController();
    this.#waitForTurn({ steal: true });
  }

  /**
   * One tab at a time speaks with the server, so that labels arrive in order.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async exclusively(work) {
    return navigator.locks ? await navigator.locks.request(this.#name, work) : work();
  }

  notify() {
    this.#send("news");
  }

  /**
   * This tab closes; whether another one is there, which gets its turn and its pairs.
   * @param {string[]} labelled assignments whose labels are not stored yet
   */
  leave(labelled) {
    this.#send("bye", labelled);
    return this.#others.size > 0;
  }
}
