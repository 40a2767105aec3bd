// What the page's buttons do when they are pressed, by pointer or by key.
import { UNREAD } from "./constants.js";
import { realign } from "./document.js";
import { closest } from "./dom.js";
import { page, part, toast } from "./page.js";
import { gettext } from "./texts.js";

/** @import { Press } from "./types.js" */

// what leads away from the pair on the screen; not while the answer to it is to be read
const LEAVES = new Set(["undo", "later", "older", "newer", "skip", "cannot", "work", "reopen", "list"]);

// what one may press several times
const STAYS = new Set(["larger", "smaller", "wide", "terms"]);

// what is about the document, which the list of a query does not show
const OF_DOCUMENT = new Set(["later", "mark", "unmark", "find", "find-mark", "full", "open", "to-top"]);

// what changes what is on the screen, or asks about it
const CALLS_OFF = new Set(["later", "skip", "cannot", "note", "ask", "mark", "unmark", "find-mark"]);

/**
 * @typedef {object} ButtonOptions
 * @property {Record<string, (button: HTMLElement) => void>} actions by data-action
 * @property {(grade: number, press: Press) => void} onGrade
 * @property {() => number} seenSince when what would be graded was first seen, event.timeStamp's clock
 * @property {() => void} onTooSoon a click that graded what had only just come
 * @property {() => void} onCallOff steps through older labels that have not arrived are off
 * @property {() => boolean} isAnswerOpen the answer to a training pair is to be read
 * @property {() => boolean} isListOpen the pairs of a query are listed
 * @property {(filter: string) => void} onFilter
 * @property {(by: 1 | -1) => void} onFindStep
 */

/** @param {ButtonOptions} options */
export function listenForPresses(options) {
  // The second click of a double click, or a tap that bounced, would label a document that nobody has
  // read; so would a press that began while another one was shown. Keys that press a button (detail 0)
  // are held back by their repeat alone.
  let pressedAt = Infinity; // no press: assistive technology clicks without one
  /** @param {MouseEvent} event */
  const isTooSoon = (event) =>
    event.detail > 0 && (event.timeStamp - options.seenSince() < UNREAD || pressedAt < options.seenSince());

  page.addEventListener("click", (event) => {
    const button = closest(event, "button");
    if (!button) return;
    const { action = "", grade } = button.dataset;
    const act = Object.hasOwn(options.actions, action) ? options.actions[action] : undefined;
    if (grade !== undefined) {
      event.preventDefault();
      const isIgnored = isTooSoon(event);
      if (event.detail > 0) pressedAt = Infinity;
      options.onCallOff();
      if (isIgnored) options.onTooSoon();
      else options.onGrade(Number(grade), event.detail > 0 ? "click" : "key");
    } else if (act) {
      event.preventDefault();
      if (options.isAnswerOpen() && LEAVES.has(action)) return;
      if (options.isListOpen() && OF_DOCUMENT.has(action)) return;
      if (CALLS_OFF.has(action)) options.onCallOff();
      act(button);
      const menu = button.closest("details");
      if (menu && !STAYS.has(action)) menu.open = false;
    }
    // after a press by mouse or finger the keys are the text's again: Space reads on, and gives no grade
    if (event.detail > 0 && button === document.activeElement && button.closest(".label-bar")) {
      part("scroll").focus({ preventScroll: true });
    }
  });
  page.addEventListener("pointerdown", (event) => {
    pressedAt = event.timeStamp;
    // a button that marks must not take the selection away
    if (closest(event, '[data-action="mark"]')) event.preventDefault();
  });
  part("back-filter").addEventListener("change", () => {
    options.onFilter(part("back-filter").value);
    part("scroll").focus({ preventScroll: true });
  });
  part("find").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.shiftKey) options.onFindStep(-1);
    else options.actions["find-mark"]?.(part("find"));
  });
}

export function openAddress() {
  const link = part("url").querySelector("a");
  if (link) link.click();
  else toast(gettext("This document has no URL."));
}

export const isReading = () => page.classList.contains("reading");

export function toggleReading() {
  page.classList.toggle("reading");
  realign();
}
