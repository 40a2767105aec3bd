// The words of a query that are worth marking in a document.

const STOP = new Set(
  (
    "the and for with from that this into out are how what when where which who can does did was were not you your all any has have its " +
    "have been being there these those they their them than then some such same other between about over under through during due even " +
    "while will would could should may might must of to in is on at by or an as it be do if my me we no so up us a i"
  ).split(" "),
);
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Scripts without blanks between words: every two letters that follow each other.
 * @param {string} term
 */
function pairs(term) {
  const letters = [...term];
  return letters.slice(1).map((letter, position) => `${letters[position]}${letter}`);
}

/** Few letters begin too many other words: "pre" is no part of "pressure". */
const SHORT = /^\p{Script=Latin}{1,3}$/u;
/** @param {string} word */
const isShort = (word) => SHORT.test(word);
/** @param {string} word */
const singular = (word) => (/^\p{Script=Latin}{3,}[^\W\dsiu]s$/u.test(word) ? word.slice(0, -1) : word);

/**
 * A pattern that finds a query's words, longer ones also with another ending; null where there are none.
 * @param {string} query
 */
export function termsPattern(query) {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []);
  const spaced = [...words].filter((word) => !UNSPACED.test(word) && word.length > 1 && !STOP.has(word));
  const unspaced = [...words]
    .filter((word) => UNSPACED.test(word))
    .flatMap((word) => (word.length > 1 ? pairs(word) : [word]));
  /** @type {string[]} */
  const parts = [];
  const short = spaced.filter(isShort);
  const long = spaced.filter((word) => !isShort(word)).map(singular);
  if (short.length > 0) parts.push(`(?<![\\p{L}\\p{N}])(?:${short.join("|")})s?(?![\\p{L}\\p{N}])`);
  if (long.length > 0) parts.push(`(?<![\\p{L}\\p{N}])(?:${long.join("|")})(?:e?s(?![\\p{L}\\p{N}]))?`);
  if (unspaced.length > 0) parts.push(unspaced.join("|"));
  return parts.length > 0 ? new RegExp(parts.join("|"), "giu") : null;
}
