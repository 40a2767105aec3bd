// The texts of a document on the screen, by the names under which labels mark places in them:
// title, body, html, and fields.NAME. Offsets outside of here are in characters, as the server
// counts them; the screen counts UTF-16 units.
import { pieceAt, toCharacters, toUnit } from "./offsets.js";

/** @import { Span } from "./types.js" */

/** @typedef {{ node: Text, start: number }} Piece a text node, and where its text starts */

/** @typedef {{ text: string, from: number, pieces: Piece[] }} Field pieces: in order */

/**
 * @param {Text} node
 * @returns {Document}
 */
const documentOf = (node) => /** @type {Document} */ (node.ownerDocument);

export class Fields {
  /** @type {Map<string, Field>} */
  #fields = new Map();

  clear() {
    this.#fields.clear();
  }

  /**
   * @param {string} name
   * @param {Text[]} nodes show the field's text, one after the other
   * @param {string} text
   * @param {number} from where what is to be seen of it begins; what comes before is neither found nor marked
   */
  add(name, nodes, text = nodes.map((node) => node.data).join(""), from = 0) {
    let start = 0;
    const pieces = nodes.map((node) => {
      const piece = { node, start };
      start += node.length;
      return piece;
    });
    if (start > 0) this.#fields.set(name, { text, from, pieces });
  }

  /**
   * Ranges of all matches in reading order, at most so many.
   * @param {RegExp} pattern
   * @param {number} most
   */
  matches(pattern, most) {
    /** @type {Range[]} */
    const ranges = [];
    for (const field of this.#fields.values()) {
      pattern.lastIndex = field.from; // matchAll begins there
      for (const match of field.text.matchAll(pattern)) {
        if (match[0]) ranges.push(this.#range(field, match.index, match.index + match[0].length));
        if (ranges.length >= most) return ranges;
      }
    }
    return ranges;
  }

  /**
   * The places of a range as spans; several where it reaches over several fields.
   * @param {Range} range
   */
  spansOf(range) {
    const { endContainer, endOffset, startContainer, startOffset } = range;
    /** @type {Span[]} */
    const spans = [];
    for (const [name, field] of this.#fields) {
      let from = Infinity;
      let to = -1;
      for (const { node, start } of field.pieces) {
        const isElsewhere = start < field.from || documentOf(node) !== startContainer.ownerDocument;
        if (isElsewhere || !range.intersectsNode(node)) continue;
        from = Math.min(from, start + (startContainer === node ? startOffset : 0));
        to = Math.max(to, start + (endContainer === node ? endOffset : node.length));
      }
      while (from < to && !field.text.charAt(from).trim()) from += 1;
      while (to > from && !field.text.charAt(to - 1).trim()) to -= 1;
      if (from >= to) continue;
      spans.push({ field: name, start: toCharacters(field.text, from), end: toCharacters(field.text, to) });
    }
    return spans;
  }

  /**
   * A span's range and words; null where the document has no such place.
   * @param {Span} span
   */
  find(span) {
    const field = this.#fields.get(span.field);
    if (!field) return null;
    const start = toUnit(field.text, span.start);
    const end = toUnit(field.text, span.end);
    if (start >= end) return null;
    return { range: this.#range(field, start, end), words: field.text.slice(start, end) };
  }

  /**
   * @param {Field} field
   * @param {number} start
   * @param {number} end
   */
  #range({ pieces }, start, end) {
    const from = pieceAt(pieces, start);
    const to = pieceAt(pieces, end - 1);
    const range = documentOf(from.node).createRange();
    range.setStart(from.node, start - from.start);
    range.setEnd(to.node, end - to.start);
    return range;
  }
}
