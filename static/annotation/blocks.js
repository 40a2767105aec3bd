// A document's text in pieces that a browser lays out only when they come into sight: prose, and
// code, which keeps its columns. Nothing is left out: the pieces joined are the text.

const SIZE = 2_000; // a piece ends at the next line end after so many characters
const LONGEST = 32_000; // a line without end is cut at a blank
const WIDTH = 85; // characters of a line on the screen, about
const INDENTED = /^(?: {4}|\t)/;
const PROMPT = /^(?:>>> |\.\.\. |\$ |In \[\d+\]: )/;
const OPENING = /^(?:async def|def|class) \w.*:\s*$|^@\w[\w.]*(?:\(.*\))?\s*$/; // its body is indented
// not what prose has too: brackets, a semicolon at the end of a clause, a quotation behind ">"
const SIGNS =
  /[{}\\]|\w\(|\);|::|[-=]>|\s[-+*/%&|<>!=:]?==?\s|\w=[^\s=]|<\/?\w[^>]*>|^\s*(?:return|const|let|var)\b.*;\s*$|^\s*(?:import|from) [\w.]+(?: import .+)?;?\s*$/;
const STATEMENT =
  /[;{}]\s*$|^\s*(?:(?:def|class|import|function|const|let|var|return|public|private|static)\b|#include|@\w|\/\/|\/\*)/;
const FENCE = /^\s*(?:\x60{3}|~~~)/;

/**
 * Lines that go together; `start` and `end`: UTF-16 units in the text.
 * @typedef {{ start: number, end: number, indented: boolean, isFenced: boolean, lines: string[], rows: number }} Block
 */

/**
 * A piece of the text; `rows`: about how many lines it has on the screen.
 * @typedef {{ start: number, end: number, isCode: boolean, rows: number }} Piece
 */

/** @param {string} text */
function* lines(text) {
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf("\n", start) + 1 || text.length;
    if (end - start > LONGEST) end = text.lastIndexOf(" ", start + LONGEST) + 1;
    if (end <= start) end = Math.min(text.length, start + LONGEST);
    yield { start, end, line: text.slice(start, end) };
    start = end;
  }
}

/**
 * The share of the lines that fit.
 * @param {string[]} of
 * @param {RegExp} pattern
 */
const share = (of, pattern) => of.filter((line) => pattern.test(line)).length / Math.max(1, of.length);

/**
 * A source file has no indented passages that stand out: it is code as a whole.
 * @param {string} text
 */
function isSource(text) {
  const first = text
    .slice(0, 8_000)
    .split("\n")
    .filter((line) => line.trim());
  return first.length > 4 && share(first, STATEMENT) > 0.5 && share(first, SIGNS) > 0.2;
}

/** @param {Block} block */
function looksLikeCode(block) {
  if (block.isFenced) return true;
  const filled = block.lines.filter((line) => line.trim());
  return filled.some((line) => PROMPT.test(line)) || share(filled, SIGNS) > 0.4;
}

/**
 * The text in pieces, in order, without gaps.
 * @param {string} text
 */
export function blocksOf(text) {
  const source = isSource(text);
  /** @type {Block[]} */
  const found = [];
  let block = /** @type {Block | null} */ (null);
  let inFence = false;
  for (const { start, end, line } of lines(text)) {
    const isFence = FENCE.test(line);
    const fenced = inFence || isFence;
    const blank = !line.trim();
    /** @type {boolean} */
    const indented =
      fenced ||
      INDENTED.test(line) ||
      PROMPT.test(line) ||
      OPENING.test(line) ||
      (blank && Boolean(block?.indented));
    if (isFence) inFence = !inFence;
    if (!block || block.indented !== indented || start - block.start > SIZE) {
      block = { start, end, indented, isFenced: fenced, lines: [], rows: 0 };
      found.push(block);
    }
    block.end = end;
    block.lines.push(line);
    block.rows += Math.ceil(line.length / WIDTH);
  }
  /** @type {Piece[]} */
  const pieces = [];
  for (const block of found) {
    const { start, end, rows } = block;
    const isCode = source || (block.indented && looksLikeCode(block));
    const last = pieces.at(-1);
    if (last && last.isCode === isCode && end - last.start <= SIZE) {
      last.end = end;
      last.rows += rows;
    } else pieces.push({ start, end, isCode, rows });
  }
  return pieces;
}
