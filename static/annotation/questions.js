// The labelling page's dialog of questions to the lead, answers and announcements. The server writes what is in
// it; this sends its forms without leaving the page. Fetched when it is first needed, so it imports nothing.

/**
 * @typedef {object} Options
 * @property {HTMLDialogElement} within
 * @property {string} heading
 * @property {string} url of the part to begin with
 * @property {string} words that a message begins with
 * @property {() => string} csrf the token of this moment
 * @property {(count: number) => void} onNews how much is unread now
 */

const REQUEST_TIMEOUT = 15_000; // milliseconds

/** @type {Options} */
let options;
let isPrepared = false;

/** @param {string} name */
function part(name) {
  const found = options.within.querySelector(`[data-part="${name}"]`);
  if (!(found instanceof HTMLElement)) throw new Error(`the dialog has no part ${name}`);
  return found;
}

/**
 * A text of the page, which is in the reader's language.
 * @param {string} name
 */
const text = (name) => options.within.dataset[name] ?? "";

/** @param {string} words */
function say(words) {
  part("thread-told").textContent = words;
}

/**
 * Shows the part that the server answers with.
 * @param {string} url
 * @param {RequestInit} [request]
 * @returns {Promise<boolean>} whether it was accepted
 * @throws {Error} where there is no such answer
 */
async function load(url, request = {}) {
  const response = await fetch(url, {
    ...request,
    headers: { "HX-Request": "true", "X-CSRFToken": options.csrf() },
    redirect: "manual",
    signal: AbortSignal.timeout(REQUEST_TIMEOUT),
  });
  if (response.type === "opaqueredirect") throw new Error(text("signedOut"));
  if (!response.ok && response.status !== 422) throw new Error(text("gone"));
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  const shown = answer.querySelector("[data-news]");
  if (!(shown instanceof HTMLElement)) throw new Error(text("unreadable"));
  part("thread").replaceChildren(shown);
  options.onNews(Number(shown.dataset.news));
  return response.ok;
}

/**
 * Does it, or says why that was not possible; what was typed stays.
 * @param {() => Promise<void>} work
 */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    const isAnswer = error instanceof Error && error.name === "Error";
    say(isAnswer ? error.message : text("noConnection"));
  }
}

function focusFirst() {
  const first = part("thread").querySelector("textarea, [autofocus], button");
  if (first instanceof HTMLElement) first.focus();
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const isMessage = form.querySelector("textarea") !== null;
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) body.append(name, String(value));
  say("");
  if (!(await load(form.action, { method: "POST", body }))) {
    focusFirst();
    return;
  }
  if (!isMessage) options.within.close();
  else {
    say(text("sent"));
    focusFirst();
  }
}

function prepare() {
  if (isPrepared) return;
  isPrepared = true;
  const { within } = options;
  within.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement) || event.target.method === "dialog") return;
    event.preventDefault();
    const form = event.target;
    attempt(() => send(form));
  });
  within.addEventListener("keydown", (event) => {
    const area = event.target;
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    if (!(area instanceof HTMLTextAreaElement)) return;
    event.preventDefault();
    area.form?.requestSubmit();
  });
  within.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-thread]") : null;
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    attempt(async () => {
      await load(link.href);
      focusFirst();
    });
  });
}

/** @param {Options} given */
export async function openThread(given) {
  options = given;
  prepare();
  const { within } = options;
  const heading = within.querySelector("h2");
  if (heading) heading.textContent = given.heading;
  part("thread").replaceChildren();
  say(text("loading"));
  within.showModal();
  await attempt(async () => {
    await load(given.url);
    say("");
    const area = part("thread").querySelector("textarea");
    if (area && given.words) area.value = given.words;
    focusFirst();
  });
}
