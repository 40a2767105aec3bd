// Coloured places in the text, without touching it: CSS Custom Highlights, also in a frame.

/** @typedef {Window & typeof globalThis} View */

/** @type {Set<View>} frames that have something highlighted */
const frames = new Set();

/**
 * The ranges by the window that shows them; every window of `views` is in it. A range whose document is
 * no longer shown is left out.
 * @param {Range[]} ranges
 * @param {Iterable<View>} views
 */
export function byWindow(ranges, views) {
  /** @type {Map<View, Range[]>} */
  const found = new Map();
  for (const view of views) found.set(view, []);
  for (const range of ranges) {
    const view = range.startContainer.ownerDocument?.defaultView;
    if (view) found.set(view, [...(found.get(view) ?? []), range]);
  }
  return found;
}

/**
 * Highlights these ranges, and no others, under this name.
 * @param {"terms" | "reasons" | "found" | "found-now"} name as in label.css
 * @param {Range[]} ranges
 */
export function highlight(name, ranges) {
  if (ranges.length === 0 && frames.size === 0) {
    CSS.highlights?.delete(name);
    return;
  }
  for (const [view, own] of byWindow(ranges, [window, ...frames])) {
    if (!view.CSS?.highlights) continue;
    if (own.length > 0) {
      view.CSS.highlights.set(name, new view.Highlight(...own));
      if (view !== window) frames.add(view);
    } else view.CSS.highlights.delete(name);
  }
}

export function forgetFrames() {
  frames.clear();
}
