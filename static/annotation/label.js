// The annotator's page. The next pairs are here before they are needed, so a key press only moves
// what is in memory; labels go out through the outbox, and nothing on the page waits for them.
import { headers, post } from "./api.js";
import { isReading, listenForPresses, openAddress, toggleReading } from "./buttons.js";
import { Clock } from "./clock.js";
import { NO_CONNECTION, NOT_IN_CAMPAIGN, REPEATED_WARNING } from "./constants.js";
import { askForNote, askWhy, prepareNote, prepareReasons } from "./dialogs.js";
import { makeReady, prepare, showReasons } from "./document.js";
import { Finder } from "./finder.js";
import { checkRevision, prepareGuideline } from "./guideline.js";
import { amend, withdraw } from "./history.js";
import { listenForKeys, prepareKeys } from "./keys.js";
import { LabelStore } from "./label-store.js";
import { spansWithSelection } from "./marking.js";
import { number } from "./numbers.js";
import { Outbox } from "./outbox.js";
import { announce, config, dialog, page, part, toast } from "./page.js";
import { afterPaint } from "./painting.js";
import { PairQueue } from "./pair-queue.js";
import { resize, switchTerms, widen } from "./preferences.js";
import { Progress } from "./progress.js";
import { Review } from "./review.js";
import { Saving } from "./saving.js";
import { Screen } from "./screen.js";
import { placeOf } from "./spans.js";
import { showProgress } from "./status.js";
import { Supply } from "./supply.js";
import { Tabs, uuid } from "./tabs.js";
import { Training } from "./training.js";

/** @import { Why } from "./dialogs.js" */
/** @import { Answer, Content, Entry, HeldLabel, Label, Outcome, Pair, Press, Row } from "./types.js" */

const GONE = "That pair is not on the screen any more, so nothing was changed.";
const desk = `${config.account} ${config.campaign}`;
const clock = new Clock();
const queue = new PairQueue();
const screen = new Screen();
const finder = new Finder();
const progress = new Progress(queue, showProgress);
const tabs = new Tabs(desk);
let warnedAt = -Infinity;
/** @type {"" | "closed" | "shut-out"} why nothing more is accepted; shut-out: no longer in the campaign */
let ended = "";
/**
 * By label id, what a label changed in the count of done, and its entry in the history.
 * @type {Map<string, { counted: number, entry?: Entry }>}
 */
const made = new Map();
/** @type {Set<string>} ids of refused labels that are no news */
const refusedBefore = new Set();
const training = new Training({ onGoOn: advance });
const store = new LabelStore(desk, tabs.id);
const review = new Review({
  queue,
  screen,
  unsent: async () => (await outbox.waiting()).length,
  ended: () => ended,
  onUndo: retract,
  onShown: showNew,
  onLeave: backToLabelling,
  onOffline: () => {
    if (!ended) supply.fetchMore(); // this person may no longer be in the campaign, which this finds out
  },
  onNoTarget: () => warnEarly("key"),
});
const saving = new Saving({ store, onSignedIn: resume, onRetry: retry, onChange: () => tabs.notify() });
const supply = new Supply({
  queue,
  store,
  tabs,
  onOffer: (pairs) => makeReady(pairs[0]),
  onAnswer: take,
  onEnd: showEnd,
  onOffline: showOffline,
  onSignedOut: (state) => outbox.waiting().then((rows) => saving.show({ waiting: rows.length, state })),
  onShutOut: () => end("shut-out"),
});
const outbox = new Outbox({
  store,
  tabs,
  url: config.labelsUrl,
  headers,
  wish: () => supply.wish(),
  onState: (report) => {
    saving.show(report);
    if (report.state === "saved" && dialog("refused").open) saving.showRefused();
    training.onSendState(report.state);
  },
  onReceipts: (receipts) => training.receive(receipts),
  onAnswer: (answer) => supply.accept(answer),
  onRefused: async () => {
    await checkRefused();
    tabs.notify();
  },
  onSurplus: () => saving.surplus(),
});

// what comes from the server, or from another tab

/** @param {Answer} answer */
function take(answer) {
  const pairs = answer.pairs ?? [];
  if (answer.is_open === false) end("closed");
  else if (answer.is_open) reopen();
  for (const pair of pairs) pair.doneInQuery ??= answer.done_in_query?.[pair.assignment] ?? 0;
  // whoever has to qualify first was handed nothing else: what was here has gone to others
  if (answer.training) store.release(queue.keepTraining());
  if (answer.training !== undefined) training.set(answer.training);
  queue.add(pairs);
  if (answer.pace) progress.begin(answer);
  const madeBefore = made.size;
  outbox.waiting().then((rows) => {
    // the server counted before what was labelled meanwhile
    if (rows.length === 0 && made.size === madeBefore && answer.progress) progress.set(answer.progress);
  });
  checkRevision(answer.guideline_revision);
  const isEmpty = screen.mode === "waiting" || screen.mode === "finished";
  if (isEmpty && queue.ahead.length > 0) advance();
  else prepare(queue.ahead);
}

async function resume() {
  await checkRefused();
  outbox.send();
  if (supply.isLow) supply.fetchMore();
}

// What was refused before this page is no news.
const refusedOnce = saving.showRefused().then((rows) => {
  for (const { label } of rows) refusedBefore.add(label.id);
});

/** Shows what the server has refused since the last look, from whichever tab: it is not done. */
async function checkRefused() {
  await refusedOnce;
  const rows = await saving.showRefused();
  const news = rows.filter((row) => !refusedBefore.has(row.label.id));
  if (news.length === 0) return;
  for (const { label } of news) {
    refusedBefore.add(label.id);
    const { counted = 0, entry } = made.get(label.id) ?? {};
    progress.count(-counted);
    if (!entry) continue;
    const isLeft = withdraw(entry, label.id);
    if (!isLeft) queue.forgetDone(entry);
    if (entry !== screen.entry) continue;
    if (isLeft) review.show(entry);
    else review.leave();
  }
  progress.show();
  const codes = new Set(news.map(({ refused }) => (typeof refused === "object" ? refused?.code : undefined)));
  if (codes.has("shut-out")) end("shut-out");
  else if (codes.has("campaign_closed")) end("closed");
  else if (news.length === 1) toast("A label was not accepted.", "warn");
  else toast(`${number(news.length)} labels were not accepted.`, "warn");
  if (screen.mode === "closed") showEnded(); // with one more
  if (ended === "closed") supply.fetchMore(); // for the counts
}

/** @param {Row[]} rows */
function retry(rows) {
  for (const { label } of rows) {
    refusedBefore.delete(label.id);
    progress.count(made.get(label.id)?.counted ?? 0);
  }
  progress.show();
  outbox.retry(rows); // the list stays until it is known what became of them
}

/**
 * Nothing more can be labelled: what was on the screen goes, so that no key falls on it.
 * @param {"closed" | "shut-out"} why
 */
function end(why) {
  if (ended === why) return;
  ended = why;
  screen.isReadOnly = true;
  review.callOff();
  training.drop();
  store.release(queue.empty());
  dialog("cannot").close("");
  dialog("skip").close("");
  showEnded();
}

/** The campaign accepts labels, as ever or again. */
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
  const pair = queue.next();
  if (pair) show(pair);
  else {
    screen.wait();
    afterPaint().then(() => progress.show());
    supply.fetchMore();
  }
  if (supply.isLow && pair && !outbox.sending) supply.fetchMore();
}

/**
 * @param {Pair} pair
 * @param {HeldLabel | null} former what was said of it before it was undone
 */
function show(pair, former = null) {
  review.end();
  if (former) Object.assign(pair, { note: former.note, spans: former.spans });
  screen.label(pair, former);
  showNew(pair);
  afterPaint().then(() => {
    progress.show();
    prepare(queue.ahead);
  });
}

/** @param {Pair} pair */
function showNew(pair) {
  showExtras(pair);
  finder.reset();
  clock.start();
}

/** @param {Pair} pair */
function showExtras(pair) {
  showReasons(pair);
  part("note-mark").hidden = !pair.note;
}

/**
 * There is nothing for this person now. The older labels that they look at stay on the screen.
 * @param {Answer} answer
 */
function showEnd({ is_open: isOpen = true, paused = "" }) {
  if (!isOpen) end(ended || "closed");
  if (ended || screen.mode === "reviewing") return;
  if (paused) screen.say("finished", "Paused", paused);
  else
    screen.say("finished", "All done", "There is nothing left for you to label here right now. Thank you.");
  part("end-undo").hidden = queue.done.length === 0;
  progress.show();
}

function showEnded() {
  review.end();
  if (ended === "closed") {
    const words = "Your labels from before it closed are kept. Nothing more is asked of you here.";
    screen.say("closed", "This campaign is closed", words);
  } else {
    const words = "It accepts no more labels from you. Ask its lead if that is a mistake.";
    screen.say("closed", NOT_IN_CAMPAIGN, words);
  }
  part("end-refused").hidden = saving.refusedCount === 0;
  part("end-review").hidden = ended !== "closed";
  progress.show();
}

function showOffline() {
  if (ended || screen.mode === "reviewing") return;
  const words = "The next pairs are not here yet. They come by themselves; what you labelled is kept.";
  screen.say("waiting", NO_CONNECTION, words);
  progress.show();
}

function backToLabelling() {
  if (ended) showEnded();
  else if (queue.current) show(queue.current);
  else advance();
}

// labelling

/**
 * The one place where a label is made.
 * @param {Pair} pair
 * @param {Partial<Content> & { outcome: Outcome }} content
 * @param {number} counted what it changes in the count of done
 */
function makeLabel(pair, { outcome, grade = null, reason = "", note = "", spans = [] }, counted = 0) {
  clock.settle();
  /** @type {Label} */
  const label = {
    id: uuid(),
    assignment: pair.assignment,
    outcome,
    grade,
    reason,
    note,
    spans,
    made_at: new Date().toISOString(),
    guideline_revision: Number(config.revision),
    content_hash: pair.content_hash,
    seconds: clock.seconds,
  };
  made.set(label.id, { counted: pair.is_training ? 0 : counted });
  const { title, text, url } = pair.document;
  const about = { title: title || text.slice(0, 80) || url };
  outbox.add(label, { ...about, query: pair.query.text, description: pair.query.description });
  return label;
}

/**
 * Labels the pair that is on the screen at this moment, and no other: the next one is shown, or, where
 * labels are reviewed, its label is changed.
 * @param {Partial<Content> & { outcome: Outcome }} content
 * @param {Press} press
 */
function label(content, press = "key") {
  if (screen.mode === "notice") {
    training.goOn();
    return;
  }
  const { target } = screen;
  if (!target) warnEarly(press);
  else if (target.entry) correct(target.entry, { grade: null, reason: "", ...content });
  else finish(target.pair, content);
}

/**
 * @param {Pair} pair
 * @param {Partial<Content> & { outcome: Outcome }} content
 */
function finish(pair, content) {
  const { note = "", spans = [] } = pair;
  const label = makeLabel(pair, { note, spans, ...content }, 1);
  remember(label, queue.finish(pair, label));
  if (pair.is_training) {
    screen.notice();
    training.wait(label);
    return;
  }
  progress.count(1, clock.seconds);
  advance();
}

/**
 * @param {Label} label
 * @param {Entry} entry
 */
function remember({ id }, entry) {
  made.set(id, { counted: 0, ...made.get(id), entry });
}

/**
 * A grade is for what has been seen: it never falls on a pair that comes the moment after.
 * @param {Press} press
 */
function warnEarly(press) {
  if (!part("end").hidden || screen.mode === "notice") return; // what is there says it
  if (screen.isReadOnly) toast("This campaign is closed, so its labels can’t be changed.", "warn");
  else if (performance.now() - warnedAt > REPEATED_WARNING) {
    toast(`Too fast: that ${press} was ignored.`, "warn");
  }
  warnedAt = performance.now();
}

function later() {
  const { target } = screen;
  if (!target || target.entry) return;
  if (queue.postpone()) advance();
  else toast("This is the last pair of its query.");
}

/**
 * The whole query goes, on the server as well: what this page holds of it goes to others.
 * @param {Pair} pair
 * @param {Why} why
 */
async function skip(pair, { reason, words }) {
  try {
    const wish = { count: 0, assignment: pair.assignment, reason, note: words };
    const response = await post(config.skipUrl, wish);
    const answer = await response.json();
    if (!response.ok) {
      toast(answer.detail, "warn");
      supply.fetchMore(); // which says whether the campaign is closed
      return;
    }
    await store.release(queue.drop(pair));
    take(answer);
    if (screen.mode === "labelling" && !queue.current) advance();
    toast("Query skipped.", "good");
  } catch {
    toast("Skipping a query needs a connection.", "warn");
  }
}

/**
 * Corrects a label by another one, with these changes.
 * @param {Entry} entry
 * @param {Partial<Content>} changes
 */
function correct(entry, changes) {
  const label = makeLabel(entry.pair, { ...entry.label, ...changes });
  remember(label, entry);
  amend(entry, label);
  review.show(entry);
  announce(`Changed. ${part("said").textContent}`);
}

/** @param {Entry} entry */
function retract({ pair, label }) {
  makeLabel(pair, { outcome: "retracted" }, -1);
  queue.bringBack(pair);
  if (!pair.is_training) progress.count(-1);
  show(pair, label);
  announce("Label undone.");
}

// the pair on the screen, whether it is to be labelled or its label is reviewed

/** @param {(pair: Pair) => void} ask */
function withTarget(ask) {
  const { target } = screen;
  if (target) ask(target.pair);
  else warnEarly("key");
}

/**
 * @param {Pair} pair
 * @param {Partial<Content>} changes
 */
function change(pair, changes) {
  const { target } = screen;
  if (target?.pair !== pair) toast(GONE, "warn");
  else if (target.entry) correct(target.entry, changes);
  else {
    Object.assign(pair, changes);
    showExtras(pair);
  }
}

/** @param {Range} [range] what is selected, where it is not given */
function mark(range) {
  withTarget((pair) => {
    const spans = spansWithSelection(pair, range);
    if (spans) change(pair, { spans });
    else toast("Select the words that decide, or find them, then mark them.");
  });
}

/** @param {HTMLElement} button */
function unmark(button) {
  withTarget((pair) => {
    change(pair, { spans: (pair.spans ?? []).filter((span) => placeOf(span) !== button.dataset.place) });
  });
}

function closeOrLeave() {
  if (finder.isOpen) finder.close();
  else if (isReading()) toggleReading();
  else if (screen.mode === "reviewing") review.leave();
  else {
    review.callOff();
    document.getSelection()?.removeAllRanges();
  }
}

listenForPresses({
  actions: {
    undo: () => review.undo(),
    later,
    older: () => review.older(),
    newer: () => review.newer(),
    work: () => review.leave(),
    note: () => withTarget(askForNote),
    cannot: () => withTarget((pair) => askWhy("cannot", pair)),
    skip: () => {
      if (!screen.target?.entry) withTarget((pair) => askWhy("skip", pair));
    },
    mark: () => mark(),
    unmark,
    guideline: () => dialog("guideline").showModal(),
    keys: () => dialog("keys").showModal(),
    full: toggleReading,
    find: () => finder.open(),
    "find-previous": () => finder.step(-1),
    "find-mark": () => {
      if (finder.current) mark(finder.current);
    },
    "find-close": () => finder.close(),
    terms: switchTerms,
    larger: () => resize(1),
    smaller: () => resize(-1),
    wide: widen,
    open: openAddress,
    "go-on": () => training.goOn(),
    "to-top": () => {
      part("scroll").scrollTop = 0;
    },
  },
  onGrade: (grade, press) => label({ outcome: "graded", grade }, press),
  onTooSoon: () => warnEarly("click"),
  onCallOff: () => review.callOff(),
  isAnswerOpen: () => training.isOpen,
  onFilter: (filter) => review.filter(filter),
  onFindStep: (by) => finder.step(by),
});
listenForKeys({
  onUndo: () => {
    if (!training.isOpen) review.undo();
  },
  onEscape: closeOrLeave,
});
prepareNote((pair, note) => change(pair, { note }));
prepareReasons("cannot", (pair, { outcome, reason, words }) => {
  if (pair !== screen.target?.pair) {
    toast(GONE, "warn");
    return;
  }
  const note = [pair.note, words].filter(Boolean).join("\n");
  label(note ? { outcome, reason, note } : { outcome, reason });
});
prepareReasons("skip", skip);
prepareKeys();
prepareGuideline();

/** The first pairs are asked for at once, while the browser opens its database and finds other tabs. */
async function begin() {
  const first = supply.requestFirst();
  // nothing is called saved before it is known what a closed tab left behind
  Promise.all([outbox.waiting(), refusedOnce]).then(([{ length }]) => {
    saving.show({ waiting: length, state: length > 0 ? "saving" : "saved" });
  });
  tabs.listen({
    onAsked: (tab) => supply.share(tab),
    onGiven: (pairs) => supply.inherit(pairs),
    onNews: resume,
  });
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
