// How many pairs to ask for, and when to ask again.
import { EMPTY_RETRIES, FEWEST_CHARACTERS, MOST_CHARACTERS, QUICK_ANSWER } from "./constants.js";

/** @import { Answer } from "./types.js" */

/**
 * How many characters to ask for the next time: more on a quick line, fewer on a slow one.
 * @param {number} characters of the last answer, at most
 * @param {number} took milliseconds
 */
export const nextSize = (characters, took) =>
  Math.min(MOST_CHARACTERS, Math.max(FEWEST_CHARACTERS, characters * (took < QUICK_ANSWER ? 2 : 0.5)));

/**
 * Whether to ask again though nothing has come: a page that is just being left still seems to hold what
 * was offered, or gives it back only now.
 * @param {Answer} answer
 * @param {number} emptyAnswers in a row, until now
 */
export const mayHaveMore = ({ pairs = [], paused, is_open: isOpen, progress }, emptyAnswers) =>
  Boolean(isOpen) &&
  !paused &&
  emptyAnswers < EMPTY_RETRIES &&
  (pairs.length > 0 || (progress?.left ?? 0) > 0);
