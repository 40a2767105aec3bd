import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, number } from "../../static/annotation/numbers.js";

test("numbers have commas as English writes them", () => {
  for (const value of [0, 7, 999, 1000, 12_345, 999_999, 1_000_000, 1234.5]) {
    assert.equal(number(value), Math.round(value).toLocaleString("en"));
  }
});

test("durations are said as roughly as they are known", () => {
  assert.equal(duration(10), "less than a minute");
  assert.equal(duration(90), "about 2 min");
  assert.equal(duration(3600), "about 1 h");
  assert.equal(duration(45_000), "about 13 h");
  assert.equal(duration(3840), "about 1 h 4 min");
});
