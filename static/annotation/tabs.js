// The tabs of one person in one campaign: which are alive, whose turn it is to speak with the server,
// and pairs from hand to hand. A tab that closes, or crashes, lets go of its lock.

const PATIENCE = 400; // milliseconds for another tab to hand something over

export const uuid = () => {
  if (crypto.randomUUID) return crypto.randomUUID();
  // an address without https
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
};

// What this window remembers across a reload, if the browser lets it.
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
  #others = new Set();
  #expected = null;
  #isNamed;
  #gone; // the page that was here before: its lock may outlive it a little
  id = uuid();

  constructor(desk) {
    this.#desk = desk;
    this.#gone = remember(this.#name("gone"));
    this.#isNamed = new Promise((resolve) => {
      if (!navigator.locks) resolve();
      else navigator.locks.request(this.#name(this.id), () => { resolve(); return new Promise(() => {}); });
    });
    this.#channel = globalThis.BroadcastChannel && new BroadcastChannel(`touchstone ${desk}`);
  }

  #name(tab) {
    return `touchstone ${this.#desk} tab ${tab}`;
  }

  // onAsked(tab): another tab has nothing to show. onGiven(pairs): what another tab gave up.
  // onNews(): another tab has changed what is kept.
  listen({ onAsked, onGiven, onNews }) {
    if (!this.#channel) return;
    this.#channel.onmessage = ({ data }) => {
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

  #send(kind, more = {}) {
    this.#channel?.postMessage({ kind, tab: this.id, ...more });
  }

  // Whether this page follows another one of the same window, as after a reload.
  get isReloaded() {
    return this.#gone !== null;
  }

  // The tabs that are there, this one among them.
  async alive() {
    await this.#isNamed;
    if (!navigator.locks) return new Set([this.id, ...this.#others]);
    const prefix = this.#name("");
    const { held } = await navigator.locks.query();
    const tabs = held.filter(({ name }) => name.startsWith(prefix)).map(({ name }) => name.slice(prefix.length));
    const alive = new Set(tabs.filter((tab) => tab !== this.#gone));
    for (const other of this.#others) if (!alive.has(other)) this.#others.delete(other); // it crashed: no heir
    return alive;
  }

  // One tab at a time speaks with the server, so that labels arrive in order.
  exclusively(work) {
    return navigator.locks ? navigator.locks.request(`touchstone ${this.#desk}`, work) : work();
  }

  // Asks the others for pairs; resolves when one has given some, or soon.
  ask() {
    return new Promise((resolve) => {
      this.#expected = resolve;
      setTimeout(resolve, PATIENCE);
      this.#send("ask");
    });
  }

  give(tab, pairs) {
    this.#send("give", { to: tab, pairs });
  }

  tell() {
    this.#send("news");
  }

  // This tab closes. Another one that is there inherits its pairs; false if there is none.
  leave(pairs) {
    remember(this.#name("gone"), this.id);
    const [heir] = this.#others;
    this.#send("bye", { to: heir, pairs });
    return heir !== undefined;
  }
}
