// The annotator's page. The next pairs are here before they are needed, so a key press only moves
// what is in memory; labels go out through the outbox, and nothing on the page waits for them.
import { headers, post } from "./asking.js";
import { Clock } from "./clock.js";
import { askForNote, askWhy, prepareNote, prepareReasons } from "./dialogs.js";
import { makeReady, prepare, realign, seenSince, showReasons } from "./document.js";
import { Drawer } from "./drawer.js";
import { heedRevision, prepareGuideline } from "./guideline.js";
import { History, sayAnew, unsay } from "./history.js";
import { listenForKeys, prepareKeys } from "./keys.js";
import { Finder, spansWithSelection } from "./marking.js";
import { Outbox } from "./outbox.js";
import { afterPaint, announce, dialog, number, page, part, toast } from "./page.js";
import { resize, switchTerms, widen } from "./preferences.js";
import { Progress } from "./progress.js";
import { Saving } from "./saving.js";
import { Screen } from "./screen.js";
import { Stream } from "./stream.js";
import { Supply } from "./supply.js";
import { Tabs, uuid } from "./tabs.js";
import { Training } from "./training.js";

const { account, campaign, labelsUrl } = page.dataset;
const desk = `${account} ${campaign}`;
const clock = new Clock();
const stream = new Stream();
const screen = new Screen();
const finder = new Finder();
const progress = new Progress(stream);
const tabs = new Tabs(desk);
const UNREAD = 300;    // milliseconds that a pair is shown before a click or tap grades it
const REPEATED = 3000; // milliseconds; said once of what follows so closely
const GONE = "That pair is not on the screen any more, so nothing was changed.";
const SLOW = 300;      // milliseconds that one waits for older labels without being told so
let refusedAt = -Infinity;
let history = null; // while labels are reviewed
let ended = "";     // why nothing more is accepted: "closed", or "shut-out" of a person who is no longer in the campaign
const made = new Map();          // label id → {counted, entry}: what it changed in the count of done, and its place in the history
const refusedBefore = new Set(); // ids of refused labels that are no news
const training = new Training({ onGoOn: advance });
const drawer = new Drawer(desk, tabs.id);
const saving = new Saving({
  drawer,
  onSignedIn: goOn,
  onRetry: retry,
  onChange: () => tabs.tell(),
});
const supply = new Supply({
  stream,
  drawer,
  tabs,
  onOffer: (pairs) => makeReady(pairs[0]),
  onAnswer: take,
  onEnd: showEnd,
  onSilence: showOffline,
  onSignedOut: (state) => outbox.waiting().then((rows) => saving.show({ waiting: rows.length, state })),
  onShutOut: () => end("shut-out"),
});
const outbox = new Outbox({
  drawer,
  tabs,
  url: labelsUrl,
  headers,
  extras: () => supply.wish(),
  onState: (what) => {
    saving.show(what);
    if (what.state === "saved" && dialog("refused").open) saving.showRefused();
    training.heed(what.state);
  },
  onReceipts: (receipts) => training.hear(receipts),
  onAnswer: (answer) => supply.accept(answer),
  onRefused: async () => {
    await heedRefused();
    tabs.tell();
  },
  onSurplus: () => saving.surplus(),
});

// what comes from the server, or from another tab

function take(answer) {
  if (answer.is_open === false) end("closed");
  else if (answer.is_open) reopen();
  for (const pair of answer.pairs ?? []) pair.doneInQuery ??= answer.done_in_query?.[pair.assignment] ?? 0;
  // who has to qualify first was handed nothing else: what was here has gone to others
  if (answer.training) drawer.letGo(stream.keepTraining());
  if (answer.training !== undefined) training.set(answer.training);
  stream.take(answer.pairs ?? []);
  if (answer.pace) progress.begin(answer);
  const said = made.size;
  outbox.waiting().then((rows) => {
    // the server counted before what was labelled meanwhile
    if (rows.length === 0 && made.size === said && answer.progress) progress.set(answer.progress);
  });
  heedRevision(answer.guideline_revision);
  const isEmpty = screen.mode === "waiting" || screen.mode === "finished";
  if (isEmpty && stream.ahead.length > 0) advance();
  else prepare(stream.ahead);
}

async function goOn() {
  await heedRefused();
  outbox.send();
  if (supply.isLow) supply.fetchMore();
}

// What was refused before this page is no news.
const refusedOnce = saving.showRefused().then((rows) => {
  for (const { label } of rows) refusedBefore.add(label.id);
});

// What the server has refused since it was looked at last, from whichever tab: it is not done.
async function heedRefused() {
  await refusedOnce;
  const rows = await saving.showRefused();
  const news = rows.filter((row) => !refusedBefore.has(row.label.id));
  if (news.length === 0) return;
  for (const { label } of news) {
    refusedBefore.add(label.id);
    const { counted = 0, entry } = made.get(label.id) ?? {};
    progress.count(-counted);
    if (entry && !unsay(entry, label.id)) stream.forgetDone(entry);
    if (entry && entry === screen.entry) (entry.said ? showEntry : backToWork)(entry);
  }
  progress.show();
  const codes = new Set(news.map(({ refused }) => refused.code));
  if (codes.has("shut-out")) end("shut-out");
  else if (codes.has("campaign_closed")) end("closed");
  else toast(news.length === 1 ? "A label was not accepted." : `${number(news.length)} labels were not accepted.`, "warn");
  if (screen.mode === "closed") showEnded(); // with one more
  if (ended === "closed") supply.fetchMore(); // for the counts
}

function retry(rows) {
  for (const { label } of rows) {
    refusedBefore.delete(label.id);
    progress.count(made.get(label.id)?.counted ?? 0);
  }
  progress.show();
  return outbox.retry(rows); // the list stays until it is known what became of them
}

// Nothing more can be labelled: what was on the screen goes, so that no key falls on it.
function end(why) {
  if (ended === why) return;
  ended = why;
  screen.isReadOnly = true;
  callOff();
  training.drop();
  drawer.letGo(stream.empty());
  for (const name of ["cannot", "skip"]) dialog(name).close("");
  showEnded();
}

// The campaign accepts labels, as ever or again.
function reopen() {
  if (!ended) return;
  ended = "";
  screen.isReadOnly = false;
  if (screen.mode !== "closed") return;
  screen.wait();
  supply.fetchMore();
}

// showing

function advance() {
  if (stream.next()) show();
  else {
    screen.wait();
    afterPaint().then(() => progress.show());
    supply.fetchMore();
  }
  if (supply.isLow && stream.current && !outbox.sending) supply.fetchMore();
}

// former: what was said of the pair before it was undone.
function show(former = null) {
  const pair = stream.current;
  history = null;
  if (former) Object.assign(pair, { note: former.note, spans: former.spans });
  screen.label(pair, former);
  showNew(pair);
  afterPaint().then(() => {
    progress.show();
    prepare(stream.ahead);
  });
}

function showNew(pair) {
  showExtras(pair);
  finder.reset();
  clock.start();
}

function showExtras(pair) {
  showReasons(pair);
  part("note-mark").hidden = !pair.note;
}

// Nothing is there for this person now. What they look back at stays on the screen.
function showEnd({ is_open: isOpen = true, paused = "" } = {}) {
  if (!isOpen) end(ended || "closed");
  if (ended || screen.mode === "reviewing") return;
  if (paused) screen.say("finished", "Paused", paused);
  else screen.say("finished", "All done", "There is nothing left for you to label here right now. Thank you.");
  part("end-undo").hidden = stream.done.length === 0;
  progress.show();
}

function showEnded() {
  history = null;
  if (ended === "closed") screen.say("closed", "This campaign is closed", "Your labels from before it closed are kept. Nothing more is asked of you here.");
  else screen.say("closed", "You are no longer in this campaign", "It accepts no more labels from you. Ask its lead if that is a mistake.");
  part("end-refused").hidden = saving.refusedCount === 0;
  part("end-review").hidden = ended !== "closed";
  progress.show();
}

function showOffline() {
  if (ended || screen.mode === "reviewing") return;
  screen.say("waiting", "No connection", "The next pairs are not here yet. They come by themselves; what you labelled is kept.");
  progress.show();
}

// labelling

// The one place where a label is made. counted: what it changes in the count of done.
function say(pair, outcome, { grade = null, reason = "", note = "", spans = [] } = {}, counted = 0) {
  clock.settle();
  const label = {
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
  made.set(label.id, { counted: pair.is_training ? 0 : counted });
  const { title, text, url } = pair.document;
  outbox.add(label, { title: title || text.slice(0, 80) || url, query: pair.query.text, description: pair.query.description });
  return label;
}

// About the pair that is on the screen at this moment, and no other: the next one is shown, or, where
// labels are reviewed, its label is changed. press: what asked for it.
function label(outcome, what, press = "key") {
  if (screen.mode === "notice") {
    training.goOn();
    return;
  }
  const { target } = screen;
  if (!target) refuseEarly(press);
  else if (target.entry) correct(target.entry, { outcome, grade: null, reason: "", ...what });
  else finish(target.pair, outcome, what);
}

function finish(pair, outcome, what) {
  const said = say(pair, outcome, { note: pair.note, spans: pair.spans, ...what }, 1);
  made.get(said.id).entry = stream.finish(said);
  if (pair.is_training) {
    screen.notice();
    training.wait(said);
    return;
  }
  progress.count(1, clock.seconds);
  advance();
}

// A grade is for what somebody has seen: it never falls on a pair that comes the moment after.
function refuseEarly(press) {
  if (!part("end").hidden || screen.mode === "notice") return; // what is there says it
  if (screen.isReadOnly) toast("This campaign is closed, so its labels can’t be changed.", "warn");
  else if (performance.now() - refusedAt > REPEATED) toast(`Too fast: that ${press} was ignored.`, "warn");
  refusedAt = performance.now();
}

// The second click of a double click, or a tap that bounced, would label a document that nobody has
// read; so would a press that began while another one was shown. Keys that press a button (detail 0)
// are held back by their repeat alone.
let pressedAt = Infinity; // no press: assistive technology clicks without one
const isTooSoon = (event) => event.detail > 0 && (event.timeStamp - seenSince() < UNREAD || pressedAt < seenSince());

function later() {
  const { target } = screen;
  if (!target || target.entry) return;
  if (stream.putOff()) advance();
  else toast("This is the last pair of its query.");
}

// The whole query goes, on the server as well: what this page holds of it goes to others.
async function skip(pair, { reason, words }) {
  try {
    const wish = { assignment: pair.assignment, reason, note: words };
    const response = await post(page.dataset.skipUrl, { count: 0, ...wish });
    const answer = await response.json();
    if (!response.ok) {
      toast(answer.detail, "warn");
      supply.fetchMore(); // which says whether the campaign is closed
      return;
    }
    await drawer.letGo(stream.drop(pair));
    take(answer);
    if (screen.mode === "labelling" && !stream.current) advance();
    toast("Query skipped.", "good");
  } catch {
    toast("Skipping a query needs a connection.", "warn");
  }
}

// reviewing; older labels come from the server, so each step waits for the one before it. Another kind
// of step, and whatever else changes what is on the screen, calls off those that have not arrived.

const unsent = async () => (await outbox.waiting()).length;
let steps = Promise.resolve();
let stepKind = "";
let stepsSince = 0; // the number of the last calling-off
let loading = null; // the history that is asked now

// find(): what there is to show, as a function that shows it.
function step(kind, find) {
  if (kind !== stepKind) callOff();
  stepKind = kind;
  const since = stepsSince;
  const slow = setTimeout(() => { part("loading").hidden = false; }, SLOW);
  steps = steps.then(async () => {
    if (since !== stepsSince) return;
    try {
      const found = await find();
      if (since === stepsSince) found();
    } catch {
      if (since !== stepsSince) return;
      callOff();
      toast("Older labels need a connection.", "warn");
      if (!ended) supply.fetchMore(); // or a place in the campaign, which this finds out
    }
  }).finally(() => {
    clearTimeout(slow);
    if (since === stepsSince) part("loading").hidden = true;
  });
}

function olderOf(found) {
  loading = found;
  return found.older();
}

// What is on the screen stays, with the filter that it was found by.
function callOff() {
  stepsSince += 1;
  stepKind = "";
  loading?.callOff();
  part("loading").hidden = true;
  part("back").querySelector("select").value = history?.filter ?? "";
}

// The label that is reviewed, or else the latest.
function undo() {
  if (screen.mode === "reviewing") {
    callOff();
    if (screen.target) takeBack(screen.target.entry);
    else refuseEarly("key");
  } else if (!ended) {
    step("undo", async () => {
      const latest = await olderOf(new History({ stream, unsent }));
      return () => (latest ? takeBack(latest) : toast("There is no label to undo."));
    });
  }
}

function lookBack() {
  if (ended === "shut-out") return;
  step("older", async () => {
    const found = history ?? new History({ stream, unsent });
    const entry = await olderOf(found);
    return () => {
      if (entry) review(found, entry);
      else if (screen.entry) toast("This is the first one.");
      else toast(history ? "No labels match this filter." : "You have no labels here yet.");
    };
  });
}

function chooseFilter(filter) {
  callOff();
  part("back").querySelector("select").value = filter;
  const found = new History({ stream, unsent, filter, pair: screen.pair ?? history.pair });
  step("filter", async () => {
    const entry = await olderOf(found);
    return () => review(found, entry);
  });
}

function lookForward() {
  callOff();
  if (screen.mode !== "reviewing") return;
  if (history.isNewest) backToWork();
  else review(history, history.newer());
}

function backToWork() {
  history = null;
  callOff();
  if (ended) showEnded();
  else if (stream.current) show();
  else advance();
  part("scroll").focus({ preventScroll: true });
}

// entry: null where no label fits.
function review(found, entry) {
  history = found;
  history.pair = entry?.pair ?? history.pair;
  if (entry) showEntry(entry);
  else screen.review(null, history.filter);
}

function showEntry(entry) {
  const { pair, said } = entry;
  Object.assign(pair, { note: said.note, spans: said.spans });
  screen.review(entry, history.filter);
  showNew(pair);
  const button = page.querySelector(`[data-grade="${said.grade}"]`);
  const grade = button ? `${said.grade} ${button.querySelector(".name").textContent}` : "";
  const words = said.outcome === "graded" ? grade : `can’t tell: ${reasonWords(said.reason)}`;
  const at = new Date(said.made_at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  part("said").textContent = [`Your label: ${words}`, at, said.note && `“${said.note}”`].filter(Boolean).join(" · ");
  announce(part("said").textContent);
}

// What the dialog calls it that asked why.
function reasonWords(reason) {
  const button = reason && dialog("cannot").querySelector(`button[value="${CSS.escape(reason)}"]`);
  return button ? button.firstChild.data.trim() : reason;
}

// Says what is on the screen anew, with these changes.
function correct(entry, changes) {
  const { outcome, ...what } = { ...entry.said, ...changes };
  const said = say(entry.pair, outcome, what);
  made.get(said.id).entry = entry;
  sayAnew(entry, said);
  showEntry(entry);
  announce(`Changed. ${part("said").textContent}`);
}

function takeBack({ pair, said }) {
  say(pair, "retracted", {}, -1);
  stream.bringBack(pair);
  if (!pair.is_training) progress.count(-1);
  show(said);
  announce("Label undone.");
}

// the pair on the screen, whether it is to be labelled or its label is reviewed

const ask = (how) => {
  const { target } = screen;
  if (target) how(target.pair);
  else refuseEarly("key");
};

function change(pair, what) {
  const { target } = screen;
  if (target?.pair !== pair) toast(GONE, "warn");
  else if (target.entry) correct(target.entry, what);
  else {
    Object.assign(pair, what);
    showExtras(pair);
  }
}

function mark(range) {
  ask((pair) => {
    const spans = spansWithSelection(pair, range);
    if (spans) change(pair, { spans });
    else toast("Select the words that decide, or find them, then mark them.");
  });
}

function unmark(button) {
  ask((pair) => change(pair, { spans: pair.spans.filter((span) => `${span.field} ${span.start}` !== button.dataset.place) }));
}

// what the buttons do

// what leads away from the pair on the screen; not while the answer to it is to be read
const MOVES = new Set(["undo", "later", "older", "newer", "skip", "cannot", "work"]);

// what changes what is on the screen, or asks about it
const CALLS_OFF = new Set(["later", "skip", "cannot", "note", "mark", "unmark", "find-mark"]);

const actions = {
  undo,
  later,
  older: lookBack,
  newer: lookForward,
  work: backToWork,
  note: () => ask(askForNote),
  cannot: () => ask((pair) => askWhy("cannot", pair)),
  skip: () => !screen.target?.entry && ask((pair) => askWhy("skip", pair)),
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
  "go-on": () => training.goOn(),
  "to-top": () => { part("scroll").scrollTop = 0; },
};

page.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.grade !== undefined) {
    event.preventDefault();
    const isIgnored = isTooSoon(event);
    if (event.detail > 0) pressedAt = Infinity;
    callOff();
    if (isIgnored) refuseEarly("click");
    else label("graded", { grade: Number(button.dataset.grade) }, event.detail > 0 ? "click" : "key");
  } else if (actions[button.dataset.action]) {
    event.preventDefault();
    if (training.isOpen && MOVES.has(button.dataset.action)) return;
    if (CALLS_OFF.has(button.dataset.action)) callOff();
    actions[button.dataset.action](button);
  }
  // after a press by mouse or finger the keys are the text's again: Space reads on, and gives no grade
  if (event.detail > 0 && button === document.activeElement && button.closest(".label-bar")) {
    part("scroll").focus({ preventScroll: true });
  }
});
// a button that marks must not take the selection away
page.addEventListener("pointerdown", (event) => {
  pressedAt = event.timeStamp;
  if (event.target.closest('[data-action="mark"]')) event.preventDefault();
});
part("back").querySelector("select").addEventListener("change", (event) => {
  chooseFilter(event.target.value);
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
  else if (screen.mode === "reviewing") backToWork();
  else {
    callOff();
    document.getSelection().removeAllRanges();
  }
}

prepareNote((pair, note) => change(pair, { note }));
prepareReasons("cannot", (pair, { outcome, reason, words }) => {
  if (pair !== screen.target?.pair) {
    toast(GONE, "warn");
    return;
  }
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
  Promise.all([outbox.waiting(), refusedOnce]).then(([{ length }]) => saving.show({ waiting: length, state: length > 0 ? "saving" : "saved" }));
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
