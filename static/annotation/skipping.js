// Skipping a whole query, on the server as well: what this page holds of it goes to others. It can be undone.
import { post } from "./api.js";
import { config, toast } from "./page.js";
import { gettext } from "./texts.js";

/** @import { Why } from "./dialogs.js" */
/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Supply } from "./supply.js" */
/** @import { Answer, Pair } from "./types.js" */

/**
 * @typedef {object} SkippingOptions
 * @property {PairQueue} queue
 * @property {Supply} supply
 * @property {(answer: Answer) => void} onSkipped the query is gone from the queue
 */

/**
 * @param {Pair} pair
 * @param {Why} why
 * @param {SkippingOptions} options
 */
export async function skipQuery(pair, { reason, words }, options) {
  const { queue, supply, onSkipped } = options;
  try {
    const wish = { count: 0, assignment: pair.assignment, reason, note: words };
    const response = await post(config.skipUrl, wish);
    const answer = await response.json();
    if (!response.ok) {
      toast(answer.detail, "warn");
      supply.fetchMore(); // which says whether the campaign is closed
      return;
    }
    queue.drop(pair);
    onSkipped(answer);
    toast(gettext("Query skipped."), "good", () => returnQuery(answer.id, options));
  } catch {
    toast(gettext("Skipping a query needs a connection."), "warn");
  }
}

/**
 * @param {string} id of the skip
 * @param {SkippingOptions} options
 */
async function returnQuery(id, { queue, supply }) {
  try {
    const response = await post(`${config.skipUrl}/${id}/return`, {});
    if (!response.ok) throw new Error(String(response.status));
    // what has come since is given back, so that the query comes before it, where it stood
    const assignments = queue.ahead.map((pair) => pair.assignment);
    await post(config.releaseUrl, { assignments });
    queue.clear();
    await supply.fetchMore();
    toast(gettext("Query unskipped."), "good");
  } catch {
    toast(gettext("Undoing a skip needs a connection."), "warn");
  }
}
