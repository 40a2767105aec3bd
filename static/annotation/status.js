// The counts and the pace in the labelling page's first line.
import { element } from "./dom.js";
import { number } from "./numbers.js";
import { page, part } from "./page.js";

/** @import { ProgressView } from "./progress.js" */

/** @param {ProgressView} view */
export function showProgress({ done, total, inQuery, left, pace, later }) {
  part("done").textContent = number(done);
  part("total").textContent = number(total);
  part("bar-done").max = Math.max(total, 1);
  part("bar-done").value = done;
  part("in-query").textContent = inQuery;
  part("pace").textContent = left;
  part("pace").title = pace;
  element(page, '[data-action="later"] .words', HTMLElement).textContent = later;
}
