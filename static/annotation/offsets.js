// Where a document's view scrolls to, and how places in its text are counted.

/**
 * UTF-16 units, as the screen counts, in characters, as the server does.
 * @param {string} text
 * @param {number} unit
 */
export const toCharacters = (text, unit) => [...text.slice(0, unit)].length;

/**
 * @param {string} text
 * @param {number} characters
 */
export function toUnit(text, characters) {
  let unit = 0;
  for (let count = 0; count < characters && unit < text.length; count += 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

/**
 * The last of these whose `start` is not after the unit, by halving: a long document has hundreds.
 * @template {{ start: number }} T
 * @param {T[]} pieces in order; the first one starts at 0
 * @param {number} unit
 * @returns {T}
 */
export function pieceAt(pieces, unit) {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (/** @type {T} */ (pieces[middle]).start <= unit) low = middle;
    else high = middle - 1;
  }
  return /** @type {T} */ (pieces[low]);
}

const MARGIN = 8; // pixels

/**
 * By how much to scroll, in pixels, so that something is in sight, a third down; 0 where it is already.
 * @param {{ top: number, height: number }} what
 * @param {{ top: number, bottom: number, height: number }} view
 */
export function scrollDistance(what, view) {
  const isInSight = what.top >= view.top + MARGIN && what.top + what.height <= view.bottom - MARGIN;
  return isInSight ? 0 : what.top - view.top - view.height / 3;
}
