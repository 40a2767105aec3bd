// What a key press means, and which keys can be given to an action.
import { NAMED_KEYS, SHOWN_KEYS } from "./constants.js";

/** @typedef {Pick<KeyboardEvent, "key" | "shiftKey"> & { code?: string }} Stroke */

/**
 * The keys that a press may mean, the likeliest first: what it writes, or, on a keyboard of another script
 * or with the digits behind Shift, what its place writes on others.
 * @param {Stroke} stroke
 * @returns {string[]}
 */
export function meanings({ key, code = "", shiftKey }) {
  const place = /^(?:Digit|Numpad)(\d)$|^Key([A-Z])$/.exec(code);
  const byPlace = place && !shiftKey ? [(place[1] ?? place[2] ?? "").toLowerCase()] : [];
  return [key, key.toLowerCase(), ...byPlace];
}

/** @param {string} key */
export const shownKey = (key) => SHOWN_KEYS.get(key) ?? key;

/**
 * Whether a key can be given to an action: it writes one character, or has no meaning of its own.
 * @param {string} key
 */
export const isAssignable = (key) => NAMED_KEYS.includes(key) || ([...key].length === 1 && key.trim() !== "");

/**
 * The key as aria-keyshortcuts writes it.
 * @param {string} key
 */
export const shortcutOf = (key) => (key === "+" ? "Plus" : key);
