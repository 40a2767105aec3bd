// The answer to a training pair in words.
import { format, gettext } from "./texts.js";

/** @import { TrainingResult } from "./types.js" */

/**
 * @param {TrainingResult} result
 * @param {number | null} grade of the label; null: can't tell
 * @param {(code: number) => string} named a grade in words
 */
export function headingWords({ low, high, is_right: isRight }, grade, named) {
  const range =
    low === high ? named(low) : format(gettext("{low} to {high}"), { low: named(low), high: named(high) });
  if (isRight) return format(gettext("Right: {range}"), { range });
  return grade === null
    ? format(gettext("Your answer: can’t tell. The right grade is {range}."), { range })
    : format(gettext("Your label: {grade}. The right grade is {range}."), { grade: named(grade), range });
}

/**
 * What the answer means for the attempt to qualify.
 * @param {TrainingResult} result
 */
export function attemptWords({ counts, state, right, done, pairs, needed }) {
  if (!counts) return gettext("Only your first answer counts.");
  if (state === "passed")
    return format(gettext("Passed: {right} of {pairs} right. Your next labels count."), { right, pairs });
  if (state === "failed")
    return format(gettext("{right} of {pairs} right, {needed} needed."), { right, pairs, needed });
  return format(gettext("{done} of {pairs} done, {right} right, {needed} needed."), {
    done,
    pairs,
    right,
    needed,
  });
}
