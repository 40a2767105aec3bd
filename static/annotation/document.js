// A query and a document on the screen, and the next documents made ready behind it.
import { highlight, forgetFrames } from "./highlights.js";
import { afterPaint, announce, page, part } from "./page.js";
import { Sheet } from "./sheet.js";

const AHEAD = 2;      // documents made ready
const SOON = 60;      // milliseconds; ready by then even where the browser is never idle

const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 1));

const sheets = Array.from({ length: AHEAD + 1 }, () => new Sheet((sheet) => { if (sheet === current) showMarks(); }));
let current = sheets[0];
let toCome = [];
let isPreparing = false;
let shownQuery = "";
let isSeen = false;
let seenAt = 0;
let inARow = 0; // pairs of the query that is shown

current.enter();

// The document on the screen as its texts.
export const shownFields = () => current.fields;

// Whether this pair is really to be seen: painted, and nothing else in its place.
export const isOnScreen = (pair) => isSeen && current.pair === pair && !part("stage").hidden && part("end").hidden;

// At what time (event.timeStamp's clock) the pair on the screen was first painted; Infinity: not yet.
export const seenSince = () => (isSeen ? seenAt : Infinity);

// former: what was said of the pair before: {outcome, grade}.
export function showPair(pair, { former = null } = {}) {
  if (current.pair !== pair) turnTo(pair);
  pressFormer(former);
  part("wait").hidden = true;
  if (part("end").hidden && !part("bar").hidden) return;
  part("end").hidden = true;
  part("bar").hidden = false;
}

function turnTo(pair) {
  const isNewQuery = shownQuery !== pair.query.id;
  showQuery(pair.query, isNewQuery);
  // where every pair has another query, that this one is new says nothing
  part("query-card").classList.toggle("is-new", isNewQuery && inARow > 1);
  inARow = isNewQuery ? 1 : inARow + 1;
  forgetFrames();
  const hadFocus = document.activeElement === current.part("scroll") || document.activeElement === document.body;
  const next = sheetOf(pair) ?? fillSpare(pair);
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
    if (current === next) setSeen(true);
    if (isNewQuery) announce(`New query: ${[pair.query.text, pair.query.description].filter(Boolean).join(". ")}`);
  });
}

// Its texts may have been corrected since the pair before, though it is the same query.
function showQuery({ id, text, description }, isNew) {
  shownQuery = id;
  if (part("query").textContent !== text) part("query").textContent = text;
  if (part("description").textContent !== description) part("description").textContent = description;
  if (isNew && !isStill.matches) part("query-card").animate?.([{ opacity: 0.35 }, { opacity: 1 }], 180);
}

function setSeen(seen) {
  isSeen = seen;
  if (seen) seenAt = performance.now();
  if (seen) part("stage").removeAttribute("aria-busy");
  else part("stage").setAttribute("aria-busy", "true");
}

function pressFormer(former) {
  for (const button of page.querySelectorAll("[data-grade]")) {
    const isFormer = String(former?.outcome === "graded" && Number(button.dataset.grade) === former.grade);
    if (button.getAttribute("aria-pressed") !== isFormer) button.setAttribute("aria-pressed", isFormer);
  }
}

// Words where a pair would be.
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

// The next pair is not there yet; the one before has been labelled, and must not look as if it had not.
export function blank() {
  current.empty();
  setSeen(false);
  part("wait").textContent = "Loading the next pairs …";
  part("wait").hidden = false;
}

// A pair that is likely to be shown in a moment.
export function makeReady(pair) {
  if (pair && !sheetOf(pair)) fillSpare(pair).settle();
}

const sheetOf = (pair) => sheets.find((sheet) => sheet.pair === pair);

// pairs: to come, the next first. They are made ready in small steps whenever there is nothing else to
// do: a key that comes meanwhile waits for one step at most.
export function prepare(pairs) {
  toCome = pairs.slice(0, AHEAD);
  if (isPreparing || toCome.every((pair) => sheetOf(pair)?.isSettled)) return;
  isPreparing = true;
  idle(() => {
    isPreparing = false;
    const next = toCome.find((pair) => !sheetOf(pair)?.isSettled);
    if (next && sheetOf(next)) sheetOf(next).settle();
    else if (next) fillSpare(next);
    prepare(toCome);
  }, { timeout: SOON });
}

// The text has another size, or the window: what is ready starts at the same words, elsewhere.
export function realign() {
  idle(() => { for (const sheet of sheets) if (sheet !== current && sheet.pair && sheet.isSettled) sheet.realign(); });
}

addEventListener("resize", realign);

// A text that scrolls can be reached with Tab; one that fits is no stop on the way.
const scrollable = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const name of ["query", "description", "notes", "told-words"]) scrollable.observe(part(name));

function fillSpare(pair) {
  const spare = sheets.find((sheet) => sheet !== current && !toCome.includes(sheet.pair)) ?? sheets.find((sheet) => sheet !== current);
  spare.fill(pair);
  return spare;
}

export function showTermsOrNot() {
  highlight("terms", page.classList.contains("unmarked") ? [] : current.terms);
}

function showMarks() {
  showTermsOrNot();
  showReasons(current.pair);
}

// The places that are marked as the reason for the grade, in the text and as a list.
export function showReasons(pair) {
  const found = (pair.spans ?? []).map((span) => ({ span, ...current.fields.find(span) })).filter(({ range }) => range);
  highlight("reasons", found.map(({ range }) => range));
  part("marks").replaceChildren(...found.map(reasonItem));
  part("marks").hidden = found.length === 0;
}

function reasonItem({ span, words }) {
  const item = document.createElement("li");
  const quote = document.createElement("q");
  quote.textContent = words.length > 90 ? `${words.slice(0, 88)} …` : words;
  quote.dir = "auto";
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "linklike", textContent: "×", title: "Unmark" });
  button.setAttribute("aria-label", `Unmark ${quote.textContent}`);
  Object.assign(button.dataset, { action: "unmark", place: `${span.field} ${span.start}` });
  item.append(quote, button);
  return item;
}

export function bringIntoSight(range) {
  current.bringIntoSight(range);
}
