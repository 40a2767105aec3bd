// A person's keys and view of the page: at once here, and soon after on the server for every machine.
import { csrf } from "./api.js";
import { LINE_WIDTHS, PREFERENCES_DELAY, TEXT_SIZES } from "./constants.js";
import { realign, showTermsOrNot } from "./document.js";
import { element } from "./dom.js";
import { config, page, toast } from "./page.js";
import { gettext } from "./texts.js";

/**
 * @typedef {object} Preferences
 * @property {Record<string, string>} keys by action; those without one have their default
 * @property {number} text_size
 * @property {string} line_width
 * @property {boolean} marks_terms
 */

/** @type {Preferences} */
export const preferences = {
  keys: JSON.parse(element(document, "#chosen-keys", HTMLScriptElement).textContent),
  text_size: TEXT_SIZES.find((size) => page.classList.contains(`text-${size}`)) ?? 100,
  line_width: LINE_WIDTHS.find((width) => page.classList.contains(`lines-${width}`)) ?? "normal",
  marks_terms: !page.classList.contains("unmarked"),
};

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Sends them; resolves to the server's words where it refused, and to "" otherwise.
 * @returns {Promise<string>}
 */
export async function save() {
  clearTimeout(timer);
  const body = new URLSearchParams({
    account: config.account,
    keys: JSON.stringify(preferences.keys),
    text_size: String(preferences.text_size),
    line_width: preferences.line_width,
  });
  if (preferences.marks_terms) body.set("marks_terms", "on");
  try {
    const response = await fetch(config.preferencesUrl, {
      method: "POST",
      headers: { "X-CSRFToken": csrf() },
      body,
    });
    if (response.ok) return "";
    return (await response.json()).message;
  } catch {
    toast(gettext("Your settings apply on this page but could not be saved."), "warn");
    return "";
  }
}

function saveSoon() {
  clearTimeout(timer);
  timer = setTimeout(save, PREFERENCES_DELAY);
}

/** @param {1 | -1} by */
export function resize(by) {
  const next = TEXT_SIZES[TEXT_SIZES.indexOf(preferences.text_size) + by];
  if (next !== undefined) {
    page.classList.replace(`text-${preferences.text_size}`, `text-${next}`);
    preferences.text_size = next;
  }
  realign();
  saveSoon();
}

export function widen() {
  const next =
    LINE_WIDTHS[(LINE_WIDTHS.indexOf(preferences.line_width) + 1) % LINE_WIDTHS.length] ?? "normal";
  page.classList.replace(`lines-${preferences.line_width}`, `lines-${next}`);
  preferences.line_width = next;
  realign();
  saveSoon();
}

export function switchTerms() {
  preferences.marks_terms = !preferences.marks_terms;
  page.classList.toggle("unmarked", !preferences.marks_terms);
  showTermsOrNot();
  saveSoon();
}
