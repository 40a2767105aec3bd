// A document's HTML, cleaned by the server, in a sandboxed frame: no script runs there. The frame is
// as high as what it shows, so that the page scrolls as one, and hands its keys to the page.
import { part } from "./page.js";
import { gettext } from "./texts.js";

/**
 * The text nodes of an element, in reading order.
 * @param {HTMLElement} root
 */
function textNodes(root) {
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  return nodes;
}

/** @param {KeyboardEvent} event */
function handOver(event) {
  const { key, code, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
  const pressed = { key, code, ctrlKey, metaKey, altKey, shiftKey, repeat };
  const copy = new KeyboardEvent("keydown", { ...pressed, bubbles: true, cancelable: true });
  if (!part("scroll").dispatchEvent(copy)) event.preventDefault();
}

/**
 * @param {HTMLElement} place gets the frame
 * @param {string} html
 * @param {(nodes: Text[]) => void} onText the frame is there, with these text nodes; never called for a
 *   frame that was replaced
 */
export function showFrame(place, html, onText) {
  place.hidden = !html;
  place.replaceChildren();
  if (!html) return;
  const frame = document.createElement("iframe");
  frame.className = "document-frame";
  frame.title = gettext("The document");
  frame.setAttribute("sandbox", "allow-same-origin");
  frame.addEventListener("load", () => {
    const inside = frame.contentDocument;
    if (!frame.isConnected || !inside?.body) return;
    const { theme } = document.documentElement.dataset;
    if (theme) inside.documentElement.dataset.theme = theme;
    scaleFrame(place);
    new ResizeObserver(() => fitFrame(place)).observe(place);
    fitFrame(place);
    inside.addEventListener("keydown", handOver);
    inside.addEventListener("click", () => {
      if (inside.getSelection()?.isCollapsed) part("scroll").focus({ preventScroll: true });
    });
    onText(textNodes(inside.body));
  });
  frame.srcdoc = html;
  place.append(frame);
}

/**
 * Makes the frame in this place, if there is one, as high as what it shows. Asked for its width, what is
 * not on the screen gets one, but not always the one that it has when it comes there.
 * @param {HTMLElement} place
 */
export function fitFrame(place) {
  const frame = place.querySelector("iframe");
  const inside = frame?.contentDocument;
  if (!frame || inside?.URL !== "about:srcdoc" || place.offsetWidth === 0) return;
  if (!inside.defaultView || inside.defaultView.innerWidth === 0) return;
  frame.style.height = `${inside.documentElement.offsetHeight + 2}px`;
}

/**
 * Gives the frame in this place, if there is one, the size of the text around it.
 * @param {HTMLElement} place
 */
export function scaleFrame(place) {
  const inside = place.querySelector("iframe")?.contentDocument;
  if (inside) inside.documentElement.style.fontSize = getComputedStyle(place).fontSize;
}

export function frameDocument() {
  return part("frame").querySelector("iframe")?.contentDocument ?? null;
}
