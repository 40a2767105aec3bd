// A query and a document on the screen, and the next documents made ready behind it.
import { DOCUMENTS_AHEAD, IDLE_TIMEOUT, QUOTE_CHARACTERS } from "./constants.js";
import { DocumentView } from "./document-view.js";
import { forgetFrames, highlight } from "./highlights.js";
import { announce, page, part } from "./page.js";
import { afterPaint } from "./painting.js";
import { placeOf } from "./spans.js";
import { format, gettext } from "./texts.js";

/** @import { HeldLabel, Pair, Query, Span } from "./types.js" */

/** @typedef {Pick<HeldLabel, "outcome" | "grade">} Former what was said of a pair before */

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Does the work when the browser has nothing else to do. Not every browser says so.
 * @param {() => void} work
 * @param {number} [timeout] by then even where the browser is never idle
 */
function whenIdle(work, timeout) {
  if (!("requestIdleCallback" in globalThis)) setTimeout(work, 1);
  else if (timeout === undefined) requestIdleCallback(work);
  else requestIdleCallback(work, { timeout });
}

let current = new DocumentView(onFrame);
const views = [current];
while (views.length <= DOCUMENTS_AHEAD) views.push(new DocumentView(onFrame));
/** @type {Pair[]} */
let toCome = [];
let isPreparing = false;
let shownQuery = "";
let isPainted = false;
let inARow = 0; // pairs of the query that is shown
/** @type {(pair: Pair, isNewQuery: boolean) => void} */
let tellPainted = () => {};

current.enter();

/** @param {DocumentView} view */
function onFrame(view) {
  if (view !== current || !view.pair) return;
  showTermsOrNot();
  showReasons(view.pair);
}

/** The document on the screen as its texts. */
export const shownFields = () => current.fields;

/** @param {(pair: Pair, isNewQuery: boolean) => void} onPaint the pair on the screen has been painted */
export function onPainted(onPaint) {
  tellPainted = onPaint;
}

/**
 * @param {Pair} pair
 * @param {Former | null} former
 */
export function showPair(pair, former = null) {
  if (current.pair !== pair) turnTo(pair);
  else if (isPainted) {
    afterPaint().then(() => {
      if (current.pair === pair) tellPainted(pair, false);
    });
  }
  pressFormer(former);
  part("wait").hidden = true;
  if (part("end").hidden && !part("bar").hidden) return;
  part("end").hidden = true;
  part("bar").hidden = false;
}

/** @param {Pair} pair */
function turnTo(pair) {
  const isNewQuery = shownQuery !== pair.query.id;
  showQuery(pair.query, isNewQuery);
  // where every pair has another query, that this one is new says nothing
  part("query-card").classList.toggle("is-new", isNewQuery && inARow > 1);
  inARow = isNewQuery ? 1 : inARow + 1;
  forgetFrames();
  const active = document.activeElement;
  const hadFocus = active === current.part("scroll") || active === document.body;
  const next = viewOf(pair) ?? fillSpare(pair);
  if (!next.isSettled) next.settle();
  current.leave();
  current.pair = null;
  current = next;
  current.enter();
  // so that the arrows, Page Down and the space bar scroll the text
  if (hadFocus) current.part("scroll").focus({ preventScroll: true });
  showTermsOrNot();
  setSeen(false);
  afterPaint().then(() => {
    if (current.pair === pair) {
      setSeen(true);
      tellPainted(pair, isNewQuery);
    }
  });
}

/**
 * Its texts may have been corrected since the pair before, though it is the same query.
 * @param {Query} query
 * @param {boolean} isNew
 */
function showQuery({ id, text, description }, isNew) {
  shownQuery = id;
  if (part("query").textContent !== text) part("query").textContent = text;
  if (part("description").textContent !== description) part("description").textContent = description;
  if (isNew && !isStill.matches) part("query-card").animate?.([{ opacity: 0.35 }, { opacity: 1 }], 180);
}

/** @param {boolean} seen */
function setSeen(seen) {
  isPainted = seen;
  if (seen) part("stage").removeAttribute("aria-busy");
  else part("stage").setAttribute("aria-busy", "true");
}

/** @param {Former | null} former */
export function pressFormer(former) {
  for (const button of page.querySelectorAll("[data-grade]")) {
    const code = Number(button.getAttribute("data-grade"));
    const isFormer = String(former?.outcome === "graded" && code === former.grade);
    if (button.getAttribute("aria-pressed") !== isFormer) button.setAttribute("aria-pressed", isFormer);
  }
}

/**
 * Words where a pair would be.
 * @param {string} heading
 * @param {string} words
 */
export function showInstead(heading, words) {
  current.empty();
  setSeen(false);
  part("bar").hidden = true;
  part("wait").hidden = true;
  part("end").hidden = false;
  part("end-heading").textContent = heading;
  part("end-words").textContent = words;
  showQuery({ id: "", text: "", description: "" }, false);
  announce(heading);
}

/** The next pair is not there yet; the one before has been labelled, and must not look as if it had not. */
export function blank() {
  current.empty();
  setSeen(false);
  part("wait").textContent = gettext("Loading the next pairs …");
  part("wait").hidden = false;
}

/**
 * A pair that is likely to be shown in a moment.
 * @param {Pair | undefined} pair
 */
export function makeReady(pair) {
  if (pair && !viewOf(pair)) fillSpare(pair).settle();
}

/** @param {Pair} pair */
const viewOf = (pair) => views.find((view) => view.pair === pair);

/**
 * Makes pairs ready in small steps whenever there is nothing else to do: a key that comes meanwhile waits
 * for one step at most.
 * @param {Pair[]} pairs to come, the next first
 */
export function prepare(pairs) {
  toCome = pairs.slice(0, DOCUMENTS_AHEAD);
  if (isPreparing || toCome.every((pair) => viewOf(pair)?.isSettled)) return;
  isPreparing = true;
  whenIdle(() => {
    isPreparing = false;
    const next = toCome.find((pair) => !viewOf(pair)?.isSettled);
    const view = next && viewOf(next);
    if (view) view.settle();
    else if (next) fillSpare(next);
    prepare(toCome);
  }, IDLE_TIMEOUT);
}

/** The text has another size, or the window: what is ready starts at the same words, elsewhere. */
export function realign() {
  whenIdle(() => {
    for (const view of views) if (view !== current && view.pair && view.isSettled) view.realign();
  });
}

addEventListener("resize", realign);

// A text that scrolls can be reached with Tab; one that fits is no stop on the way.
const scrollable = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (!(target instanceof HTMLElement)) continue;
    if (target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const name of /** @type {const} */ (["query", "description", "notes", "told-words"])) {
  scrollable.observe(part(name));
}

/** @param {Pair} pair */
function fillSpare(pair) {
  const others = views.filter((view) => view !== current);
  const spare = others.find(({ pair: ready }) => !ready || !toCome.includes(ready)) ?? others[0];
  if (!spare) throw new Error("no view to spare");
  spare.fill(pair);
  return spare;
}

export function showTermsOrNot() {
  highlight("terms", page.classList.contains("unmarked") ? [] : current.terms);
}

/**
 * The places that are marked as the reason for the grade, in the text and as a list.
 * @param {Pair} pair
 */
export function showReasons(pair) {
  const found = (pair.spans ?? []).flatMap((span) => {
    const place = current.fields.find(span);
    return place ? [{ span, ...place }] : [];
  });
  highlight(
    "reasons",
    found.map(({ range }) => range),
  );
  part("marks").replaceChildren(...found.map(({ span, words }) => reasonItem(span, words)));
  part("marks").hidden = found.length === 0;
}

/**
 * @param {Span} span
 * @param {string} words
 */
function reasonItem(span, words) {
  const item = document.createElement("li");
  const quote = document.createElement("q");
  quote.textContent = words.length > QUOTE_CHARACTERS ? `${words.slice(0, QUOTE_CHARACTERS - 2)} …` : words;
  quote.dir = "auto";
  const button = document.createElement("button");
  Object.assign(button, {
    type: "button",
    className: "linklike",
    textContent: "×",
    title: gettext("Remove"),
  });
  button.setAttribute("aria-label", format(gettext("Remove {quote}"), { quote: quote.textContent ?? "" }));
  Object.assign(button.dataset, { action: "unmark", place: placeOf(span) });
  item.append(quote, button);
  return item;
}

/** @param {Range} range */
export function bringIntoSight(range) {
  current.bringIntoSight(range);
}
