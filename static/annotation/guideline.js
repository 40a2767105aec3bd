// The guideline at hand, and what changed in it while one was labelling: to be read before going on.
import { dialog, page } from "./page.js";

const newest = () => Number(dialog("guideline").querySelector("[data-guide]").dataset.guide);
const isToBeRead = () => dialog("change").querySelector("[data-change]").dataset.change !== "";
let fetching = false;

export function prepareGuideline() {
  dialog("change").addEventListener("close", () => {
    // closed by Escape or beside it: it has not been read
    if (dialog("change").returnValue !== "read") dialog("change").showModal();
    else {
      page.dataset.revision = String(newest());
      dialog("change").querySelector("[data-change]").dataset.change = "";
    }
  });
  if (isToBeRead()) dialog("change").showModal();
}

// revision: the one that holds by what the server says.
export async function heedRevision(revision) {
  if (fetching || !revision || revision <= newest()) return;
  fetching = true;
  try {
    const response = await fetch(`${page.dataset.guidelineUrl}?since=${page.dataset.revision}`);
    if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    // the next answer tells of it again
  } finally {
    fetching = false;
  }
}

function show(answer) {
  for (const [name, kind] of [["guideline", "[data-guide]"], ["change", "[data-change]"]]) {
    dialog(name).querySelector(kind).replaceWith(answer.querySelector(kind));
  }
  for (const words of dialog("guideline").querySelectorAll("[data-definition-of]")) {
    const button = page.querySelector(`[data-grade="${words.dataset.definitionOf}"]`);
    button.querySelector(".definition").textContent = words.textContent;
  }
  for (const open of document.querySelectorAll("dialog[open]")) if (open !== dialog("change")) open.close();
  dialog("change").returnValue = "";
  if (!dialog("change").open) dialog("change").showModal();
}
