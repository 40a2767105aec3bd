// Marked places in a document's text.

/** @import { Span } from "./types.js" */

/**
 * @param {Span} one
 * @param {Span} other
 */
const overlap = (one, other) => one.field === other.field && one.start < other.end && other.start < one.end;

/**
 * Whether each of the chosen places lies within one that is marked.
 * @param {Span[]} chosen
 * @param {Span[]} marked
 */
const isMarked = (chosen, marked) =>
  chosen.every((one) =>
    marked.some((span) => span.field === one.field && span.start <= one.start && one.end <= span.end),
  );

/**
 * The pair's spans after a selection: with the chosen places, or without them where they were marked.
 * @param {Span[]} marked
 * @param {Span[]} chosen
 * @param {number} most
 */
export function toggled(marked, chosen, most) {
  const others = marked.filter((span) => !chosen.some((one) => overlap(one, span)));
  return isMarked(chosen, marked) ? others : [...others, ...chosen].slice(0, most);
}

/**
 * A span's name on the button that unmarks it.
 * @param {Span} span
 */
export const placeOf = ({ field, start }) => `${field} ${start}`;

/**
 * A pattern that finds typed text in any case and with any white space; null where there is none.
 * @param {string} needle
 */
export function needlePattern(needle) {
  if (!needle.trim()) return null;
  const escaped = needle.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replace(/\s+/g, "\\s+");
  return new RegExp(escaped, "gi");
}
