// The tabs of one person in one campaign: which are alive, whose turn it is to speak with the server,
// and pairs from tab to tab. A tab that closes, or crashes, releases its lock.
import { TAB_TIMEOUT } from "./constants.js";

/** @import { Pair } from "./types.js" */

/** @typedef {"hello" | "here" | "ask" | "give" | "news" | "bye"} MessageKind */

/** @typedef {{ kind: MessageKind, tab: string, to?: string | undefined, pairs?: Pair[] }} Message between tabs */

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
 * What this window remembers across a reload, if the browser lets it: the value until now.
 * @param {string} name
 * @param {string} [value] from now on
 */
function remember(name, value) {
  try {
    const before = sessionStorage.getItem(name);
    if (value) sessionStorage.setItem(name, value);
    return before;
  } catch {
    return null;
  }
}

export class Tabs {
  #desk;
  #channel;
  /** @type {Set<string>} */
  #others = new Set();
  /** @type {(() => void) | null} */
  #expected = null;
  #isNamed;
  #gone; // the page that was here before: its lock may outlive it a little
  id = uuid();

  /** @param {string} desk names account and campaign */
  constructor(desk) {
    this.#desk = desk;
    this.#gone = remember(this.#name("gone"));
    /** @type {Promise<void>} */
    this.#isNamed = new Promise((resolve) => {
      if (!navigator.locks) resolve();
      else {
        navigator.locks.request(this.#name(this.id), () => {
          resolve();
          return new Promise(() => {});
        });
      }
    });
    this.#channel = globalThis.BroadcastChannel ? new BroadcastChannel(`touchstone ${desk}`) : null;
  }

  /** @param {string} tab */
  #name(tab) {
    return `touchstone ${this.#desk} tab ${tab}`;
  }

  /**
   * @param {object} handlers
   * @param {(tab: string) => void} handlers.onAsked another tab has nothing to show
   * @param {(pairs: Pair[]) => void} handlers.onGiven what another tab gave up
   * @param {() => void} handlers.onNews another tab has changed what is stored
   */
  listen({ onAsked, onGiven, onNews }) {
    if (!this.#channel) return;
    this.#channel.onmessage = (/** @type {MessageEvent<Message>} */ { data }) => {
      const { kind, tab, to, pairs } = data;
      if (kind === "bye") this.#others.delete(tab);
      else this.#others.add(tab);
      if (kind === "hello") this.#send("here", { to: tab });
      if (kind === "ask") onAsked(tab);
      if (kind === "news") onNews();
      if (to === this.id && pairs) {
        this.#expected?.();
        onGiven(pairs);
      }
    };
    this.#send("hello");
  }

  /**
   * @param {MessageKind} kind
   * @param {{ to?: string | undefined, pairs?: Pair[] }} more
   */
  #send(kind, more = {}) {
    /** @type {Message} */
    const message = { kind, tab: this.id, ...more };
    this.#channel?.postMessage(message);
  }

  /** Whether this page follows another one of the same window, as after a reload. */
  get isReloaded() {
    return this.#gone !== null;
  }

  /**
   * The tabs that are there, this one among them.
   * @returns {Promise<Set<string>>}
   */
  async alive() {
    await this.#isNamed;
    if (!navigator.locks) return new Set([this.id, ...this.#others]);
    const prefix = this.#name("");
    const { held = [] } = await navigator.locks.query();
    const tabs = held.flatMap(({ name }) => (name?.startsWith(prefix) ? [name.slice(prefix.length)] : []));
    const alive = new Set(tabs.filter((tab) => tab !== this.#gone));
    for (const other of this.#others) if (!alive.has(other)) this.#others.delete(other); // it crashed: no heir
    return alive;
  }

  /**
   * One tab at a time speaks with the server, so that labels arrive in order.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async exclusively(work) {
    return navigator.locks ? await navigator.locks.request(`touchstone ${this.#desk}`, work) : work();
  }

  /**
   * Asks the others for pairs; resolves when one has given some, or soon.
   * @returns {Promise<void>}
   */
  ask() {
    return new Promise((resolve) => {
      this.#expected = resolve;
      setTimeout(resolve, TAB_TIMEOUT);
      this.#send("ask");
    });
  }

  /**
   * @param {string} tab
   * @param {Pair[]} pairs
   */
  give(tab, pairs) {
    this.#send("give", { to: tab, pairs });
  }

  notify() {
    this.#send("news");
  }

  /**
   * This tab closes. Another one that is there inherits its pairs; false if there is none.
   * @param {Pair[]} pairs
   */
  leave(pairs) {
    remember(this.#name("gone"), this.id);
    const [heir] = this.#others;
    this.#send("bye", { to: heir, pairs });
    return heir !== undefined;
  }
}
