// A part of a page that the listener tells of changes (judgments/live.py). htmx asks for the part
// every few seconds, as it does without a listener; while a stream is open, those requests are held
// back, and one is sent after each event: at most one a second, at a random moment, so that all
// open pages do not ask at once. A stream that ends or fails leaves htmx to ask as before.

/** @typedef {{ elt: Element, xhr: XMLHttpRequest, headers: Record<string, string>,
 *   requestConfig?: { triggeringEvent?: Event } }} HtmxRequest */

const EVENT = "live"; // in hx-trigger
const ONCE_IN = 1000; // milliseconds between two requests
const BY_ITSELF = 30_000; // milliseconds until a page asks though no event came
const RETRY = 15_000; // milliseconds, and up to as many more, after a stream that failed

/** @type {EventSource | undefined} */
let stream;
let isOpen = false;
let newest = "0"; // the event that the page knows of
let askedAt = Number.NEGATIVE_INFINITY;
let retryAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

const part = () => document.querySelector("[data-live]");

/** @param {Event} event */
const requestOf = (event) => /** @type {CustomEvent<HtmxRequest>} */ (event).detail;

function end() {
  stream?.close();
  stream = undefined;
  isOpen = false;
  newest = "0";
}

function ask() {
  waiting = undefined;
  part()?.dispatchEvent(new CustomEvent(EVENT));
}

/** @param {number} spread milliseconds within which all pages that do the same may ask */
function plan(spread) {
  const pause = Math.max(0, askedAt + ONCE_IN - performance.now());
  if (waiting === undefined) waiting = setTimeout(ask, pause + Math.random() * spread);
}

/** @param {string} ticket */
function open(ticket) {
  const own = new EventSource(`/live?ticket=${encodeURIComponent(ticket)}`);
  stream = own;
  own.addEventListener("open", () => {
    isOpen = true;
  });
  own.addEventListener("message", ({ data }) => {
    const { event, spread } = JSON.parse(data);
    newest = String(event);
    plan(spread);
  });
  own.addEventListener("over", end); // the next request brings another ticket
  own.addEventListener("error", () => {
    if (stream !== own) return;
    end();
    retryAt = performance.now() + RETRY * (1 + Math.random());
  });
}

document.addEventListener("htmx:configRequest", (event) => {
  const { elt, headers } = requestOf(event);
  if (elt === part()) headers["X-Live-Event"] = isOpen ? newest : "0";
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, requestConfig } = requestOf(event);
  if (elt !== part()) return;
  const now = performance.now();
  const isTold = requestConfig?.triggeringEvent?.type === EVENT;
  if (isOpen && !isTold && now - askedAt < BY_ITSELF) event.preventDefault();
  else askedAt = now;
});

// not `afterRequest`: that comes when the part may have been replaced
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { elt, xhr } = requestOf(event);
  if (elt !== part()) return;
  if (xhr.getResponseHeader("X-Live-Again")) plan(ONCE_IN / 4);
  const ticket = xhr.getResponseHeader("X-Live-Ticket");
  if (ticket && !stream && !document.hidden && performance.now() >= retryAt) open(ticket);
});

// a browser holds few connections to one server: only pages that are looked at have one
document.addEventListener("visibilitychange", () => {
  if (document.hidden) end();
});
