// The words of a query that are worth marking in a document.

const STOP = new Set(
  ("the and for with from that this into out are how what when where which who can does did was were not you your all any has have its " +
    "have been being there these those they their them than then some such same other between about over under through during " +
    "while will would could should may might must of to in is on at by or an as it be do if my me we no so up us a i").split(" "),
);
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

// Scripts without blanks between words: every two letters that follow each other.
const pairs = (term) => [...term].slice(1).map((letter, place) => [...term][place] + letter);

// A pattern that finds them, also with another ending; null where there are none.
export function termsPattern(query) {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []);
  const spaced = [...words].filter((word) => !UNSPACED.test(word) && word.length > 1 && !STOP.has(word));
  const unspaced = [...words].filter((word) => UNSPACED.test(word)).flatMap((word) => (word.length > 1 ? pairs(word) : [word]));
  const parts = [];
  if (spaced.length > 0) parts.push(`(?<![\\p{L}\\p{N}])(?:${spaced.join("|")})`);
  if (unspaced.length > 0) parts.push(unspaced.join("|"));
  return parts.length > 0 ? new RegExp(parts.join("|"), "giu") : null;
}
