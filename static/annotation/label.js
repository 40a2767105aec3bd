// The annotator's page. The next pairs are here before they are needed, so a key press only moves
// what is in memory; labels go out through the outbox, and nothing on the page waits for them. What is
// shown is the state in page-state.js; this joins it with the server, the browser's store and the keys.
import { headers } from "./api.js";
import { isReading, listenForPresses, openAddress, toggleReading } from "./buttons.js";
import { Clock } from "./clock.js";
import { REPEATED_WARNING } from "./constants.js";
import { askForNote, askWhy, prepareNote, prepareReasons } from "./dialogs.js";
import { makeReady, prepare, showReasons } from "./document.js";
import { Finder } from "./finder.js";
import { checkRevision, meetGuideline, prepareGuideline } from "./guideline.js";
import { listenForKeys, prepareKeys } from "./keys.js";
import { LabelStore } from "./label-store.js";
import { spansWithSelection } from "./marking.js";
import { askLead, openNews, showNews } from "./news.js";
import { number } from "./numbers.js";
import { Outbox } from "./outbox.js";
import { OwnLabels } from "./own-labels.js";
import { announce, config, dialog, page, part, toast } from "./page.js";
import { isEmpty } from "./page-state.js";
import { afterPaint } from "./painting.js";
import { PairQueue } from "./pair-queue.js";
import { resize, switchTerms, widen } from "./preferences.js";
import { Progress } from "./progress.js";
import { QueryList } from "./query-list.js";
import { showRecent } from "./recent.js";
import { Review } from "./review.js";
import { Saving } from "./saving.js";
import { Screen } from "./screen.js";
import { skipQuery } from "./skipping.js";
import { placeOf } from "./spans.js";
import { showProgress } from "./status.js";
import { Supply } from "./supply.js";
import { Tabs } from "./tabs.js";
import { format, gettext, ngettext } from "./texts.js";
import { Training } from "./training.js";

/** @import { Ignored, Made, Said } from "./page-state.js" */
/** @import { Answer, Content, Entry, Pair, Press, Row, SendReport } from "./types.js" */

const desk = `${config.account} ${config.campaign}`;
const clock = new Clock();
const queue = new PairQueue();
const finder = new Finder();
const progress = new Progress(queue, showProgress);
const tabs = new Tabs(desk);
let warnedAt = -Infinity;
const screen = new Screen({
  onMade,
  onShown,
  onChosen,
  onSaving: (report) => saving.show(report),
  summary: () => labels.summary(),
});
const training = new Training({ onGoOn: advance });
const store = new LabelStore(desk);
const review = new Review({
  queue,
  screen,
  unsent: () => outbox.unsent(),
  onUndo: undo,
  onLeave: backToLabelling,
  onOffline: () => {
    if (!screen.state.ended) supply.fetchMore(); // this person may no longer be in the campaign, which this finds out
  },
});
const saving = new Saving({
  store,
  onSignedIn: resume,
  onRetry: retry,
  onChange: () => tabs.notify(),
  onRefused: (count) => screen.dispatch({ type: "refused", count }),
  onLineLost: () => screen.dispatch({ type: "line-lost" }),
});
const supply = new Supply({
  queue,
  store,
  tabs,
  onOffer: (pairs) => makeReady(pairs[0]),
  onAnswer: take,
  onEnd: ({ is_open: isOpen = true, paused = "" }) => {
    if (!isOpen) end(screen.state.ended || "closed");
    screen.dispatch({ type: "finished", paused });
    progress.show();
  },
  onOffline: () => {
    screen.dispatch({ type: "offline" });
    progress.show();
  },
  onSignedOut: (state) => outbox.waiting().then(({ length }) => onSendState({ waiting: length, state })),
  unwritten: () => outbox.unwritten,
  waiting: () => outbox.waiting(),
  onShutOut: () => end("shut-out"),
});
const outbox = new Outbox({
  store,
  tabs,
  url: config.labelsUrl,
  headers,
  onState: (report) => {
    onSendState(report);
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
const list = new QueryList({
  queue,
  screen,
  historyOf: (pair) => review.historyOf(pair),
  onLeave: backToLabelling,
});
const labels = new OwnLabels({ clock, outbox, progress, queue });

/** @param {SendReport} report */
function onSendState({ waiting, state, refused }) {
  if (refused !== undefined) screen.dispatch({ type: "refused", count: refused });
  screen.dispatch({ type: "sending", state, unsaved: waiting });
}

// what comes from the server, or from another tab

/** @param {Answer} answer */
function take(answer) {
  const pairs = answer.pairs ?? [];
  if (answer.is_open === false) end("closed");
  else if (answer.is_open) reopen();
  for (const pair of pairs) pair.doneInQuery ??= answer.done_in_query?.[pair.assignment] ?? 0;
  // whoever has to qualify first was handed nothing else: what was here has gone to others
  if (answer.training) queue.keepTraining();
  if (answer.training !== undefined) training.set(answer.training);
  queue.add(pairs);
  if (answer.pace) progress.begin(answer);
  if (answer.pace && answer.progress?.done === 0 && pairs.length > 0) meetGuideline(() => clock.start());
  const madeBefore = labels.count;
  outbox.waiting().then((rows) => {
    // the server counted before what was labelled meanwhile
    if (rows.length === 0 && labels.count === madeBefore && answer.progress) progress.set(answer.progress);
  });
  checkRevision(answer.guideline_revision);
  if (answer.news !== undefined) showNews(answer.news);
  if (isEmpty(screen.state) && queue.ahead.length > 0) advance();
  else prepare(queue.ahead);
}

async function resume() {
  await checkRefused();
  outbox.send();
  if (supply.isLow) supply.fetchMore();
}

// What was refused before this page is no news.
const refusedOnce = saving.showRefused().then((rows) => labels.knowRefused(rows));

/** Shows what the server has refused since the last look, from whichever tab: it is not done. */
async function checkRefused() {
  await refusedOnce;
  const { news, changed } = labels.withdrawRefused(await saving.showRefused());
  if (news.length === 0) return;
  for (const { entry, isLeft } of changed) {
    if (entry !== screen.state.entry) continue;
    if (isLeft) review.show(entry);
    else review.leave();
  }
  showRecent(queue.done);
  const codes = new Set(news.map(({ refused }) => (typeof refused === "object" ? refused?.code : undefined)));
  if (codes.has("shut-out")) end("shut-out");
  else if (codes.has("campaign_closed")) end("closed");
  else {
    const text = ngettext(
      "{count} label was not accepted.",
      "{count} labels were not accepted.",
      news.length,
    );
    toast(format(text, { count: number(news.length) }), "warn");
  }
  progress.show();
  if (screen.state.ended === "closed") supply.fetchMore(); // for the counts
}

/** @param {Row[]} rows */
function retry(rows) {
  labels.countAgain(rows);
  progress.show();
  outbox.retry(rows); // the list stays until it is known what became of them
}

/**
 * Nothing more can be labelled: what was on the screen goes, so that no key falls on it.
 * @param {"closed" | "shut-out"} why
 */
function end(why) {
  if (screen.state.ended === why) return;
  putAway();
  screen.dispatch({ type: "ended", why });
  progress.show();
}

function putAway() {
  review.end();
  review.callOff();
  training.drop();
  queue.empty();
  for (const name of /** @type {const} */ (["cannot", "skip", "note"])) dialog(name).close("");
}

/** The campaign accepts labels, as ever or again. */
function reopen() {
  if (!screen.state.ended) return;
  screen.dispatch({ type: "reopened" });
  if (!tabs.isMine) screen.dispatch({ type: "elsewhere" });
  else if (screen.mode === "waiting") supply.fetchMore();
}

// showing

function advance() {
  review.end();
  const pair = queue.next();
  screen.dispatch(pair ? { type: "show", pair } : { type: "empty" });
  afterAdvance();
}

/** What is to be done once another pair is on the screen, or none. */
function afterAdvance() {
  const { current } = queue;
  afterPaint().then(() => {
    progress.show();
    showRecent(queue.done);
    if (current) prepare(queue.ahead);
  });
  if (!current || supply.isLow) supply.fetchMore();
}

/** @param {Pair} pair */
function onShown(pair) {
  showExtras(pair);
  finder.reset();
  clock.start();
}

/** @param {Pair} pair a row of the list of its query */
function onChosen(pair) {
  part("note-mark").hidden = !pair.note;
  clock.start();
}

/** @param {Pair} pair */
function showExtras(pair) {
  showReasons(pair);
  part("note-mark").hidden = !pair.note;
}

function backToLabelling() {
  const { ended } = screen.state;
  if (ended) screen.dispatch({ type: "ended", why: ended });
  else if (queue.current) screen.dispatch({ type: "show", pair: queue.current });
  else advance();
  progress.show();
}

// labelling

/** @param {Made} made */
function onMade(made) {
  if (made.kind === "correction") labels.correct(made.entry, made.said);
  else if (made.kind === "undo") {
    const { pair, label } = made.entry;
    Object.assign(pair, { note: label.note, spans: label.spans });
    labels.undo(made.entry);
  } else {
    const label = labels.finish(made.pair, made.said);
    if (made.pair.is_training) training.wait(label);
    else queue.pass(made.pair);
  }
}

/**
 * Labels the pair that is on the screen at this moment, and no other: the next one is shown, or, where
 * labels are reviewed, its label is changed.
 * @param {Said} said
 * @param {Press} by
 * @param {Pair | null} only the pair that is meant, where the press did not come from the screen itself
 */
function label(said, by = "key", only = null) {
  if (screen.mode === "notice") {
    training.goOn();
    return;
  }
  const next = queue.ahead[0] ?? null;
  const { made, ignored } = screen.dispatch({ type: "press", said, next, ...(only && { pair: only }) });
  if (made?.kind === "label") {
    review.end();
    list.goOn(made.pair);
    if (!made.pair.is_training) afterAdvance();
  } else showCorrection(made);
  warn(ignored, by);
}

/** @param {Made | null} made */
function showCorrection(made) {
  if (made?.kind !== "correction") return;
  showRecent(queue.done);
  if (screen.mode === "query") {
    list.goOn(made.entry.pair);
    return;
  }
  review.show(made.entry);
  announce(`${gettext("Changed.")} ${part("said").textContent}`);
}

/** @type {Record<Press, string>} */
const TOO_FAST = {
  key: gettext("Too fast: that key was ignored."),
  click: gettext("Too fast: that click was ignored."),
};

/**
 * Why a press did nothing. A grade is for what has been seen: it never falls on a pair that comes the
 * moment after.
 * @param {Ignored} ignored
 * @param {Press} by
 */
function warn(ignored, by = "key") {
  if (ignored === "gone")
    toast(gettext("That pair is no longer on the screen. Nothing was changed."), "warn");
  if (ignored === "read-only") {
    toast(gettext("This campaign is closed. Its labels can’t be changed."), "warn");
  }
  if (ignored !== "early") return;
  if (performance.now() - warnedAt > REPEATED_WARNING) toast(TOO_FAST[by], "warn");
  warnedAt = performance.now();
}

function later() {
  const { target } = screen;
  if (!target || target.entry) return;
  if (queue.postpone()) advance();
  else toast(gettext("This is the last pair of its query."));
}

/** @param {Answer} answer to a skip; the query's pairs are not here any more */
function goOnWithout(answer) {
  take(answer);
  if (screen.mode === "query") list.leave();
  else if (screen.mode === "labelling" && !queue.current) advance();
}

/** @param {Entry} [entry] where it is not the label that is reviewed */
function undo(entry) {
  const { made, ignored } = screen.dispatch({ type: "undo", ...(entry && { entry }) });
  if (made) {
    review.end();
    afterAdvance();
  }
  warn(ignored);
}

// the pair on the screen, whether it is to be labelled or its label is reviewed

/** @param {(pair: Pair) => void} ask */
function withTarget(ask) {
  const { target } = screen;
  if (target) ask(target.pair);
  else warn(screen.dispatch({ type: "ask" }).ignored);
}

/**
 * @param {Pair} pair
 * @param {Partial<Content>} changes
 */
function change(pair, changes) {
  const { made, ignored } = screen.dispatch({ type: "change", pair, said: changes });
  if (!made && !ignored) {
    Object.assign(pair, changes);
    if (screen.mode === "query") onChosen(pair);
    else showExtras(pair);
  }
  showCorrection(made);
  warn(ignored);
}

/** @param {Range} [range] what is selected, where it is not given */
function mark(range) {
  withTarget((pair) => {
    const spans = spansWithSelection(pair, range);
    if (spans) change(pair, { spans });
    else toast(gettext("Select or find the evidence first."));
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
  else if (screen.mode === "query") list.leave();
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
    ask: () => withTarget(askLead),
    news: openNews,
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
    here: () => tabs.take(),
    reopen: (button) => {
      const entry = queue.done.find(({ pair }) => pair.assignment === button.dataset.assignment);
      if (entry) review.open(entry);
    },
    list: () => list.toggle(),
    grid: () => list.switchGrid(),
    "to-top": () => {
      part("scroll").scrollTop = 0;
    },
  },
  onGrade: (grade, press) => label({ outcome: "graded", grade }, press),
  onTooSoon: () => warn(screen.dispatch({ type: "ask" }).ignored || "early", "click"),
  onCallOff: () => review.callOff(),
  isAnswerOpen: () => training.isOpen,
  seenSince: () => screen.seenSince,
  isListOpen: () => screen.mode === "query",
  onFilter: (filter) => review.filter(filter),
  onFindStep: (by) => finder.step(by),
});
listenForKeys({
  onUndo: () => {
    if (!training.isOpen) review.undo();
  },
  onEscape: closeOrLeave,
});
prepareNote((pair, note) => change(pair, { note }), askLead);
prepareReasons("cannot", (pair, { outcome, reason, words }) => {
  const note = [pair.note, words].filter(Boolean).join("\n");
  label(note ? { outcome, reason, note } : { outcome, reason }, "key", pair);
});
prepareReasons("skip", (pair, why) => skipQuery(pair, why, { queue, supply, onSkipped: goOnWithout }));
prepareKeys();
prepareGuideline();

/** The first pairs are asked for at once, while the browser opens its database and finds other tabs. */
async function begin() {
  /** @type {Promise<Response> | null} */
  let first = supply.requestFirst();
  // nothing is called saved before it is known what a closed tab left behind
  Promise.all([outbox.waiting(), refusedOnce]).then(([{ length }]) => {
    onSendState({ waiting: length, state: length > 0 ? "saving" : "saved" });
  });
  page.classList.add("live");
  await new Promise((resolve) => {
    tabs.listen({
      onTurn: () => {
        screen.dispatch({ type: "here" });
        supply.fetchMore(first).then(resolve);
        first = null;
      },
      onElsewhere: () => {
        first = null;
        putAway();
        screen.dispatch({ type: "elsewhere" });
        resolve(null);
      },
      onNews: resume,
      onBye: (assignments) => queue.leaveOut(assignments),
    });
  });
  // what a closed tab left behind: the counts are right only once the server has it
  const isBehind = (await outbox.waiting()).length > 0;
  await outbox.send();
  if (isBehind) supply.fetchMore();
  review.openNamed();
}

begin();
