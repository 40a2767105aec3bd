// Marking text as the reason for a grade: with a pointer, and with keys alone.
import { MOST_SPANS, SELECTION_HOLDS } from "./constants.js";
import { shownFields } from "./document.js";
import { frameDocument } from "./frame.js";
import { part } from "./page.js";
import { toggled } from "./spans.js";

/** @import { Pair, Span } from "./types.js" */

/**
 * A tap on a button takes the selection away before the button hears of it.
 * @type {{ range: Range, at: number } | null}
 */
let selected = null;

/** The selection in the document that is shown; null where nothing of it is selected. */
function selectionInStage() {
  const selection = document.getSelection();
  const isInside = selection && !selection.isCollapsed && part("stage").contains(selection.anchorNode);
  return isInside ? selection : null;
}

document.addEventListener("selectionchange", () => {
  const selection = selectionInStage();
  if (selection) selected = { range: selection.getRangeAt(0).cloneRange(), at: performance.now() };
});

function selectedRange() {
  const inFrame = frameDocument()?.getSelection();
  if (inFrame && !inFrame.isCollapsed) return inFrame.getRangeAt(0);
  const isCollapsed = document.getSelection()?.isCollapsed ?? true;
  if (!isCollapsed) return selectionInStage()?.getRangeAt(0) ?? null;
  return selected && performance.now() - selected.at < SELECTION_HOLDS ? selected.range : null;
}

/**
 * The pair's spans with what is selected; without it where that is marked already; null: nothing is.
 * @param {Pair} pair
 * @param {Range | null} range
 * @returns {Span[] | null}
 */
export function spansWithSelection(pair, range = selectedRange()) {
  const chosen = range ? shownFields().spansOf(range) : [];
  if (!range || chosen.length === 0) return null;
  range.startContainer.ownerDocument?.getSelection()?.removeAllRanges();
  selected = null;
  return toggled(pair.spans ?? [], chosen, MOST_SPANS);
}
