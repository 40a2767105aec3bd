// Words to the server in somebody's name. The first of them, for the page's first pairs, is said as soon
// as this module runs: it is also a file of its own, which is there before the page's other scripts are.

const WISH = {
  count: 60,
  characters: 100_000, // soon there, and enough to begin with
  begins: true,
};
const { nextUrl, account } = document.getElementById("first-pairs").dataset;

const TIMEOUT = 15_000;

// from the cookie, where it is new at once when somebody has signed in again in another tab
export const csrf = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";

export const headers = () => ({
  "Content-Type": "application/json",
  "X-CSRFToken": csrf(),
  "Touchstone-Account": account,
});

export function post(url, body, options = {}) {
  return fetch(url, { method: "POST", headers: headers(), body: JSON.stringify(body), ...options });
}

export function askForPairs(wish) {
  return post(nextUrl, wish, { signal: AbortSignal.timeout(TIMEOUT) });
}

// asked for once, by whichever of the two files runs first
globalThis.firstPairs ??= askForPairs(WISH);

export const firstAnswer = globalThis.firstPairs;

firstAnswer.catch(() => {}); // said where it is waited for
