// What the page asks: a note, and why somebody can't tell or skips a query. An answer is taken at the press that gives
// it: a dialog's own close event comes later, and the next key may have changed the pair by then.
import { dialog } from "./page.js";

const OTHER = "other";

let asked = null;

function ask(name, pair) {
  asked = pair;
  dialog(name).showModal();
}

// Text that UTF-8 can write: half of a surrogate pair, typed or pasted, can't be sent.
const wellFormed = (words) => words.trim().toWellFormed?.() ?? words.trim();

export function askForNote(pair) {
  dialog("note").querySelector("textarea").value = pair.note ?? "";
  ask("note", pair);
}

// name: of a dialog with reasons, templates/annotation/_reasons.html.
export function askWhy(name, pair) {
  showOther(dialog(name), false);
  dialog(name).querySelector("textarea").value = "";
  ask(name, pair);
}

function showOther(within, isShown) {
  within.querySelector('[data-part="other"]').hidden = !isShown;
  within.querySelector("[aria-expanded]").setAttribute("aria-expanded", String(isShown));
  if (isShown) within.querySelector("textarea").focus();
}

// onAnswer(pair, value): the value of the button that was pressed; Ctrl+Enter presses the one with `usual`. The dialog
// is closed by then.
function prepareAnswer(within, usual, onAnswer) {
  const answer = (value) => {
    within.close();
    if (value) onAnswer(asked, value);
  };
  within.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    answer(event.submitter.value);
  });
  within.querySelector("textarea").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    answer(usual);
  });
}

// onNote(pair, words): what somebody wrote.
export function prepareNote(onNote) {
  const within = dialog("note");
  prepareAnswer(within, "keep", (pair) => onNote(pair, wellFormed(within.querySelector("textarea").value)));
}

// onReason(pair, {reason, words, outcome}): what was chosen; words where it is none of the usual
// reasons, outcome as the button has it.
export function prepareReasons(name, onReason) {
  const within = dialog(name);
  within.querySelector("[aria-expanded]").addEventListener("click", () => showOther(within, true));
  prepareAnswer(within, OTHER, (pair, reason) => {
    const { outcome } = within.querySelector(`[data-outcome][value="${CSS.escape(reason)}"]`).dataset;
    const words = reason === OTHER ? wellFormed(within.querySelector("textarea").value) : "";
    onReason(pair, { reason, words, outcome });
  });
}
