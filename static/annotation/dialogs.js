// What the page asks: a note, and why somebody can't tell or skips a query. An answer is taken at the press
// that gives it: a dialog's own close event comes later, and the next key may have changed the pair by then.
import { data, element } from "./dom.js";
import { dialog } from "./page.js";

/** @import { Outcome, Pair } from "./types.js" */

/** @typedef {"cannot" | "skip"} ReasonDialog with reasons, templates/annotation/_reasons.html */

/** @typedef {{ reason: string, words: string, outcome: Outcome }} Why words: where it is none of the usual reasons */

const OTHER = "other";

/** @type {Pair | null} what the open dialog is about */
let asked = null;

/** @param {HTMLElement} within */
const textOf = (within) => element(within, "textarea", HTMLTextAreaElement);

/**
 * Text that UTF-8 can write: half of a surrogate pair, typed or pasted, can't be sent.
 * @param {string} words
 */
const wellFormed = (words) => words.trim().toWellFormed?.() ?? words.trim();

/** @param {Pair} pair */
export function askForNote(pair) {
  asked = pair;
  textOf(dialog("note")).value = pair.note ?? "";
  dialog("note").showModal();
}

/**
 * @param {ReasonDialog} name
 * @param {Pair} pair
 */
export function askWhy(name, pair) {
  asked = pair;
  showOther(dialog(name), false);
  textOf(dialog(name)).value = "";
  dialog(name).showModal();
}

/**
 * @param {HTMLElement} within
 * @param {boolean} isShown
 */
function showOther(within, isShown) {
  element(within, '[data-part="other"]', HTMLElement).hidden = !isShown;
  element(within, "[aria-expanded]", HTMLElement).setAttribute("aria-expanded", String(isShown));
  if (isShown) textOf(within).focus();
}

/**
 * @param {HTMLDialogElement} within
 * @param {string} usual the value of the button that Ctrl+Enter presses
 * @param {(pair: Pair, value: string) => void} onAnswer value: of the button that was pressed. The dialog
 *   is closed by then
 */
function prepareAnswer(within, usual, onAnswer) {
  /** @param {string} value */
  const answer = (value) => {
    within.close();
    if (value && asked) onAnswer(asked, value);
  };
  element(within, "form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    answer(event.submitter instanceof HTMLButtonElement ? event.submitter.value : "");
  });
  textOf(within).addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    answer(usual);
  });
}

/**
 * @param {(pair: Pair, words: string) => void} onNote
 * @param {(pair: Pair, words: string) => void} onAsk the lead, instead of a note
 */
export function prepareNote(onNote, onAsk) {
  const within = dialog("note");
  prepareAnswer(within, "keep", (pair, value) => {
    (value === "ask" ? onAsk : onNote)(pair, wellFormed(textOf(within).value));
  });
}

/**
 * @param {ReasonDialog} name
 * @param {(pair: Pair, why: Why) => void} onReason
 */
export function prepareReasons(name, onReason) {
  const within = dialog(name);
  element(within, "[aria-expanded]", HTMLElement).addEventListener("click", () => showOther(within, true));
  prepareAnswer(within, OTHER, (pair, reason) => {
    const button = element(within, `[data-outcome][value="${CSS.escape(reason)}"]`, HTMLElement);
    const words = reason === OTHER ? wellFormed(textOf(within).value) : "";
    onReason(pair, { reason, words, outcome: /** @type {Outcome} */ (data(button, "outcome")) });
  });
}
