import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptWords, headingWords } from "../../static/annotation/training-words.js";

/** @import { TrainingResult } from "../../static/annotation/types.js" */

/**
 * @param {Partial<TrainingResult>} what
 * @returns {TrainingResult}
 */
const result = (what = {}) => ({
  ...{ low: 2, high: 2, reason: "", is_right: false, counts: true },
  ...{ right: 3, done: 4, pairs: 10, needed: 8, state: "open" },
  ...what,
});

/** @param {number} code */
const named = (code) => `${code} grade`;

test("the right answer is said, as one grade or a range", () => {
  assert.equal(headingWords(result({ is_right: true }), 2, named), "Right: 2 grade");
  assert.equal(headingWords(result({ is_right: true, high: 3 }), 2, named), "Right: 2 grade to 3 grade");
});

test("a wrong answer is said beside the right one, and 0 is a grade", () => {
  assert.equal(headingWords(result(), 0, named), "Your label: 0 grade. The right grade is 2 grade.");
  assert.equal(headingWords(result(), null, named), "Your answer: can’t tell. The right grade is 2 grade.");
});

test("how the attempt stands follows from its state", () => {
  assert.equal(attemptWords(result()), "4 of 10 done, 3 right, 8 needed.");
  assert.equal(
    attemptWords(result({ state: "passed", right: 9 })),
    "Passed: 9 of 10 right. Your next labels count.",
  );
  assert.equal(attemptWords(result({ state: "failed" })), "3 of 10 right, 8 needed.");
  assert.match(attemptWords(result({ counts: false, state: "passed" })), /first answer/);
});
