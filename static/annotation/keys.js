// Keys press the buttons that carry them in data-key, on the page and in an open dialog. Which key
// an action has is everybody's own choice.
import { dialog, page } from "./page.js";
import { keep, preferences } from "./preferences.js";

const SHORT = { ArrowLeft: "←", ArrowRight: "→", Backspace: "⌫" };
const NAMED = new Set("ArrowLeft ArrowRight Backspace Delete Insert Home End F2 F4 F6 F7 F8 F9 F10".split(" "));
const usual = new Map(); // action → key before anybody changed it

const isModified = (event) => event.ctrlKey || event.metaKey || event.altKey;
const isTyping = ({ target }) => target.matches?.("input, textarea, select");
const buttonsOf = (action) => page.querySelectorAll(`[data-action="${action}"][data-key]`);
const rows = () => [...dialog("keys").querySelectorAll("[data-key-of]")];
const keyOf = (action) => buttonsOf(action)[0]?.dataset.key;

// The key as it was meant: what it writes, or, on a keyboard of another script or with the digits
// behind Shift, what its place writes on others.
function* meantBy(event) {
  yield event.key;
  yield event.key.toLowerCase();
  const place = /^(?:Digit|Numpad)(\d)$|^Key([A-Z])$/.exec(event.code ?? "");
  if (place && !event.shiftKey) yield (place[1] ?? place[2]).toLowerCase();
}

function pressedButton(event, within) {
  for (const key of meantBy(event)) {
    const button = within.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (button) return button;
  }
  return null;
}

export function listenForKeys({ undo, escape }) {
  const onKey = (event) => {
    const open = document.querySelector("dialog[open]");
    if (open) {
      pressInDialog(open, event);
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey && !isTyping(event)) {
      event.preventDefault();
      if (!event.repeat) undo(); // held down, it takes back one label and no more
      return;
    }
    if (event.key === "Escape") {
      escape(event);
      return;
    }
    if (isTyping(event)) return;
    if (event.repeat) {
      // a browser presses a focused button again for as long as Enter is held down
      if (event.key === "Enter" && event.target.closest?.("button")) event.preventDefault();
      return;
    }
    if (isModified(event)) return;
    const button = pressedButton(event, page);
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  };
  addEventListener("keydown", onKey);
  return onKey;
}

// the key that opened a dialog to read closes it as well
function pressInDialog(open, event) {
  // the key that opened the dialog may still be held down
  if (event.repeat || isTyping(event) || isModified(event)) return;
  const choice = pressedButton(event, open);
  if (choice) {
    event.preventDefault();
    choice.click();
  } else if (open === dialog("guideline") || open === dialog("keys")) {
    const opener = keyOf(open.id.replace("-dialog", ""));
    if (event.key === opener) open.close();
  }
}

// choosing keys

function show(action, key) {
  const shown = SHORT[key] ?? key;
  for (const button of buttonsOf(action)) {
    button.dataset.key = key;
    button.setAttribute("aria-keyshortcuts", key === "+" ? "Plus" : key);
    const mark = button.querySelector("kbd, .grade");
    if (mark) mark.textContent = shown;
  }
  for (const row of rows()) if (row.dataset.keyOf === action) row.querySelector("kbd").textContent = shown;
}

const tell = (words) => { dialog("keys").querySelector('[data-part="keys-told"]').textContent = words; };
const wordsOf = (row) => row.querySelector("span").textContent;

export function prepareKeys() {
  for (const row of rows()) {
    const action = row.dataset.keyOf;
    usual.set(action, action.startsWith("grade-") ? action.slice(6) : row.dataset.usual);
  }
  dialog("keys").addEventListener("click", (event) => {
    const button = event.target.closest("[data-assign]");
    if (!button) return;
    if (button.dataset.assign) assign(button);
    else reset();
  });
  dialog("keys").addEventListener("close", () => tell(""));
}

function assign(button) {
  const action = button.dataset.assign;
  const row = button.closest("li");
  row.classList.add("is-waiting");
  tell(`Press the key for: ${wordsOf(row)}. Esc leaves it as it is.`);
  const end = () => {
    row.classList.remove("is-waiting");
    removeEventListener("keydown", take, true);
    button.removeEventListener("blur", end);
  };
  const take = (event) => {
    if (["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Tab"].includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Escape") {
      tell("Nothing has changed.");
      end();
    } else if (tryKey(action, event.key)) end();
  };
  addEventListener("keydown", take, true);
  button.addEventListener("blur", end);
}

// Whether the key could be given to the action; says why not.
function tryKey(action, key) {
  const shown = SHORT[key] ?? key;
  const taken = rows().find((row) => row.dataset.keyOf !== action && keyOf(row.dataset.keyOf) === key);
  if (!(NAMED.has(key) || ([...key].length === 1 && key.trim()))) tell("That key has a meaning of its own. Press another one.");
  else if (taken) tell(`${shown} is taken: ${wordsOf(taken)}. Press another one.`);
  else {
    const before = keyOf(action);
    change({ ...preferences.keys, [action]: key }, () => show(action, key), () => show(action, before));
    tell(`${shown} it is.`);
    return true;
  }
  return false;
}

function reset() {
  change({}, () => usual.forEach((key, action) => show(action, key)), () => {});
  tell("The usual keys hold again.");
}

async function change(keys, apply, takeBack) {
  const before = preferences.keys;
  preferences.keys = keys;
  apply();
  const refusal = await keep();
  if (refusal) {
    preferences.keys = before;
    takeBack();
    tell(refusal);
  }
}
