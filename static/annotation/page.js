// What every module of the labelling page needs: the page, its configuration and its parts.
import { data, element } from "./dom.js";

/** @import { DialogName, PageConfig, Parts } from "./types.js" */

export const page = element(document, "#label-page", HTMLElement);

/** @type {(keyof PageConfig)[]} */
const CONFIGURED = [
  "account",
  "campaign",
  "revision",
  "username",
  "login",
  "logout",
  "leaseMinutes",
  "labelsUrl",
  "releaseUrl",
  "skipUrl",
  "guidelineUrl",
  "preferencesUrl",
  "askUrl",
  "newsUrl",
  "questionsScript",
];
for (const name of CONFIGURED) data(page, name);

// The attributes themselves: what is written to it is on the page.
export const config = /** @type {PageConfig} */ (/** @type {unknown} */ (page.dataset));

/**
 * A part of the page.
 * @template {keyof Parts} Name
 * @param {Name} name
 * @returns {Parts[Name]}
 */
export function part(name) {
  const found = page.querySelector(`[data-part="${name}"]`);
  if (!found) throw new Error(`the page has no part ${name}`);
  return /** @type {Parts[Name]} */ (found);
}

/** @param {DialogName} name */
export const dialog = (name) => element(document, `#${name}-dialog`, HTMLDialogElement);

/**
 * The button of a grade.
 * @param {number | string | null} code
 */
export function gradeButton(code) {
  return /** @type {HTMLElement | null} */ (page.querySelector(`[data-grade="${code}"]`));
}

/**
 * A grade's name; empty where the page has no such grade.
 * @param {number | null} code
 */
export function gradeName(code) {
  const name = gradeButton(code)?.querySelector(".name")?.textContent ?? "";
  return name === String(code) ? "" : name; // a grade without a name is its number
}

/**
 * @param {string} text
 * @param {"info" | "good" | "warn"} tone
 * @param {() => void} [undo] what its button does
 */
export function toast(text, tone = "info", undo = undefined) {
  document.dispatchEvent(new CustomEvent("toast", { detail: { text, tone, undo } }));
}

/**
 * For those who hear the page instead of seeing it.
 * @param {string | null} text
 */
export function announce(text) {
  part("live").textContent = text;
}
