// Pairs from the server before they are needed, kept for this person while the page lives, and given
// back when it closes; not in a tab that does not label.
import { firstAnswer, post, requestPairs } from "./api.js";
import {
  AFTER_RELOAD,
  EMPTY_RETRY,
  LONGEST_RENEWAL,
  LOW_SUPPLY,
  NEXT_REQUEST,
  PAIRS_WANTED,
  URGENT_SUPPLY,
  USUAL_CHARACTERS,
} from "./constants.js";
import { config } from "./page.js";
import { mayHaveMore, nextSize } from "./supply-rules.js";

/** @import { LabelStore } from "./label-store.js" */
/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Tabs } from "./tabs.js" */
/** @import { Answer, Pair, Row, Wish } from "./types.js" */

const SHUT_OUT = "shut-out";
// without an answer for so long the server may have given the pairs to others
const LEASE = 60_000 * Number(config.leaseMinutes);
const RENEWAL = Math.min(LONGEST_RENEWAL, LEASE / 4);

/**
 * @typedef {object} SupplyOptions
 * @property {PairQueue} queue
 * @property {LabelStore} store
 * @property {Tabs} tabs
 * @property {(pairs: Pair[]) => void} onOffer some that will most likely be this tab's
 * @property {(answer: Answer) => void} onAnswer its pairs are this tab's
 * @property {(answer: Answer) => void} onEnd the server has no pair for this person
 * @property {() => void} onOffline there is no pair, and no answer either; the server is asked again
 * @property {(state: "signed-out" | "other-account") => void} onSignedOut
 * @property {() => string[]} unwritten assignments whose labels are in memory alone
 * @property {() => Promise<Row[]>} waiting labels that the server does not have yet
 * @property {() => void} onShutOut this person is no longer in the campaign
 */

export class Supply {
  #options;
  #fetching = false;
  #characters = USUAL_CHARACTERS;
  #hasRest = false;
  #emptyAnswers = 0;
  #isDoubtful = false; // what is here may have been given back by the page before
  #lastAnswer = Date.now();

  /** @param {SupplyOptions} options */
  constructor(options) {
    this.#options = options;
    addEventListener("pagehide", (event) => {
      if (!event.persisted) this.#giveBack();
    });
    setInterval(() => {
      if (!document.hidden) this.fetchMore();
    }, RENEWAL);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && Date.now() - this.#lastAnswer > RENEWAL) this.fetchMore();
    });
  }

  get isLow() {
    return this.#options.queue.ahead.length < LOW_SUPPLY;
  }

  get #isStale() {
    return this.#isDoubtful || Date.now() - this.#lastAnswer > 0.9 * LEASE;
  }

  /** @returns {Promise<Wish>} */
  async #wish() {
    const { queue, waiting } = this.#options;
    const labelled = (await waiting()).map((row) => row.label.assignment);
    const stale = queue.current ? [queue.current.assignment] : [];
    return {
      count: PAIRS_WANTED,
      characters: this.#characters,
      held: [...(this.#isStale ? stale : queue.held), ...labelled.slice(-PAIRS_WANTED)],
    };
  }

  /**
   * Takes what an answer brings for this tab.
   * @param {Answer} answer
   */
  async accept(answer) {
    const { onAnswer, onOffer, queue, store, tabs } = this.#options;
    const offered = answer.pairs ?? [];
    const wasStale = this.#isStale && offered.length > 0;
    this.#lastAnswer = Date.now();
    if (!wasStale && queue.hasTwins(offered)) {
      // no pair is to be labelled twice: all that is to come is asked for again
      this.#isDoubtful = true;
      this.#hasRest = true;
      onAnswer({ ...answer, pairs: [] });
      if (!this.#fetching) this.#fetchRest();
      return;
    }
    if (!queue.current) onOffer(offered);
    const own = await store.unlabelled(offered.map((pair) => pair.assignment));
    if (!tabs.isMine) {
      onAnswer({ ...answer, pairs: [] });
      return;
    }
    if (wasStale) {
      this.#isDoubtful = false;
      queue.clear();
      queue.adopt(offered);
    }
    this.#hasRest = (answer.rest ?? 0) > 0 && own.size > 0;
    const mine = offered.filter((pair) => own.has(pair.assignment));
    // who labels fast right after a reload has labelled some of what the page before gave back
    const isFresh = tabs.isReloaded && performance.now() < AFTER_RELOAD;
    onAnswer({ ...answer, pairs: wasStale || isFresh ? queue.withoutLabelled(mine) : mine });
    if (!this.#fetching) this.#fetchRest();
  }

  #fetchRest() {
    if (!this.#hasRest) return;
    this.#hasRest = false;
    const isUrgent = this.#options.queue.ahead.length < URGENT_SUPPLY;
    setTimeout(() => this.fetchMore(), isUrgent ? 0 : NEXT_REQUEST);
  }

  /** The answer with the page's first pairs. */
  requestFirst() {
    // what the page before gave back may have been among these
    if (this.#options.tabs.isReloaded) setTimeout(() => this.fetchMore(), EMPTY_RETRY);
    return firstAnswer;
  }

  /** @param {Promise<Response> | null} first an answer that is on its way already */
  async fetchMore(first = null) {
    if (this.#fetching || !this.#options.tabs.isMine) return;
    const { onEnd, onOffline, onShutOut, queue, tabs } = this.#options;
    this.#fetching = true;
    try {
      const answer = await (first ? this.#take(first) : tabs.exclusively(() => this.#requestMore()));
      if (!tabs.isMine) return;
      if (queue.current) this.#emptyAnswers = 0;
      else if (mayHaveMore(answer, this.#emptyAnswers)) {
        this.#emptyAnswers += 1;
        setTimeout(() => this.fetchMore(), first ? NEXT_REQUEST : EMPTY_RETRY);
      } else onEnd(answer);
    } catch (error) {
      if (error instanceof Error && error.message === SHUT_OUT) onShutOut();
      else if (!queue.current) {
        onOffline();
        setTimeout(() => this.fetchMore(), EMPTY_RETRY);
      }
    } finally {
      this.#fetching = false;
      this.#fetchRest();
    }
  }

  async #requestMore() {
    const begun = performance.now();
    const answer = await this.#take(requestPairs(await this.#wish()));
    const took = performance.now() - begun;
    if ((answer.rest ?? 0) > 0) this.#characters = nextSize(this.#characters, took);
    return answer;
  }

  /**
   * @param {Promise<Response>} requested
   * @returns {Promise<Answer>}
   */
  async #take(requested) {
    const response = await requested;
    const answer = await response.json();
    const { onSignedOut } = this.#options;
    if (response.status === 401) onSignedOut("signed-out");
    if (response.status === 403)
      onSignedOut(answer.code === "other_account" ? "other-account" : "signed-out");
    if (response.status === 404 && answer.code === "not_found") throw new Error(SHUT_OUT);
    if (!response.ok) throw new Error(String(response.status));
    await this.accept(answer);
    return answer;
  }

  /** So that others can have what this page will not label. */
  #giveBack() {
    const { queue, tabs, unwritten } = this.#options;
    const assignments = queue.held;
    if (tabs.leave(unwritten()) || assignments.length === 0) return;
    post(config.releaseUrl, { assignments }, { keepalive: true }).catch(() => {});
  }
}
