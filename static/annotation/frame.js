// A document's HTML, cleaned by the server, in a sandboxed frame: no script runs there. The frame is
// as high as what it shows, so that the page scrolls as one, and hands its keys to the page.
import { part } from "./page.js";

const KEYS = ["key", "code", "ctrlKey", "metaKey", "altKey", "shiftKey", "repeat"];

function textNodes(within) {
  const walker = within.ownerDocument.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function handOver(event) {
  const init = Object.fromEntries(KEYS.map((name) => [name, event[name]]));
  const copy = new KeyboardEvent("keydown", { ...init, bubbles: true, cancelable: true });
  if (!part("scroll").dispatchEvent(copy)) event.preventDefault();
}

// place: the element that gets the frame. onText(nodes): the frame is there, with these text nodes;
// never called for a frame that was replaced.
export function showFrame(place, html, onText) {
  place.hidden = !html;
  place.replaceChildren();
  if (!html) return;
  const frame = document.createElement("iframe");
  frame.className = "document-frame";
  frame.title = "The document";
  frame.setAttribute("sandbox", "allow-same-origin");
  frame.addEventListener("load", () => {
    if (!frame.isConnected || !frame.contentDocument?.body) return;
    const inside = frame.contentDocument;
    const { theme } = document.documentElement.dataset;
    if (theme) inside.documentElement.dataset.theme = theme;
    scaleFrame(place);
    new ResizeObserver(() => fitFrame(place)).observe(place);
    fitFrame(place);
    inside.addEventListener("keydown", handOver);
    inside.addEventListener("click", () => {
      if (inside.getSelection().isCollapsed) part("scroll").focus({ preventScroll: true });
    });
    onText(textNodes(inside.body));
  });
  frame.srcdoc = html;
  place.append(frame);
}

// Makes the frame in this place, if there is one, as high as what it shows. Asked for its width, what is
// not on the screen gets one, but not always the one that it has when it comes there.
export function fitFrame(place) {
  const frame = place.querySelector("iframe");
  const inside = frame?.contentDocument;
  if (inside?.URL !== "about:srcdoc" || place.offsetWidth === 0 || inside.defaultView.innerWidth === 0) return;
  frame.style.height = `${inside.documentElement.offsetHeight + 2}px`;
}

// Gives the frame in this place, if there is one, the size of the text around it.
export function scaleFrame(place) {
  const inside = place.querySelector("iframe")?.contentDocument;
  if (inside) inside.documentElement.style.fontSize = getComputedStyle(place).fontSize;
}

export function frameDocument() {
  return part("frame").querySelector("iframe")?.contentDocument ?? null;
}
