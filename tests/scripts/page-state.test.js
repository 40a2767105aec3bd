import assert from "node:assert/strict";
import { test } from "node:test";
import { OPENING, reduce, savingOf, targetOf } from "../../static/annotation/page-state.js";
import { entry, numbersFrom, pair } from "./builders.js";

/** @import { PageEvent, PageState } from "../../static/annotation/page-state.js" */
/** @import { Entry, Pair, SendState } from "../../static/annotation/types.js" */

/**
 * The state after these events.
 * @param {PageEvent[]} events
 */
const after = (...events) => events.reduce(reduce, OPENING);

/** @type {{ outcome: "graded", grade: number }} */
const THREE = { outcome: "graded", grade: 3 };

/**
 * A grade that comes before this pair.
 * @param {Pair | null} next
 * @returns {PageEvent}
 */
const grade = (next = null) => ({ type: "press", said: THREE, next });

/**
 * Shown and painted.
 * @param {Pair} shown
 * @returns {PageEvent[]}
 */
const seen = (shown) => [
  { type: "show", pair: shown },
  { type: "painted", pair: shown },
];

test("a grade before a pair is painted labels nothing", () => {
  const [first, second] = [pair("a"), pair("b")];
  const early = after({ type: "show", pair: first }, grade(second));
  assert.equal(early.made, null);
  assert.equal(early.ignored, "early");
  assert.equal(early.pair, first);
});

test("a grade is for the pair that is shown, and the next one is shown, not yet seen", () => {
  const [first, second] = [pair("a"), pair("b")];
  const graded = after(...seen(first), grade(second));
  assert.deepEqual(graded.made, { kind: "label", pair: first, said: THREE });
  assert.equal(graded.pair, second);
  assert.equal(targetOf(graded), null);
  assert.equal(reduce(graded, { type: "painted", pair: first }).isSeen, false);
  assert.equal(targetOf(reduce(graded, { type: "painted", pair: second }))?.pair, second);
});

test("the last pair leaves a page that waits, and what the server says comes then", () => {
  const last = after(...seen(pair("a")), grade());
  assert.equal(last.mode, "waiting");
  assert.equal(reduce(last, { type: "finished", paused: "" }).mode, "finished");
  assert.equal(reduce(last, { type: "offline" }).mode, "waiting");
  const out = reduce(last, { type: "sending", state: "signed-out", unsaved: 1 });
  assert.equal(reduce(out, { type: "offline" }).mode, "signed-out");
});

test("that there are no more pairs takes none from the screen", () => {
  const first = pair("a");
  for (const type of /** @type {const} */ (["finished", "offline"])) {
    const told = after(...seen(first), { type, paused: "" });
    assert.equal(targetOf(told)?.pair, first);
  }
});

test("signed out with leased pairs, labelling goes on", () => {
  const first = pair("a");
  const out = after(...seen(first), { type: "sending", state: "signed-out", unsaved: 2 }, grade(pair("b")));
  assert.deepEqual(out.made, { kind: "label", pair: first, said: THREE });
  assert.equal(out.unsaved, 3);
});

test("a training pair stays until its answer has been read", () => {
  const first = pair("a", { is_training: true });
  const notice = after(...seen(first), grade(pair("b")));
  assert.equal(notice.mode, "notice");
  assert.equal(notice.pair, first);
  const again = reduce(notice, grade(pair("b")));
  assert.equal(again.made, null);
  assert.equal(again.ignored, "said");
});

test("a grade while a label is reviewed corrects it; a filter without hits takes none", () => {
  const first = pair("a");
  const own = entry(first);
  const review = after({ type: "review", entry: own, filter: "" }, { type: "painted", pair: first });
  assert.deepEqual(reduce(review, grade(pair("b"))).made, {
    kind: "correction",
    entry: own,
    said: { ...THREE, reason: "" },
  });
  const none = reduce(review, { type: "review", entry: null, filter: "noted=true" });
  assert.equal(none.filter, "noted=true");
  assert.equal(reduce(none, grade()).made, null);
});

test("in the list of a query a grade goes to the chosen row, once, and a labelled one is corrected", () => {
  const [first, second] = [pair("a"), pair("b")];
  const own = entry(second);
  const chosen = after(...seen(pair("c")), { type: "choose", pair: first, entry: null });
  assert.equal(reduce(chosen, grade()).ignored, "early");
  const graded = reduce(reduce(chosen, { type: "painted", pair: first }), grade(second));
  assert.deepEqual(graded.made, { kind: "label", pair: first, said: THREE });
  assert.equal(graded.mode, "query");
  assert.equal(graded.pair, null);
  assert.equal(reduce(reduce(graded, { type: "painted", pair: first }), grade()).made, null);
  const labelled = [
    /** @type {PageEvent} */ ({ type: "choose", pair: second, entry: own }),
    /** @type {PageEvent} */ ({ type: "painted", pair: second }),
    grade(),
  ].reduce(reduce, graded);
  assert.equal(labelled.made?.kind, "correction");
  assert.equal(labelled.mode, "query");
  assert.equal(reduce(labelled, { type: "elsewhere" }).mode, "elsewhere");
});

test("a reason is for the pair that it was asked about, or for none", () => {
  const [first, second] = [pair("a"), pair("b")];
  const gone = after(...seen(second), {
    type: "press",
    said: { outcome: "unsure", reason: "unclear" },
    next: null,
    pair: first,
  });
  assert.equal(gone.made, null);
  assert.equal(gone.ignored, "gone");
});

test("undo shows the pair with what was said of it", () => {
  const own = entry(pair("a"), { grade: 4 });
  const undone = after(...seen(pair("b")), { type: "undo", entry: own });
  assert.deepEqual(undone.made, { kind: "undo", entry: own });
  assert.equal(undone.pair, own.pair);
  assert.equal(undone.former, own.label);
  assert.equal(undone.isSeen, false);
});

test("in a closed campaign labels are read and not changed", () => {
  const first = pair("a");
  const own = entry(first);
  const closed = after(...seen(first), { type: "ended", why: "closed" });
  assert.equal(closed.mode, "closed");
  assert.equal(closed.pair, null);
  const review = reduce(reduce(closed, { type: "review", entry: own, filter: "" }), {
    type: "painted",
    pair: first,
  });
  for (const event of [grade(), /** @type {PageEvent} */ ({ type: "undo" })]) {
    assert.equal(reduce(review, event).made, null);
    assert.equal(reduce(review, event).ignored, "read-only");
  }
  assert.equal(reduce(closed, { type: "show", pair: first }).mode, "closed");
  assert.equal(reduce(closed, { type: "reopened" }).mode, "waiting");
});

test("while another tab labels, this one takes no pair and no grade, and comes back to wait for pairs", () => {
  const first = pair("a");
  const elsewhere = after(...seen(first), { type: "elsewhere" });
  assert.equal(elsewhere.mode, "elsewhere");
  assert.equal(elsewhere.pair, null);
  for (const event of /** @type {PageEvent[]} */ ([...seen(first), { type: "empty" }, { type: "offline" }])) {
    assert.equal(reduce(elsewhere, event).mode, "elsewhere");
  }
  assert.equal(reduce(elsewhere, grade()).ignored, "said");
  assert.equal(reduce(elsewhere, { type: "here" }).mode, "waiting");
  assert.equal(reduce(elsewhere, { type: "ended", why: "closed" }).mode, "closed");
});

test("saved is said only while nothing is unsaved and nothing was refused", () => {
  const saved = after({ type: "sending", state: "saved", unsaved: 0 });
  assert.equal(savingOf(saved), "saved");
  assert.equal(savingOf(reduce(saved, { type: "refused", count: 1 })), "refused");
  assert.equal(savingOf(after({ type: "sending", state: "saved", unsaved: 2 })), "saving");
  assert.equal(savingOf(reduce(saved, { type: "line-lost" })), "offline");
  const graded = [...seen(pair("a")), grade()].reduce(reduce, saved);
  assert.equal(savingOf(graded), "saving");
  assert.equal(savingOf(OPENING), "");
});

/** A person at the page, by what is to be seen: a pair is there only once it was painted. */
class Watcher {
  /** @type {Pair | null} */
  visible = null;
  /** @type {Entry | null} */
  reviewed = null;
  canLabel = true;

  /**
   * @param {PageState} state
   * @param {PageEvent} event
   */
  look(state, event) {
    if (event.type === "ended") this.canLabel = false;
    if (event.type === "reopened") this.canLabel = true;
    if (state.pair !== this.visible) this.visible = null;
    if (event.type === "painted" && state.pair === event.pair) this.visible = event.pair;
    this.reviewed = state.mode === "reviewing" || state.mode === "query" ? state.entry : null;
  }
}

test("whatever happens in whatever order, a grade goes to the pair in sight or nowhere", () => {
  const random = numbersFrom(19);
  /** @template T @param {T[]} of @returns {T} */
  const pick = (of) => /** @type {T} */ (of[Math.floor(random() * of.length)]);
  const pairs = [..."abcdef"].map((name) => pair(name, name === "f" ? { is_training: true } : {}));
  const entries = pairs.map((one) => entry(one));
  const states = /** @type {SendState[]} */ (["saved", "saving", "offline", "signed-out", "other-account"]);
  /** @type {(() => PageEvent)[]} */
  const events = [
    () => ({ type: "show", pair: pick(pairs) }),
    () => ({ type: "painted", pair: pick(pairs) }),
    () => ({ type: "painted", pair: state.pair ?? pick(pairs) }),
    () => ({ type: "painted", pair: state.pair ?? pick(pairs) }),
    () => grade(pick([...pairs, null])),
    () => grade(pick([...pairs, null])),
    () => ({ type: "press", said: { outcome: "unsure" }, next: pick(pairs), pair: pick(pairs) }),
    () => ({ type: "change", pair: pick(pairs), said: { note: "so" } }),
    () => ({ type: "undo", entry: pick(entries) }),
    () => ({ type: "undo" }),
    () => ({ type: "ask" }),
    () => ({ type: "review", entry: pick([...entries, null]), filter: pick(["", "grade=3"]) }),
    () => ({ type: "choose", pair: pick(pairs), entry: null }),
    () => {
      const own = pick(entries);
      return { type: "choose", pair: own.pair, entry: own };
    },
    () => ({ type: "empty" }),
    () => ({ type: "offline" }),
    () => ({ type: "finished", paused: pick(["", "A pause."]) }),
    () => ({ type: "sending", state: pick(states), unsaved: pick([0, 0, 1, 7]) }),
    () => ({ type: "line-lost" }),
    () => ({ type: "refused", count: pick([0, 0, 2]) }),
  ];
  const rare = /** @type {PageEvent[]} */ ([
    { type: "ended", why: "closed" },
    { type: "ended", why: "shut-out" },
    { type: "reopened" },
    { type: "reopened" },
    { type: "elsewhere" },
    { type: "here" },
    { type: "here" },
  ]);
  let state = OPENING;
  const watcher = new Watcher();
  const seenMade = new Set();
  for (let step = 0; step < 20_000; step += 1) {
    const event = random() < 0.02 ? pick(rare) : pick(events)();
    const before = Object.freeze(state);
    const { visible, reviewed, canLabel } = watcher;
    state = reduce(before, event);
    const { made } = state;
    if (made) seenMade.add(made.kind);
    if (made && event.type === "press") {
      assert.ok(canLabel);
      assert.equal(
        made.kind === "label" ? made.pair : made.kind === "correction" && made.entry.pair,
        visible,
      );
      assert.equal(made.kind === "correction" ? made.entry : null, reviewed);
      if (event.pair) assert.equal(event.pair, visible);
    }
    if (made?.kind === "undo") assert.equal(state.pair, made.entry.pair);
    const isLabelling = before.mode === "labelling" || before.mode === "query";
    const mayLabel = isLabelling || (before.mode === "reviewing" && before.entry);
    if (event.type === "press" && !event.pair && visible && canLabel && mayLabel) {
      assert.ok(made, "what is in sight gets the grade");
    }
    if (before.mode === "elsewhere") assert.equal(made, null);
    if (!canLabel && event.type !== "reopened") assert.equal(made, null);
    assert.equal(state.made === null || state.ignored === "", true);
    if (state.mode === "labelling" || state.mode === "notice") assert.ok(state.pair);
    if (state.mode === "reviewing") assert.equal(state.pair, state.entry?.pair ?? null);
    if (savingOf(state) === "saved") assert.deepEqual([state.unsaved, state.refused], [0, 0]);
    watcher.look(state, event);
  }
  assert.deepEqual([...seenMade].sort(), ["correction", "label", "undo"]);
});
