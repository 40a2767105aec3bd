// Keys press the buttons that carry them in data-key, on the page and in an open dialog. Which key
// an action has is each person's own choice.
import { UNASSIGNABLE_KEYS } from "./constants.js";
import { closest, data, element } from "./dom.js";
import { isAssignable, meanings, shortcutOf, shownKey } from "./key-rules.js";
import { dialog, page } from "./page.js";
import { preferences, save } from "./preferences.js";
import { format, gettext } from "./texts.js";

/** @type {Map<string, string>} action → its key where nobody chose one */
const defaults = new Map();

/** @param {KeyboardEvent} event */
const isModified = (event) => event.ctrlKey || event.metaKey || event.altKey;

/** @param {Event} event */
const isTyping = ({ target }) => target instanceof Element && target.matches("input, textarea, select");

/**
 * @param {string} action
 * @returns {NodeListOf<HTMLElement>}
 */
const buttonsOf = (action) => page.querySelectorAll(`[data-action="${action}"][data-key]`);

/** @returns {HTMLElement[]} */
const rows = () =>
  [...dialog("keys").querySelectorAll("li")].filter((row) => row.dataset.keyOf !== undefined);

/** @param {string} action */
const keyOf = (action) => buttonsOf(action)[0]?.dataset.key ?? "";

/**
 * @param {KeyboardEvent} event
 * @param {ParentNode} within
 * @returns {HTMLButtonElement | null}
 */
function pressedButton(event, within) {
  for (const key of meanings(event)) {
    const button = within.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (button instanceof HTMLButtonElement) return button;
  }
  return null;
}

/**
 * @param {object} handlers
 * @param {() => void} handlers.onUndo Ctrl+Z
 * @param {() => void} handlers.onEscape
 */
export function listenForKeys({ onUndo, onEscape }) {
  addEventListener("keydown", (event) => {
    const open = document.querySelector("dialog[open]");
    if (open instanceof HTMLDialogElement) {
      pressInDialog(open, event);
      return;
    }
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey;
    if (isUndo && !isTyping(event)) {
      event.preventDefault();
      if (!event.repeat) onUndo(); // held down, it undoes one label and no more
      return;
    }
    if (event.key === "Escape") {
      onEscape();
      return;
    }
    if (isTyping(event)) return;
    if (event.repeat) {
      // a browser presses a focused button again for as long as Enter is held down
      if (event.key === "Enter" && closest(event, "button")) event.preventDefault();
      return;
    }
    if (isModified(event)) return;
    const button = pressedButton(event, page);
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  });
}

/**
 * The key that opened a dialog to read closes it as well.
 * @param {HTMLDialogElement} open
 * @param {KeyboardEvent} event
 */
function pressInDialog(open, event) {
  // the key that opened the dialog may still be held down
  if (event.repeat || isTyping(event) || isModified(event)) return;
  const choice = pressedButton(event, open);
  if (choice) {
    event.preventDefault();
    choice.click();
  } else if (open === dialog("guideline") || open === dialog("keys")) {
    if (event.key === keyOf(open.id.replace("-dialog", ""))) open.close();
  }
}

// choosing keys

/**
 * @param {string} action
 * @param {string} key
 */
function show(action, key) {
  for (const button of buttonsOf(action)) {
    button.dataset.key = key;
    button.setAttribute("aria-keyshortcuts", shortcutOf(key));
    const mark = button.querySelector("kbd, .grade");
    if (mark) mark.textContent = shownKey(key);
  }
  for (const row of rows()) {
    if (row.dataset.keyOf === action) element(row, "kbd", HTMLElement).textContent = shownKey(key);
  }
}

/** @param {string} words */
const report = (words) => {
  element(dialog("keys"), '[data-part="keys-told"]', HTMLElement).textContent = words;
};

/** @param {HTMLElement} row */
const wordsOf = (row) => element(row, "span", HTMLElement).textContent;

export function prepareKeys() {
  for (const row of rows()) {
    const action = data(row, "keyOf");
    defaults.set(action, action.startsWith("grade-") ? action.slice(6) : data(row, "usual"));
  }
  dialog("keys").addEventListener("click", (event) => {
    const button = closest(event, "[data-assign]");
    if (!button) return;
    if (button.dataset.assign) assign(button, button.dataset.assign);
    else reset();
  });
  dialog("keys").addEventListener("close", () => report(""));
}

/**
 * @param {HTMLElement} button
 * @param {string} action
 */
function assign(button, action) {
  const row = button.closest("li");
  if (!row) return;
  row.classList.add("is-waiting");
  report(format(gettext("Press a key for: {action}. Esc cancels."), { action: wordsOf(row) }));
  const end = () => {
    row.classList.remove("is-waiting");
    removeEventListener("keydown", take, true);
    button.removeEventListener("blur", end);
  };
  /** @param {KeyboardEvent} event */
  const take = (event) => {
    if (UNASSIGNABLE_KEYS.includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Escape") {
      report(gettext("Cancelled."));
      end();
    } else if (tryKey(action, event.key)) end();
  };
  addEventListener("keydown", take, true);
  button.addEventListener("blur", end);
}

/**
 * Whether the key could be given to the action; says why not.
 * @param {string} action
 * @param {string} key
 */
function tryKey(action, key) {
  const taken = rows().find((row) => row.dataset.keyOf !== action && keyOf(data(row, "keyOf")) === key);
  if (!isAssignable(key)) report(gettext("That key can’t be used. Press another key."));
  else if (taken)
    report(
      format(gettext("“{key}” is used by {action}. Press another key."), {
        key: shownKey(key),
        action: wordsOf(taken).split(/[:,]/)[0] ?? "",
      }),
    );
  else {
    const before = keyOf(action);
    change(
      { ...preferences.keys, [action]: key },
      () => show(action, key),
      () => show(action, before),
    );
    report(format(gettext("Now: {key}"), { key: shownKey(key) }));
    return true;
  }
  return false;
}

function reset() {
  change(
    {},
    () => {
      for (const [action, key] of defaults) show(action, key);
    },
    () => {},
  );
  report(gettext("Reset to defaults."));
}

/**
 * @param {Record<string, string>} keys
 * @param {() => void} apply
 * @param {() => void} revert
 */
async function change(keys, apply, revert) {
  const before = preferences.keys;
  preferences.keys = keys;
  apply();
  const refusal = await save();
  if (refusal) {
    preferences.keys = before;
    revert();
    report(refusal);
  }
}
