// The answer to a training pair in words.

/** @import { TrainingResult } from "./types.js" */

/**
 * @param {TrainingResult} result
 * @param {number | null} grade of the label; null: can't tell
 * @param {(code: number) => string} named a grade in words
 */
export function headingWords({ low, high, is_right: isRight }, grade, named) {
  const range = low === high ? named(low) : `${named(low)} to ${named(high)}`;
  if (isRight) return `Right: ${range}`;
  const label = grade === null ? "Your answer: can’t tell." : `Your label: ${named(grade)}.`;
  return `${label} The right grade is ${range}.`;
}

/**
 * What the answer means for the attempt to qualify.
 * @param {TrainingResult} result
 */
export function attemptWords({ counts, state, right, done, pairs, needed }) {
  if (!counts) return "Only your first answer counts.";
  if (state === "passed") return `Passed: ${right} of ${pairs} right. Your next labels count.`;
  if (state === "failed") return `${right} of ${pairs} right, ${needed} needed.`;
  return `${done} of ${pairs} done, ${right} right, ${needed} needed.`;
}
