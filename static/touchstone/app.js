// Behaviour that every page shares. Pages do not import this module: they use its data-* attributes,
// and `document.dispatchEvent(new CustomEvent("toast", {detail: {text: "Saved", tone: "good"}}))`.

const closest = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

// theme: a cookie, so that the server writes it into the page and nothing flashes

const root = document.documentElement;

function showTheme() {
  const theme = root.dataset.theme ?? "auto";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme));
  }
}

function chooseTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const age = theme === "auto" ? 0 : 365 * 24 * 3600;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  showTheme();
}

// toasts

function toast({ text, tone = "info", seconds = 5 }) {
  const element = document.createElement("div");
  element.className = `toast is-${tone}`;
  element.textContent = text;
  document.getElementById("toasts")?.append(element);
  setTimeout(() => element.remove(), seconds * 1000);
}

// confirmation

function ask({ question, detail = "", yes = "Yes", danger = false }) {
  const dialog = document.getElementById("confirm");
  dialog.querySelector("#confirm-question").textContent = question;
  dialog.querySelector("#confirm-detail").textContent = detail;
  const button = dialog.querySelector("#confirm-yes");
  button.textContent = yes;
  button.className = danger ? "button danger" : "button primary";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

const confirmed = new WeakSet();

async function onSubmit(event) {
  const form = event.target;
  const submitter = event.submitter;
  if (submitter?.getAttribute("aria-busy") === "true") { // it was pressed, and Enter once more
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
  if (form.method === "post" && !form.hasAttribute("data-download")) submitter?.setAttribute("aria-busy", "true");
}

// relative times

let relative; // made when a page has a time to tell: it takes a browser 10 ms
const UNITS = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60]];

function words(seconds) {
  relative ??= new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, size] of UNITS) {
    // what is gone is at least so long ago; what ends in 6.99 days ends in 7
    if (Math.abs(seconds) >= size) return relative.format((seconds > 0 ? Math.round : Math.trunc)(seconds / size), unit);
  }
  return seconds > -10 ? "just now" : relative.format(Math.trunc(seconds), "second");
}

function tellTimes() {
  for (const element of document.querySelectorAll("time[data-relative]")) {
    element.textContent = words((Date.parse(element.dateTime) - Date.now()) / 1000);
  }
}

// a short name that nobody has touched follows the name

const shortName = (name) => name.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase()
  .replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, 64).replace(/-$/, "");

function propose({ target }) {
  const short = target.name === "name" && target.form?.querySelector("[data-proposed]");
  if (short && short.value === short.dataset.proposed) short.value = short.dataset.proposed = shortName(target.value);
}

// a table or a file that is wider than its room scrolls with the keyboard too, and only then takes the focus

const rooms = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

function watchTables() {
  for (const room of document.querySelectorAll(".table-wrap, main pre")) rooms.observe(room);
}

// clicks, in one place

async function copy(button) {
  const source = button.dataset.copyFrom && document.querySelector(button.dataset.copyFrom);
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? source?.textContent ?? "");
    toast({ text: "Copied", tone: "good", seconds: 2 });
  } catch {
    toast({ text: "The browser did not allow copying. Select the text and copy it by hand.", tone: "warn" });
  }
}

function onClick(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const button = closest(event, "[data-theme-choice], [data-copy], [data-copy-from], [data-dialog], [data-close]");
  if (button) {
    if (button.dataset.themeChoice) chooseTheme(button.dataset.themeChoice);
    else if (button.dataset.dialog) document.getElementById(button.dataset.dialog)?.showModal();
    else if ("close" in button.dataset) button.closest("dialog")?.close();
    else copy(button);
  } else if (event.target instanceof HTMLDialogElement && event.detail < 2) {
    event.target.close(); // only the backdrop is the dialog itself; not by the second half of a double click
  }
}

function onKey(event) {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
}

function drag(event) {
  closest(event, "input[type=file]")?.toggleAttribute("data-over", event.type === "dragover");
}

document.addEventListener("click", onClick);
document.addEventListener("input", propose);
document.addEventListener("keydown", onKey);
document.addEventListener("submit", onSubmit, true);
document.addEventListener("change", (event) => closest(event, "[data-submit]")?.form?.requestSubmit());
document.addEventListener("toast", (event) => toast(event.detail));
document.addEventListener("htmx:load", tellTimes);
document.addEventListener("htmx:load", watchTables);
document.addEventListener("htmx:confirm", (event) => {
  if (!event.detail.question) return;
  event.preventDefault();
  ask({ question: event.detail.question }).then((yes) => yes && event.detail.issueRequest(true));
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
setInterval(tellTimes, 20_000);
