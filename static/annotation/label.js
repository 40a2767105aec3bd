// The annotator's page. The next pairs are here before they are needed, so a key press only moves
// what is in memory; labels go out through the outbox, and nothing on the page waits for them.
import { headers, post } from "./asking.js";
import { Clock } from "./clock.js";
import { askForNote, askWhy, prepareNote, prepareReasons } from "./dialogs.js";
import { hasBeenSeen, makeReady, prepare, realign, showBusy, showInstead, showPair, showReasons } from "./document.js";
import { Drawer } from "./drawer.js";
import { heedRevision, prepareGuideline } from "./guideline.js";
import { History } from "./history.js";
import { listenForKeys, prepareKeys } from "./keys.js";
import { Finder, spansWithSelection } from "./marking.js";
import { Outbox } from "./outbox.js";
import { afterPaint, announce, dialog, page, part, toast } from "./page.js";
import { Pauses } from "./pauses.js";
import { resize, switchPauses, switchTerms, widen } from "./preferences.js";
import { Progress } from "./progress.js";
import { Saving } from "./saving.js";
import { Stream } from "./stream.js";
import { Supply } from "./supply.js";
import { Tabs, uuid } from "./tabs.js";
import { Training } from "./training.js";

const { account, campaign, labelsUrl } = page.dataset;
const desk = `${account} ${campaign}`;
const clock = new Clock();
const stream = new Stream();
const history = new History({ stream, unsent: async () => (await outbox.waiting()).length });
const finder = new Finder();
const pauses = new Pauses(clock);
const progress = new Progress(stream);
const tabs = new Tabs(desk);
const REPEATED = 3000; // milliseconds; said once of what follows so closely
let refusedAt = -Infinity;
const training = new Training({ onGoOn: advance });
const drawer = new Drawer(desk, tabs.id);
const saving = new Saving({
  drawer,
  onSignedIn: goOn,
  onRetry: (row) => outbox.retry(row),
  onChange: () => tabs.tell(),
});
const supply = new Supply({
  stream,
  drawer,
  tabs,
  onOffer: (pairs) => makeReady(pairs[0]),
  onAnswer: take,
  onEnd: showEnd,
  onSilence: showWaiting,
  onSignedOut: (state) => outbox.waiting().then((rows) => saving.show({ waiting: rows.length, state })),
});
const outbox = new Outbox({
  drawer,
  tabs,
  url: labelsUrl,
  headers,
  extras: () => supply.wish(),
  onState: (what) => {
    saving.show(what);
    training.heed(what.state);
  },
  onReceipts: (receipts) => training.hear(receipts),
  onAnswer: (answer) => supply.accept(answer),
  onRefused: () => saving.showRefused(),
  onSurplus: () => saving.surplus(),
});

// what comes from the server, or from another tab

function take(answer) {
  for (const pair of answer.pairs ?? []) pair.doneInQuery ??= answer.done_in_query?.[pair.assignment] ?? 0;
  // who has to qualify first was handed nothing else: what was here has gone to others
  if (answer.training) drawer.letGo(stream.keepTraining());
  if (answer.training !== undefined) training.set(answer.training);
  stream.take(answer.pairs ?? []);
  if (answer.pace) progress.begin(answer);
  outbox.waiting().then((rows) => {
    if (rows.length === 0 && answer.progress) progress.set(answer.progress);
  });
  heedRevision(answer.guideline_revision);
  if (!stream.current && stream.ahead.length > 0) advance();
  else prepare(stream.ahead);
}

function goOn() {
  outbox.send();
  if (supply.isLow) supply.fetchMore();
}

// showing

function advance() {
  if (stream.next()) show();
  else {
    showBusy();
    supply.fetchMore();
  }
  if (supply.isLow && stream.current && !outbox.sending) supply.fetchMore();
}

// former: what was said of the pair before it was taken back.
function show(former = null) {
  if (former) Object.assign(stream.current, { note: former.note, spans: former.spans });
  showOnScreen(stream.current, former);
  afterPaint().then(() => {
    progress.show();
    prepare(stream.ahead);
  });
}

function showOnScreen(pair, said) {
  part("back").hidden = !history.isOpen;
  part("in-query").hidden = history.isOpen; // it tells of the query at hand
  showPair(pair, { former: said });
  showExtras(pair);
  finder.reset();
  clock.start();
}

function showExtras(pair) {
  showReasons(pair);
  part("note-mark").hidden = !pair.note;
}

function showEnd({ is_open: isOpen = true, paused = "" } = {}) {
  if (isOpen && paused) showNothing("Paused", paused);
  else showNothing(
    isOpen ? "All done" : "This campaign is closed",
    isOpen
      ? "There is nothing left for you to label here right now. Thank you."
      : "Your labels are kept. Nothing more is asked of you here.",
  );
  part("end-undo").hidden = stream.done.length === 0 || !isOpen;
}

function showWaiting() {
  showNothing(
    "No connection",
    "The next pairs are not here yet. They come by themselves; what you labelled is kept.",
  );
  part("end-undo").hidden = true;
}

function showNothing(heading, words) {
  stream.setAside();
  part("back").hidden = true;
  part("in-query").hidden = false;
  showInstead(heading, words);
  progress.show();
}

// saying

function say(pair, outcome, { grade = null, reason = "", note = "", spans = [] } = {}) {
  clock.settle();
  const made = {
    id: uuid(),
    assignment: pair.assignment,
    outcome,
    grade,
    reason,
    note,
    spans,
    made_at: new Date().toISOString(),
    guideline_revision: Number(page.dataset.revision),
    content_hash: pair.content_hash,
    seconds: clock.seconds,
  };
  outbox.add(made, { title: pair.document.title, query: pair.query.text });
  return made;
}

// About the pair on the screen: the next one is shown, or, where one looks back, what was said is
// said anew.
function label(outcome, what) {
  if (history.isOpen) {
    correct({ outcome, grade: null, reason: "", ...what });
    return;
  }
  if (training.isOpen) {
    training.goOn();
    return;
  }
  const pair = stream.current;
  if (!pair || !hasBeenSeen()) {
    refuseEarly();
    return;
  }
  const made = say(pair, outcome, { note: pair.note, spans: pair.spans, ...what });
  stream.finish(made);
  if (pair.is_training) {
    training.wait(made);
    return;
  }
  progress.count(1, clock.seconds);
  advance();
}

// A grade is for what somebody has seen: it never falls on a pair that comes the moment after.
function refuseEarly() {
  if (performance.now() - refusedAt > REPEATED) toast("No pair was on the screen, so that labelled nothing.", "warn");
  refusedAt = performance.now();
}

function later() {
  if (!stream.current || history.isOpen) return;
  if (stream.putOff()) advance();
  else toast("This is the last pair of its query.");
}

// The whole query goes, on the server as well: what this page holds of it goes to others.
async function skip(pair, { reason, words }) {
  try {
    const wish = { assignment: pair.assignment, reason, note: words };
    const response = await post(page.dataset.skipUrl, { count: 0, ...wish });
    if (!response.ok) throw new Error(String(response.status));
    await drawer.letGo(stream.drop(pair));
    if (!stream.current) advance();
    toast("Skipped. You are not asked about that query again.", "good");
  } catch {
    toast("Skipping a query needs a connection.", "warn");
  }
}

// looking back; older labels come from the server, so each step waits for the one before it

let lastStep = Promise.resolve();

function inTurn(step) {
  lastStep = lastStep.then(step).catch(() => toast("Older labels need a connection.", "warn"));
}

function undo() {
  inTurn(() => (history.isOpen ? takeBack() : stepBack({ filter: "", then: takeBack })));
}

function lookBack() {
  inTurn(() => stepBack({ filter: part("back").querySelector("select").value, then: showEntry }));
}

async function stepBack({ filter, then }) {
  if (!history.isOpen) history.choose(filter, stream.current);
  if (await history.older()) then();
  else toast(history.isOpen ? "This is the first one." : "There is nothing to go back to.");
}

function lookForward() {
  inTurn(() => {
    if (!history.isOpen) return;
    if (history.isNewest) backToWork();
    else {
      history.newer();
      showEntry();
    }
  });
}

function backToWork() {
  history.close();
  part("back").querySelector("select").value = "";
  if (stream.current) show();
  else supply.fetchMore();
  part("scroll").focus({ preventScroll: true });
}

function showEntry() {
  const { pair, said } = history.entry;
  Object.assign(pair, { note: said.note, spans: said.spans });
  showOnScreen(pair, said);
  const button = page.querySelector(`[data-grade="${said.grade}"]`);
  const grade = button ? `${said.grade} ${button.querySelector(".name").textContent}` : "";
  const words = said.outcome === "graded" ? grade : `can’t tell: ${reasonWords(said.reason)}`;
  const at = new Date(said.made_at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  part("said").textContent = [`You said ${words}`, at, said.note && `“${said.note}”`].filter(Boolean).join(" · ");
  announce(part("said").textContent);
}

// What the dialog calls it that asked why.
function reasonWords(reason) {
  const button = reason && dialog("cannot").querySelector(`button[value="${CSS.escape(reason)}"]`);
  return button ? button.firstChild.data.trim() : reason;
}

// Says what is on the screen anew, with these changes.
function correct(changes) {
  const { pair, said } = history.entry;
  const { outcome, ...what } = { ...said, ...changes };
  history.correct(say(pair, outcome, what));
  showEntry();
  announce(`Changed. ${part("said").textContent}`);
}

function takeBack() {
  const { pair, said } = history.entry;
  say(pair, "retracted");
  history.drop();
  history.close();
  stream.bringBack(pair);
  if (!pair.is_training) progress.count(-1);
  show(said);
  announce("Taken back.");
}

// the pair on the screen, whether it is to be labelled or looked back at

const onScreen = () => history.entry?.pair ?? stream.current;

function change(pair, what) {
  if (history.entry?.pair === pair) correct(what);
  else {
    Object.assign(pair, what);
    if (pair === onScreen()) showExtras(pair);
  }
}

function mark(range) {
  const pair = onScreen();
  if (!pair) return;
  const spans = spansWithSelection(pair, range);
  if (spans) change(pair, { spans });
  else toast("Select the words that decide, or find them, then mark them.");
}

function unmark(button) {
  const pair = onScreen();
  change(pair, { spans: pair.spans.filter((span) => `${span.field} ${span.start}` !== button.dataset.place) });
}

// what the buttons do

// what leads away from the pair on the screen; not while its answer is to be read
const MOVES = new Set(["undo", "later", "older", "newer", "skip", "cannot", "work"]);

const actions = {
  undo,
  later,
  older: lookBack,
  newer: lookForward,
  work: backToWork,
  note: () => onScreen() && askForNote(onScreen()),
  cannot: () => onScreen() && askWhy("cannot", onScreen()),
  skip: () => stream.current && !history.isOpen && askWhy("skip", stream.current),
  mark: () => mark(),
  unmark,
  guideline: () => dialog("guideline").showModal(),
  keys: () => dialog("keys").showModal(),
  full: readOrNot,
  find: () => finder.open(),
  "find-previous": () => finder.step(-1),
  "find-mark": () => finder.current && mark(finder.current),
  "find-close": () => finder.close(),
  terms: switchTerms,
  larger: () => resize(1),
  smaller: () => resize(-1),
  wide: widen,
  open: openAddress,
  pauses: switchPauses,
  "pause-later": () => pauses.goOn(),
  "go-on": () => training.goOn(),
  "to-top": () => { part("scroll").scrollTop = 0; },
};

page.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.grade !== undefined) {
    event.preventDefault();
    label("graded", { grade: Number(button.dataset.grade) });
  } else if (actions[button.dataset.action]) {
    event.preventDefault();
    if (training.isOpen && MOVES.has(button.dataset.action)) return;
    actions[button.dataset.action](button);
  }
  // after a press by mouse or finger the keys are the text's again: Space reads on, and gives no grade
  if (event.detail > 0 && button === document.activeElement && button.closest(".label-bar")) {
    part("scroll").focus({ preventScroll: true });
  }
});
// a button that marks must not take the selection away
page.addEventListener("pointerdown", (event) => {
  if (event.target.closest('[data-action="mark"]')) event.preventDefault();
});
part("back").querySelector("select").addEventListener("change", (event) => {
  history.choose(event.target.value, onScreen());
  lookBack();
  part("scroll").focus({ preventScroll: true });
});
part("find").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  if (event.shiftKey) finder.step(-1);
  else actions["find-mark"]();
});

function openAddress() {
  const link = part("url").querySelector("a");
  if (link) link.click();
  else toast("This document has no address to open.");
}

function readOrNot() {
  page.classList.toggle("reading");
  realign();
}

function escape() {
  if (finder.isOpen) finder.close();
  else if (page.classList.contains("reading")) readOrNot();
  else if (history.isOpen) backToWork();
  else document.getSelection().removeAllRanges();
}

prepareNote((pair, note) => change(pair, { note }));
prepareReasons("cannot", (pair, { outcome, reason, words }) => {
  if (pair !== onScreen()) return;
  const note = [pair.note, words].filter(Boolean).join("\n");
  label(outcome, note ? { reason, note } : { reason });
});
prepareReasons("skip", skip);
prepareKeys();
prepareGuideline();
listenForKeys({ undo: () => { if (!training.isOpen) undo(); }, escape });

// The first pairs are asked for at once, while the browser opens its database and finds other tabs.

async function begin() {
  const first = supply.askFirst();
  // nothing is called saved before it is known what a closed tab left behind
  outbox.waiting().then(({ length }) => saving.show({ waiting: length, state: length > 0 ? "saving" : "saved" }));
  tabs.listen({ onAsked: (tab) => supply.share(tab), onGiven: (pairs) => supply.inherit(pairs), onNews: goOn });
  page.classList.add("live");
  const alive = await tabs.alive();
  if (alive.size > 1) await tabs.ask();
  await supply.fetchMore(first);
  // what a closed tab left behind: the counts are right only once the server has it
  const isBehind = (await outbox.waiting()).length > 0;
  await outbox.send();
  if (isBehind) supply.fetchMore();
}

begin();
