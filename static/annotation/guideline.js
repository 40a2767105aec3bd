// The current guideline, and what changed in it during labelling: to be read before going on.
import { data, element } from "./dom.js";
import { config, dialog, page } from "./page.js";

const newest = () => Number(data(element(dialog("guideline"), "[data-guide]", HTMLElement), "guide"));
const changeBox = () => element(dialog("change"), "[data-change]", HTMLElement);
let isFetching = false;

export function prepareGuideline() {
  dialog("change").addEventListener("close", () => {
    // closed by Escape or beside it: it has not been read
    if (dialog("change").returnValue !== "read") dialog("change").showModal();
    else {
      config.revision = String(newest());
      changeBox().dataset.change = "";
    }
  });
  if (changeBox().dataset.change !== "") dialog("change").showModal();
}

/**
 * Shows the guideline before the first label of the campaign in this browser.
 * @param {() => void} onRead
 */
export function meetGuideline(onRead) {
  const met = `touchstone guideline ${config.account} ${config.campaign}`;
  try {
    if (localStorage.getItem(met) || document.querySelector("dialog[open]")) return;
    localStorage.setItem(met, "met");
  } catch {
    // a browser that keeps nothing: it is shown each time
  }
  const box = dialog("guideline");
  const [close, start] = [...box.querySelectorAll("button")];
  /** @param {boolean} isFirst */
  const arrange = (isFirst) => {
    close?.toggleAttribute("hidden", isFirst);
    start?.toggleAttribute("hidden", !isFirst);
  };
  arrange(true);
  box.addEventListener(
    "close",
    () => {
      arrange(false);
      onRead();
    },
    { once: true },
  );
  box.showModal();
}

/**
 * Fetches the guideline and its change, where there is a newer one.
 * @param {number | undefined} revision the one in force, by what the server says
 */
export async function checkRevision(revision) {
  if (isFetching || !revision || revision <= newest()) return;
  isFetching = true;
  try {
    const response = await fetch(`${config.guidelineUrl}?since=${config.revision}`);
    if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    // the next answer says so again
  } finally {
    isFetching = false;
  }
}

/** @param {Document} answer */
function show(answer) {
  const guide = answer.querySelector("[data-guide]");
  const change = answer.querySelector("[data-change]");
  if (!guide || !change) return;
  element(dialog("guideline"), "[data-guide]", HTMLElement).replaceWith(guide);
  changeBox().replaceWith(change);
  for (const words of dialog("guideline").querySelectorAll("[data-definition-of]")) {
    const code = words.getAttribute("data-definition-of");
    const definition = page.querySelector(`[data-definition="${code}"]`);
    if (definition) definition.textContent = words.textContent;
  }
  for (const open of document.querySelectorAll("dialog")) {
    if (open.open && open !== dialog("change")) open.close();
  }
  dialog("change").returnValue = "";
  if (!dialog("change").open) dialog("change").showModal();
}
