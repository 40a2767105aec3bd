// The labelling page's state, and the one function that changes it. What is on the screen is what gets
// the grade: a grade goes to the pair that is shown and painted at that moment, or nowhere. Nothing here
// knows the page, the server or the clock.

/** @import { Content, Entry, HeldLabel, Mode, Outcome, Pair, SendState } from "./types.js" */

/** @typedef {Partial<Content> & { outcome: Outcome }} Said what a press says of a pair */

/**
 * What an event has labelled. `entry`: the label that is corrected or undone.
 * @typedef {{ kind: "label", pair: Pair, said: Said } | { kind: "correction", entry: Entry, said: Partial<Content> }
 *   | { kind: "undo", entry: Entry }} Made
 */

/**
 * Why a press did nothing. early: no pair can be seen yet. gone: another one is shown by now. read-only:
 * nothing more is accepted. said: the page says already why there is no pair.
 * @typedef {"" | "early" | "gone" | "read-only" | "said"} Ignored
 */

/** @typedef {"" | "closed" | "shut-out"} Ended why nothing more is accepted; shut-out: not in the campaign any more */

/**
 * @typedef {object} PageState
 * @property {Mode} mode
 * @property {Pair | null} pair that is shown
 * @property {boolean} isSeen it has been painted
 * @property {Entry | null} entry whose label is reviewed
 * @property {HeldLabel | null} former what was said of the pair before; of a reviewed one, what holds
 * @property {string} filter of the review
 * @property {Ended} ended
 * @property {boolean} isOffline there is no pair, and the server does not answer
 * @property {string} paused why nothing is asked for the moment
 * @property {SendState | ""} sending as the outbox said last; "": nothing is known yet
 * @property {number} unsaved labels that the server does not have
 * @property {number} refused labels that the server will not take
 * @property {Made | null} made by the last event
 * @property {Ignored} ignored the last event
 */

/**
 * show: this pair is to be labelled. painted: it can be seen. press: a grade or a reason, of whatever is
 * shown, or of `pair` alone; `next`: what is shown after it. change: a correction of the reviewed label that
 * is no grade. ask: a key that needs a pair to be shown. undo: the label that is reviewed; with an entry that
 * one. review: an own label; null where none fits the filter. choose: a row of the list of a query, with its
 * label. empty: no pair is here. finished: the server has none. elsewhere: another tab labels. here: this one
 * does again. sending: the state of labels that are sent.
 * @typedef {{ type: "show", pair: Pair, former?: HeldLabel | null } | { type: "painted", pair: Pair }
 *   | { type: "press", said: Said, next: Pair | null, pair?: Pair } | { type: "change", pair: Pair, said: Partial<Content> }
 *   | { type: "ask" } | { type: "undo", entry?: Entry } | { type: "review", entry: Entry | null, filter: string }
 *   | { type: "choose", pair: Pair | null, entry: Entry | null } | { type: "empty" } | { type: "offline" }
 *   | { type: "finished", paused: string }
 *   | { type: "ended", why: "closed" | "shut-out" } | { type: "reopened" } | { type: "elsewhere" } | { type: "here" }
 *   | { type: "sending", state: SendState, unsaved: number } | { type: "line-lost" } | { type: "refused", count: number }
 * } PageEvent
 */

/** @type {PageState} */
export const OPENING = {
  mode: "waiting",
  pair: null,
  isSeen: false,
  entry: null,
  former: null,
  filter: "",
  ended: "",
  isOffline: false,
  paused: "",
  sending: "",
  unsaved: 0,
  refused: 0,
  made: null,
  ignored: "",
};

/**
 * What a key of this moment is about: the pair, and where its label is reviewed, that. null: nothing that
 * can be labelled is to be seen.
 * @param {PageState} state
 * @returns {{ pair: Pair, entry: Entry | null } | null}
 */
export function targetOf({ mode, pair, entry, isSeen, ended }) {
  const canBeLabelled = mode === "labelling" || mode === "query" || (mode === "reviewing" && entry);
  return pair && isSeen && canBeLabelled && !ended ? { pair, entry } : null;
}

/**
 * How the labels are, in a word. Saved is said only while nothing is unsaved and nothing was refused.
 * @param {PageState} state
 * @returns {SendState | "refused" | ""}
 */
export function savingOf({ sending, unsaved, refused }) {
  if (sending !== "saved") return sending;
  if (unsaved > 0) return "saving";
  return refused > 0 ? "refused" : "saved";
}

/**
 * @param {PageState} state it is not changed
 * @param {PageEvent} event
 * @returns {PageState}
 */
export function reduce(state, event) {
  /** @type {PageState} */
  const quiet = { ...state, made: null, ignored: "" };
  switch (event.type) {
    case "show":
      if (!takesPairs(state)) return quiet;
      return withPair(quiet, "labelling", event.pair, null, event.former ?? null);
    case "painted":
      return { ...quiet, isSeen: state.isSeen || event.pair === state.pair };
    case "press":
      return press(quiet, event);
    case "change":
      return change(quiet, event);
    case "ask":
      return targetOf(state) ? quiet : { ...quiet, ignored: whyIgnored(state) };
    case "undo":
      return undo(quiet, event.entry);
    case "review":
      if (state.ended === "shut-out" || state.mode === "notice" || state.mode === "elsewhere") return quiet;
      return {
        ...withPair(quiet, "reviewing", event.entry?.pair ?? null, event.entry, event.entry?.label ?? null),
        filter: event.filter,
      };
    case "choose":
      if (!takesPairs(state) || state.mode === "notice") return quiet;
      return withPair(quiet, "query", event.pair, event.entry, event.entry?.label ?? null);
    case "empty":
      return takesPairs(state) ? withPair(quiet, "waiting", null) : quiet;
    case "offline":
      if (!isEmpty(state)) return quiet;
      return { ...quiet, mode: isSignedOut(state) ? "signed-out" : "waiting", isOffline: true };
    case "finished":
      return isEmpty(state) ? { ...quiet, mode: "finished", paused: event.paused } : quiet;
    case "ended":
      return { ...withPair(quiet, "closed", null), ended: event.why };
    case "reopened":
      return state.mode === "closed"
        ? { ...withPair(quiet, "waiting", null), ended: "" }
        : { ...quiet, ended: "" };
    case "elsewhere":
      return takesPairs(state) ? withPair(quiet, "elsewhere", null) : quiet;
    case "here":
      return state.mode === "elsewhere" ? withPair(quiet, "waiting", null) : quiet;
    case "sending":
      return { ...quiet, sending: event.state, unsaved: event.unsaved };
    case "line-lost":
      return state.sending === "saved" ? { ...quiet, sending: "offline" } : quiet;
    case "refused":
      return { ...quiet, refused: event.count };
  }
}

/**
 * Whether the page waits for a pair, or says that there is none.
 * @param {PageState} state
 */
export const isEmpty = ({ mode }) => mode === "waiting" || mode === "signed-out" || mode === "finished";

/** @param {PageState} state */
const takesPairs = ({ mode, ended }) => !ended && mode !== "elsewhere";

/** @param {PageState} state */
const isSignedOut = ({ sending }) => sending === "signed-out" || sending === "other-account";

/**
 * @param {PageState} state
 * @param {Mode} mode
 * @param {Pair | null} pair
 * @param {Entry | null} entry
 * @param {HeldLabel | null} former
 * @returns {PageState}
 */
function withPair(state, mode, pair, entry = null, former = null) {
  const isSeen = pair !== null && pair === state.pair && state.isSeen;
  return { ...state, mode, pair, isSeen, entry, former, filter: "", isOffline: false, paused: "" };
}

/**
 * @param {PageState} state
 * @param {Made} made
 * @returns {PageState}
 */
const withLabel = (state, made) => ({ ...state, made, unsaved: state.unsaved + 1 });

/**
 * @param {PageState} state
 * @param {{ said: Said, next: Pair | null, pair?: Pair }} press
 * @returns {PageState}
 */
function press(state, { said, next, pair }) {
  const target = targetOf(state);
  if (!target || (pair && pair !== target.pair)) {
    return { ...state, ignored: target ? "gone" : whyIgnored(state) };
  }
  if (target.entry) {
    return withLabel(state, {
      kind: "correction",
      entry: target.entry,
      said: { grade: null, reason: "", ...said },
    });
  }
  const labelled = withLabel(state, { kind: "label", pair: target.pair, said });
  if (state.mode === "query") return withPair(labelled, "query", null); // the list chooses the next row
  if (target.pair.is_training) return { ...labelled, mode: "notice" };
  return withPair(labelled, next ? "labelling" : "waiting", next);
}

/**
 * @param {PageState} state
 * @returns {Ignored}
 */
function whyIgnored({ mode, ended, entry, isOffline }) {
  if (mode === "reviewing" && ended) return "read-only";
  if (mode === "query") return "early";
  const isSaid = isOffline || (mode === "reviewing" && !entry);
  return isSaid || (mode !== "labelling" && mode !== "reviewing" && mode !== "waiting") ? "said" : "early";
}

/**
 * @param {PageState} state
 * @param {{ pair: Pair, said: Partial<Content> }} change
 * @returns {PageState}
 */
function change(state, { pair, said }) {
  const target = targetOf(state);
  if (target?.pair !== pair) return { ...state, ignored: "gone" };
  return target.entry ? withLabel(state, { kind: "correction", entry: target.entry, said }) : state;
}

/**
 * @param {PageState} state
 * @param {Entry | undefined} entry
 * @returns {PageState}
 */
function undo(state, entry) {
  if (!takesPairs(state) || state.mode === "notice") return { ...state, ignored: whyIgnored(state) };
  const undone = state.mode === "reviewing" ? targetOf(state)?.entry : entry;
  if (!undone) return { ...state, ignored: whyIgnored(state) };
  const labelled = withLabel(state, { kind: "undo", entry: undone });
  return withPair(labelled, "labelling", undone.pair, null, undone.label);
}
