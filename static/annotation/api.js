// Requests in the name of the account that opened the page. The first one, for the page's first pairs, is
// made as soon as this module runs: it is also a file of its own, which is there before the page's other
// scripts are.
import { FIRST_CHARACTERS, PAIRS_WANTED, REQUEST_TIMEOUT } from "./constants.js";
import { data, element } from "./dom.js";

/** @import { Wish } from "./types.js" */

const script = element(document, "#first-pairs", HTMLScriptElement);
const account = data(script, "account");
const nextUrl = data(script, "nextUrl");

// from the cookie, where it is new at once after a sign-in in another tab
export const csrf = () =>
  (document.cookie.match(/(?:^|; )__Host-csrftoken=([^;]+)/) ??
    document.cookie.match(/(?:^|; )csrftoken=([^;]+)/))?.[1] ?? "";

export const headers = () => ({
  "Content-Type": "application/json",
  "X-CSRFToken": csrf(),
  "Touchstone-Account": account,
});

/**
 * @param {string} url
 * @param {object} body
 * @param {RequestInit} options
 */
export function post(url, body, options = {}) {
  return fetch(url, { method: "POST", headers: headers(), body: JSON.stringify(body), ...options });
}

/** @param {Wish} wish */
export function requestPairs(wish) {
  return post(nextUrl, wish, { signal: AbortSignal.timeout(REQUEST_TIMEOUT) });
}

// requested once, by whichever of the two files runs first
const shared = /** @type {{ firstPairs?: Promise<Response> }} */ (globalThis);
shared.firstPairs ??= requestPairs({ count: PAIRS_WANTED, characters: FIRST_CHARACTERS, begins: true });

export const firstAnswer = shared.firstPairs;

firstAnswer.catch(() => {}); // reported where it is awaited
