// Coloured places in the text, without touching it: CSS Custom Highlights, also in a frame.

const frames = new Set();

export function highlight(name, ranges) {
  if (ranges.length === 0 && frames.size === 0) {
    CSS.highlights?.delete(name);
    return;
  }
  const byWindow = new Map([[window, []], ...[...frames].map((frame) => [frame, []])]);
  for (const range of ranges) {
    const view = range.startContainer.ownerDocument.defaultView;
    if (!view) continue;
    if (!byWindow.has(view)) byWindow.set(view, []);
    byWindow.get(view).push(range);
  }
  for (const [view, own] of byWindow) {
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
