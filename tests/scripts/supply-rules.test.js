import assert from "node:assert/strict";
import { test } from "node:test";
import { mayHaveMore, nextSize } from "../../static/annotation/supply-rules.js";
import { pair } from "./builders.js";

test("a quick line gets more text the next time, a slow one less, within bounds", () => {
  assert.equal(nextSize(500_000, 100), 1_000_000);
  assert.equal(nextSize(500_000, 4000), 250_000);
  assert.equal(nextSize(2_000_000, 100), 2_000_000);
  assert.equal(nextSize(250_000, 60_000), 250_000);
});

test("an empty answer is asked about again while pairs are left", () => {
  assert.equal(mayHaveMore({ is_open: true, paused: "", progress: { done: 1, left: 4 } }, 0), true);
  assert.equal(mayHaveMore({ is_open: true, paused: "", pairs: [pair("a")] }, 0), true);
  assert.equal(mayHaveMore({ is_open: true, paused: "", progress: { done: 5, left: 0 } }, 0), false);
});

test("not more than three times, and not where nothing is to come", () => {
  const progress = { done: 1, left: 4 };
  assert.equal(mayHaveMore({ is_open: true, paused: "", progress }, 2), true);
  assert.equal(mayHaveMore({ is_open: true, paused: "", progress }, 3), false);
  assert.equal(mayHaveMore({ is_open: false, paused: "", progress }, 0), false);
  assert.equal(mayHaveMore({ is_open: true, paused: "Accuracy below threshold", progress }, 0), false);
});
