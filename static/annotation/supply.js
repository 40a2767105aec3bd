// Pairs from the server before they are needed, kept for this person while the page lives, and given
// back when it closes.
import { askForPairs, firstAnswer, post } from "./asking.js";
import { page } from "./page.js";

const WANTED = 60;       // pairs asked for at a time
// characters of an answer: it is read between two keys, and on a line that is slow it must not keep
// labels waiting
const LEAST = 250_000;
const MOST = 2_000_000;
const SWIFT = 1000;      // milliseconds; what comes within may be more the next time
const LOW = 30;          // with fewer ahead, the next request brings more
const AGAIN = 2000;
const SOON = 200;
const AT_ONCE = 10;      // with fewer ahead, what an answer had no room for is fetched without a pause
const PATIENCE = 3; // times
const SHUT_OUT = "shut-out";
// without an answer for so long the server may have given the pairs to others
const LEASE = 60_000 * Number(page.dataset.leaseMinutes);
const RENEWAL = Math.min(5 * 60_000, LEASE / 4);

export class Supply {
  #fetching = false;
  #characters = 1_000_000;
  #hasRest = false;
  #asksInVain = 0;
  #isDoubtful = false; // what is here may have been given back by the page before
  #lastAnswer = Date.now();

  // onOffer(pairs): some that will most likely be this tab's. onAnswer(answer): what the server said,
  // its pairs being this tab's. onEnd(answer): it has no pair
  // for this person. onSilence(): there is no pair, and no answer either; it is asked again.
  // onSignedOut(state): the server wants to know who this is. onShutOut(): the campaign is not theirs any more.
  constructor({ stream, drawer, tabs, onOffer, onAnswer, onEnd, onSilence, onSignedOut, onShutOut }) {
    Object.assign(this, { stream, drawer, tabs, onOffer, onAnswer, onEnd, onSilence, onSignedOut, onShutOut });
    addEventListener("pagehide", (event) => { if (!event.persisted) this.#giveBack(); });
    setInterval(() => { if (!document.hidden) this.fetchMore(); }, RENEWAL);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && Date.now() - this.#lastAnswer > RENEWAL) this.fetchMore();
    });
  }

  get isLow() {
    return this.stream.ahead.length < LOW;
  }

  get #isStale() {
    return this.#isDoubtful || Date.now() - this.#lastAnswer > 0.9 * LEASE;
  }

  // What to send along with labels, so that their answer brings the next pairs.
  async wish() {
    if (!this.isLow) return { count: 0 };
    return this.#wish();
  }

  async #wish() {
    const own = this.#isStale ? [this.stream.current?.assignment].filter(Boolean) : this.stream.held;
    return { count: WANTED, characters: this.#characters, held: [...own, ...(await this.drawer.heldByOthers(await this.tabs.alive()))] };
  }

  // Takes what an answer brings for this tab.
  async accept(answer) {
    const wasStale = this.#isStale && answer.pairs?.length > 0;
    this.#lastAnswer = Date.now();
    const offered = answer.pairs ?? [];
    if (!wasStale && this.stream.hasTwins(offered)) {
      // nobody is to label a pair twice: all that is to come is asked for anew
      this.#isDoubtful = true;
      this.#hasRest = true;
      this.onAnswer({ ...answer, pairs: [] });
      if (!this.#fetching) this.#fetchRest();
      return;
    }
    if (!this.stream.current) this.onOffer(offered);
    const own = await this.drawer.claim(offered.map((pair) => pair.assignment), await this.tabs.alive());
    if (wasStale) {
      this.#isDoubtful = false;
      await this.drawer.letGo(this.stream.clear().filter((one) => !own.has(one)));
      this.stream.adopt(offered);
    }
    this.#hasRest = answer.rest > 0 && own.size > 0;
    const mine = offered.filter((pair) => own.has(pair.assignment));
    this.onAnswer({ ...answer, pairs: wasStale ? this.stream.withoutSaid(mine) : mine });
    if (!this.#fetching) this.#fetchRest();
  }

  #fetchRest() {
    if (!this.#hasRest) return;
    this.#hasRest = false;
    setTimeout(() => this.fetchMore(), this.stream.ahead.length < AT_ONCE ? 0 : SOON);
  }

  // A page that is just being left still seems to hold what was offered, or gives it back only now.
  #mayBeMore({ pairs, paused, is_open: isOpen, progress }) {
    return isOpen && !paused && this.#asksInVain < PATIENCE && (pairs.length > 0 || progress?.left > 0);
  }

  // The answer with the page's first pairs. What of it other tabs have is sorted out when it is here.
  askFirst() {
    // what the page before gave back may have been among these
    if (this.tabs.isReloaded) setTimeout(() => this.fetchMore(), AGAIN);
    return firstAnswer;
  }

  // first: an answer that is on its way already.
  async fetchMore(first = null) {
    if (this.#fetching) return;
    this.#fetching = true;
    try {
      const end = await (first ? this.#take(first) : this.tabs.exclusively(() => this.#askMore()));
      if (!this.stream.current && this.#mayBeMore(end)) {
        this.#asksInVain += 1;
        setTimeout(() => this.fetchMore(), first ? SOON : AGAIN);
      } else if (!this.stream.current) this.onEnd(end);
      else this.#asksInVain = 0;
    } catch (error) {
      if (error.message === SHUT_OUT) this.onShutOut();
      else if (!this.stream.current) {
        this.onSilence();
        setTimeout(() => this.fetchMore(), AGAIN);
      }
    } finally {
      this.#fetching = false;
      this.#fetchRest();
    }
  }

  async #askMore() {
    const begun = performance.now();
    const end = await this.#take(askForPairs(await this.#wish()));
    const isSwift = performance.now() - begun < SWIFT;
    if (end.rest > 0) this.#characters = Math.min(MOST, Math.max(LEAST, this.#characters * (isSwift ? 2 : 0.5)));
    return end;
  }

  async #take(asked) {
    const response = await asked;
    const answer = await response.json();
    if (response.status === 401) this.onSignedOut("signed-out");
    if (response.status === 403) this.onSignedOut(answer.code === "other_account" ? "other-account" : "signed-out");
    if (response.status === 404 && answer.code === "not_found") throw new Error(SHUT_OUT);
    if (!response.ok) throw new Error(String(response.status));
    await this.accept(answer);
    return answer;
  }

  // Half of what is to come, for a tab that has nothing; never what is on the screen.
  async share(tab) {
    const pairs = this.stream.giveUp();
    if (pairs.length === 0) return;
    if (await this.drawer.hand(pairs.map((pair) => pair.assignment), tab)) this.tabs.give(tab, pairs);
    else this.stream.take(pairs);
  }

  // Pairs that another tab gave up.
  async inherit(pairs) {
    await this.drawer.hand(pairs.map((pair) => pair.assignment), this.tabs.id);
    this.onAnswer({ pairs });
  }

  // so that others can have what this page will not label
  #giveBack() {
    const assignments = this.stream.held;
    const pairs = [this.stream.current, ...this.stream.ahead].filter(Boolean);
    if (this.tabs.leave(pairs) || assignments.length === 0) return;
    this.drawer.letGo(assignments);
    post(page.dataset.releaseUrl, { assignments }, { keepalive: true }).catch(() => {});
  }
}
