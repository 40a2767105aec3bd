// What leads wrote and this person has not read, as a number in the first line; and the dialog in which it is
// read, and in which one asks about a pair. The dialog's own script comes when it is first opened.
import { csrf } from "./api.js";
import { config, dialog, part, toast } from "./page.js";
import { gettext, NO_CONNECTION } from "./texts.js";

/** @import { Pair } from "./types.js" */

/** @param {number} count */
export function showNews(count) {
  part("news").hidden = count === 0;
  part("news-count").textContent = String(count);
}

/**
 * @param {string} heading
 * @param {string} url of the part of a page that the dialog begins with
 * @param {string} words that a message begins with
 */
async function open(heading, url, words = "") {
  try {
    const { openThread } = await import(config.questionsScript);
    await openThread({ within: dialog("questions"), heading, url, words, csrf, onNews: showNews });
  } catch {
    toast(`${NO_CONNECTION}. ${gettext("Try again in a moment.")}`, "warn");
  }
}

/**
 * @param {Pair} pair
 * @param {string} [words]
 */
export function askLead(pair, words) {
  open(gettext("Ask the lead"), `${config.askUrl}?assignment=${pair.assignment}`, words);
}

export const openNews = () => open(gettext("From the lead"), config.newsUrl);
