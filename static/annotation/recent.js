// The last labels of this page beside the pair; a press opens one of them again.
import { RECENT_LABELS } from "./constants.js";
import { labelWords } from "./label-words.js";
import { gradeButton, part } from "./page.js";
import { format, gettext } from "./texts.js";

/** @import { Entry } from "./types.js" */

/** @param {Entry[]} done what this page has labelled, oldest first */
export function showRecent(done) {
  const newest = done.slice(-RECENT_LABELS).reverse();
  part("recent").hidden = newest.length === 0;
  part("recent-list").replaceChildren(...newest.map(item));
}

/** @param {Entry} entry */
function item({ pair, label }) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  const mark = document.createElement("span");
  const title = document.createElement("bdi");
  title.textContent = pair.document.title || gettext("Untitled");
  mark.textContent = label.outcome === "graded" ? String(label.grade) : "?";
  mark.className = gradeButton(label.grade)?.querySelector(".grade")?.className ?? "grade none";
  Object.assign(button, { type: "button", title: `${labelWords(label)}: ${title.textContent}` });
  Object.assign(button.dataset, { action: "reopen", assignment: pair.assignment });
  button.setAttribute("aria-label", format(gettext("Reopen {label}"), { label: button.title }));
  button.append(mark, title);
  item.append(button);
  return item;
}
