// What every module of the annotator's page needs: the page and its parts.

export const page = document.getElementById("label-page");
export const part = (name) => page.querySelector(`[data-part="${name}"]`);
export const dialog = (name) => document.getElementById(`${name}-dialog`);

// 1234 as 1,234; the browser's own way takes it milliseconds to load
export const number = (value) => String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");

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
