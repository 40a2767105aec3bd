// What the page asks: a note, and why somebody can't tell or skips a query. A dialog tells that it was closed a moment
// later, so what it is about is held from its opening on.
import { dialog } from "./page.js";

const OTHER = "other";

let asked = null;

function ask(name, pair) {
  asked = pair;
  dialog(name).returnValue = "";
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

function closeByCtrlEnter(within, value) {
  within.querySelector("textarea").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) within.close(value);
  });
}

// onNote(pair, words): what somebody wrote.
export function prepareNote(onNote) {
  const within = dialog("note");
  closeByCtrlEnter(within, "keep");
  within.addEventListener("close", () => {
    if (within.returnValue === "keep") onNote(asked, wellFormed(within.querySelector("textarea").value));
  });
}

// onReason(pair, {reason, words, outcome}): what was chosen; words where it is none of the usual
// reasons, outcome as the button has it.
export function prepareReasons(name, onReason) {
  const within = dialog(name);
  closeByCtrlEnter(within, OTHER);
  within.querySelector("[aria-expanded]").addEventListener("click", () => showOther(within, true));
  within.addEventListener("close", () => {
    const reason = within.returnValue;
    const button = reason && within.querySelector(`[data-outcome][value="${CSS.escape(reason)}"]`);
    if (!button) return;
    const words = reason === OTHER ? wellFormed(within.querySelector("textarea").value) : "";
    onReason(asked, { reason, words, outcome: button.dataset.outcome });
  });
}
