// What every module of the annotator's page needs: the page, its parts, its words to the server.

export const page = document.getElementById("label-page");
export const part = (name) => page.querySelector(`[data-part="${name}"]`);
export const dialog = (name) => document.getElementById(`${name}-dialog`);

// from the cookie, where it is new at once when somebody has signed in again in another tab
export const csrf = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";

export const headers = () => ({
  "Content-Type": "application/json",
  "X-CSRFToken": csrf(),
  "Touchstone-Account": page.dataset.account,
});

export function post(url, body, options = {}) {
  return fetch(url, { method: "POST", headers: headers(), body: JSON.stringify(body), ...options });
}

export function toast(text, tone = "info") {
  document.dispatchEvent(new CustomEvent("toast", { detail: { text, tone } }));
}

// for those who hear the page instead of seeing it
export function announce(text) {
  part("live").textContent = text;
}

const UNPAINTED = 100; // milliseconds; a page that nobody sees is not painted

// Resolves when what is on the page now has been painted, so that nothing is in the way of that.
export function afterPaint() {
  return new Promise((resolve) => {
    const after = new MessageChannel();
    after.port1.onmessage = () => {
      after.port1.close();
      resolve();
    };
    requestAnimationFrame(() => after.port2.postMessage(0));
    setTimeout(resolve, UNPAINTED);
  });
}
