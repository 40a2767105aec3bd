// Behaviour that every page shares. Pages do not import this module: they use its data-* attributes,
// and `document.dispatchEvent(new CustomEvent("toast", {detail: {text: "Saved", tone: "good"}}))`.

/**
 * The closest element around an event's target that fits the selector.
 * @param {Event} event
 * @param {string} selector
 */
function closest({ target }, selector) {
  const found = target instanceof Element ? target.closest(selector) : null;
  return found instanceof HTMLElement ? found : null;
}

/**
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
const elements = (selector) =>
  [...document.querySelectorAll(selector)].filter((found) => found instanceof HTMLElement);

/**
 * A text of ours in the language of the page, which base.html writes into it.
 * @param {string} name
 */
const text = (name) => document.getElementById("toasts")?.dataset[name] ?? "";

const SECONDS_OF_A_YEAR = 365 * 24 * 3600;
const TOAST_SECONDS = 5;
const REFRESH_TIMES = 20_000; // milliseconds

// theme: a cookie, so that the server writes it into the page and nothing flashes

const root = document.documentElement;

function showTheme() {
  const theme = root.dataset.theme ?? "auto";
  for (const button of elements("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
  }
}

/** @param {string} theme auto, light or dark */
function chooseTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const age = theme === "auto" ? 0 : SECONDS_OF_A_YEAR;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https, which a trial has not
  document.cookie = `theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  showTheme();
}

// toasts

/** @typedef {{ text: string, tone?: "info" | "good" | "warn", seconds?: number, undo?: () => void }} Toast */

/**
 * One at a time: the newest is what just happened.
 * @param {Toast} toast
 */
function toast({ text: words, tone = "info", undo, seconds = undo ? 2 * TOAST_SECONDS : TOAST_SECONDS }) {
  const element = document.createElement("div");
  element.className = `toast is-${tone}`;
  element.textContent = words;
  if (undo) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "linklike", textContent: text("undo") });
    button.addEventListener("click", () => {
      element.remove();
      undo();
    });
    element.append(button);
  }
  document.getElementById("toasts")?.replaceChildren(element);
  setTimeout(() => element.remove(), seconds * 1000);
}

// confirmation

/**
 * `yes`: the button's words.
 * @typedef {{ question: string, detail?: string | undefined, yes?: string | undefined, danger?: boolean }} Confirmation
 */

/**
 * Resolves to whether the answer is yes.
 * @param {Confirmation} confirmation
 * @returns {Promise<boolean>}
 */
async function ask({ question, detail = "", yes = text("yes"), danger = false }) {
  const dialog = document.getElementById("confirm");
  const [heading, more, button] = elements("#confirm-question, #confirm-detail, #confirm-yes");
  if (!(dialog instanceof HTMLDialogElement) || !heading || !more || !button) {
    throw new Error("the page has no dialog to confirm with");
  }
  heading.textContent = question;
  more.textContent = detail;
  button.textContent = yes;
  button.className = danger ? "button danger" : "button primary";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

const confirmed = new WeakSet();

/** @param {SubmitEvent} event */
async function onSubmit(event) {
  const { submitter, target: form } = event;
  if (!(form instanceof HTMLFormElement)) return;
  if (submitter?.getAttribute("aria-busy") === "true") {
    // it was pressed, and Enter once more
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  const source = submitter?.dataset.confirm ? submitter : form;
  if (source.dataset.confirm && !confirmed.has(form)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    const { confirm: question, confirmDetail: detail, confirmYes: yes } = source.dataset;
    const danger = submitter?.classList.contains("danger") ?? false;
    if (await ask({ question, detail, yes: yes ?? submitter?.textContent.trim(), danger })) {
      confirmed.add(form);
      form.requestSubmit(submitter);
    }
    return;
  }
  confirmed.delete(form);
  if (form.method === "post" && !form.hasAttribute("data-download"))
    submitter?.setAttribute("aria-busy", "true");
}

// relative times

/** @type {Intl.RelativeTimeFormat | undefined} */
let relative; // made when a page has a time to tell: it takes a browser 10 ms
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 31557600],
  ["month", 2629800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

/** @param {number} seconds from now; negative: ago */
function words(seconds) {
  relative ??= new Intl.RelativeTimeFormat(root.lang, { numeric: "auto" });
  for (const [unit, size] of UNITS) {
    // what is gone is at least so long ago; what ends in 6.99 days ends in 7
    if (Math.abs(seconds) >= size)
      return relative.format((seconds > 0 ? Math.round : Math.trunc)(seconds / size), unit);
  }
  return seconds > -10 ? text("justNow") : relative.format(Math.trunc(seconds), "second");
}

function tellTimes() {
  for (const time of document.querySelectorAll("time")) {
    if (time.dataset.relative === undefined) continue;
    time.textContent = words((Date.parse(time.dateTime) - Date.now()) / 1000);
  }
}

// a short name that nobody has touched follows the name

/** @param {string} name */
const shortName = (name) =>
  name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, 64)
    .replace(/-$/, "");

/** @param {Event} event */
function propose({ target }) {
  if (!(target instanceof HTMLInputElement) || target.name !== "name") return;
  const short = target.form?.querySelector("[data-proposed]");
  if (!(short instanceof HTMLInputElement) || short.value !== short.dataset.proposed) return;
  short.dataset.proposed = shortName(target.value);
  short.value = short.dataset.proposed;
}

// a table or a file that is wider than its room scrolls with the keyboard too, and only then takes the focus

const rooms = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const room = target.closest(".table-wrap, main pre");
    if (!(room instanceof HTMLElement)) continue;
    if (room.scrollWidth > room.clientWidth || room.scrollHeight > room.clientHeight) room.tabIndex = 0;
    else room.removeAttribute("tabindex");
  }
});

function watchTables() {
  // the table too: it can grow in a room that stays as it is
  for (const one of document.querySelectorAll(".table-wrap, .table-wrap > table, main pre"))
    rooms.observe(one);
}

// clicks, in one place

/** @param {HTMLElement} button */
async function copy(button) {
  const { copyFrom } = button.dataset;
  const source = copyFrom ? document.querySelector(copyFrom) : null;
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? source?.textContent ?? "");
    toast({ text: text("copied"), tone: "good", seconds: 2 });
  } catch {
    toast({ text: text("copyBlocked"), tone: "warn" });
  }
}

const openMenus = () =>
  [...document.querySelectorAll("details")].filter((menu) => menu.open && menu.classList.contains("menu"));

/** @param {string} id */
function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

/** @param {MouseEvent} event */
function onClick(event) {
  for (const menu of openMenus()) {
    if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
  }
  const button = closest(
    event,
    "[data-theme-choice], [data-copy], [data-copy-from], [data-dialog], [data-close]",
  );
  if (button) {
    if (button.dataset.themeChoice) chooseTheme(button.dataset.themeChoice);
    else if (button.dataset.dialog) openDialog(button.dataset.dialog);
    else if ("close" in button.dataset) button.closest("dialog")?.close();
    else copy(button);
  } else if (event.target instanceof HTMLDialogElement && event.detail < 2) {
    event.target.close(); // only the backdrop is the dialog itself; not by the second half of a double click
  }
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
}

/** @param {Event} event */
function drag(event) {
  closest(event, "input[type=file]")?.toggleAttribute("data-over", event.type === "dragover");
}

/** @typedef {{ question: string | null, issueRequest: (isConfirmed: boolean) => void }} HtmxConfirm */

document.addEventListener("click", onClick);
document.addEventListener("input", propose);
document.addEventListener("keydown", onKey);
document.addEventListener("submit", onSubmit, true);
document.addEventListener("change", (event) => {
  const field = closest(event, "[data-submit]");
  if (field instanceof HTMLSelectElement || field instanceof HTMLInputElement) field.form?.requestSubmit();
});
document.addEventListener("toast", (event) => toast(/** @type {CustomEvent<Toast>} */ (event).detail));
document.addEventListener("htmx:load", tellTimes);
document.addEventListener("htmx:load", watchTables);
document.addEventListener("htmx:confirm", async (event) => {
  const { detail } = /** @type {CustomEvent<HtmxConfirm>} */ (event);
  if (!detail.question) return;
  event.preventDefault();
  if (await ask({ question: detail.question })) detail.issueRequest(true);
});
for (const type of ["dragover", "dragleave", "drop"]) document.addEventListener(type, drag);
addEventListener("pageshow", (event) => {
  if (!event.persisted) return; // only a page that came back from the browser's memory
  for (const busy of document.querySelectorAll("button[aria-busy]")) busy.removeAttribute("aria-busy");
});
for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
  tab.scrollIntoView({ block: "nearest", inline: "center" });
}
showTheme();
tellTimes();
watchTables();
setInterval(tellTimes, REFRESH_TIMES);
