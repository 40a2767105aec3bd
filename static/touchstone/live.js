// A part of a page that the listener brings up to date (judgments/live.py). htmx asks for the part
// every few seconds, as it does without a listener; while a stream is open, those requests are held
// back. An event of the stream either has the part itself, which is put in place as an answer would
// be, or tells this page to ask: at most once a second, and at a random moment where all pages are
// told. A stream that ends or fails leaves htmx to ask as before, less often while answers are slow.

/** @typedef {{ elt: Element, xhr: XMLHttpRequest, headers: Record<string, string>,
 *   requestConfig?: { triggeringEvent?: Event } }} HtmxRequest */

const EVENT = "live"; // in hx-trigger
const ONCE_IN = 1000; // milliseconds between two requests
const BY_ITSELF = 30_000; // milliseconds until a page asks though no event came
const RETRY = 15_000; // milliseconds, and up to as many more, after a stream that failed
const TIMES = 10; // as long as answers take is the time between two requests, at least
const LONGEST = 10_000; // milliseconds of that
const CALMER = 0.8; // how much faster than the one before an answer counts, at most
const FAILED = 300; // milliseconds that an answer counts as when a stream has failed, as all may have

/** @type {EventSource | undefined} */
let stream;
let isOpen = false;
let newest = "0"; // the event because of which the page asks
let askedAt = Number.NEGATIVE_INFINITY;
let newsAt = Number.NEGATIVE_INFINITY; // when it asked, or was brought the part
let sent = "0"; // the event of the last request
/** @type {XMLHttpRequest | undefined} */
let asking; // the request that is not answered yet
let took = 0; // milliseconds that answers take
let retryAt = 0;
let shown = ""; // the part as it was last answered or brought
/** @type {string | undefined} */
let brought; // while the page is asking
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

/** @param {string} packed Base64 of what zlib compressed */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(plain).text();
}

/** @param {string} html the part, newer than what is shown */
function put(html) {
  const target = part();
  newsAt = performance.now();
  if (html === shown || !target) return;
  shown = html;
  target.dispatchEvent(new CustomEvent("live:beforeSwap", { bubbles: true }));
  // @ts-expect-error: the types of htmx are not installed
  const { htmx } = window;
  const how = { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 20 };
  htmx.swap(target, html, how, { eventInfo: { target } });
  if (!part()) end(); // it changes no more
}

/** @param {string} ticket */
function open(ticket) {
  const own = new EventSource(`/live?ticket=${encodeURIComponent(ticket)}`);
  let order = Promise.resolve(); // parts are unpacked in the order in which they come
  stream = own;
  own.addEventListener("open", () => {
    isOpen = true;
  });
  own.addEventListener("message", ({ data }) => {
    const { event, spread, part: packed } = JSON.parse(data);
    if (packed === undefined) {
      newest = event;
      plan(spread);
      return;
    }
    order = order.then(async () => {
      const html = await unpack(packed);
      if (stream !== own) return;
      if (asking) brought = html;
      else put(html);
    });
  });
  own.addEventListener("over", end); // the next request brings another ticket
  own.addEventListener("error", () => {
    if (stream !== own) return;
    end();
    took = Math.max(took, FAILED);
    askedAt = performance.now() - Math.random() * TIMES * FAILED; // not all at once
    retryAt = performance.now() + RETRY * (1 + Math.random());
  });
}

document.addEventListener("htmx:configRequest", (event) => {
  const { elt, headers } = requestOf(event);
  if (elt !== part()) return;
  sent = isOpen ? newest : "0";
  headers["X-Live-Event"] = sent;
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, xhr, requestConfig } = requestOf(event);
  if (elt !== part()) return;
  const now = performance.now();
  const isTold = requestConfig?.triggeringEvent?.type === EVENT;
  const pause = isOpen ? newsAt + BY_ITSELF : askedAt + Math.min(TIMES * took, LONGEST);
  if (!isTold && now < pause) {
    event.preventDefault();
    return;
  }
  askedAt = newsAt = now;
  asking = xhr;
});

// not `afterRequest`: that comes when the part may have been replaced
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { elt, xhr } = requestOf(event);
  if (elt !== part()) return;
  took = Math.max(performance.now() - askedAt, CALMER * took);
  if (xhr.getResponseHeader("X-Live-Again")) plan(ONCE_IN / 4);
  else if (newest === sent) newest = "0";
  if (xhr.status === 200) shown = xhr.responseText;
  const ticket = xhr.getResponseHeader("X-Live-Ticket");
  const canFollow = ticket && "DecompressionStream" in window && performance.now() >= retryAt;
  if (canFollow && !stream && !document.hidden) open(ticket);
});

// of whatever came of it, and of a part that was replaced too
document.addEventListener("htmx:afterRequest", (event) => {
  if (requestOf(event).xhr !== asking) return;
  asking = undefined;
  if (brought !== undefined) put(brought);
  brought = undefined;
});

// a browser holds few connections to one server: only pages that are looked at have one
document.addEventListener("visibilitychange", () => {
  if (document.hidden) end();
});
