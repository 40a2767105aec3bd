import assert from "node:assert/strict";
import { test } from "node:test";
import { needlePattern, placeOf, toggled } from "../../static/annotation/spans.js";

/**
 * @param {number} start
 * @param {number} end
 */
const span = (start, end, field = "body") => ({ field, start, end });

test("a selection is marked beside what is marked already", () => {
  assert.deepEqual(toggled([span(0, 5)], [span(7, 9)], 200), [span(0, 5), span(7, 9)]);
});

test("what overlaps the selection gives way to it", () => {
  assert.deepEqual(toggled([span(0, 5), span(8, 9)], [span(3, 7)], 200), [span(8, 9), span(3, 7)]);
});

test("selecting within a mark unmarks it", () => {
  assert.deepEqual(toggled([span(0, 5), span(8, 9)], [span(1, 3)], 200), [span(8, 9)]);
  assert.deepEqual(toggled([span(0, 5)], [span(0, 5)], 200), []);
});

test("marks that only touch, or are in another field, stay", () => {
  assert.deepEqual(toggled([span(0, 5)], [span(5, 7)], 200), [span(0, 5), span(5, 7)]);
  assert.deepEqual(toggled([span(0, 5, "title")], [span(0, 5)], 200), [span(0, 5, "title"), span(0, 5)]);
});

test("no more are kept than the server takes", () => {
  assert.equal(toggled([span(0, 1), span(2, 3)], [span(4, 5)], 2).length, 2);
});

test("a mark is named by its field and where it starts", () => {
  assert.equal(placeOf(span(3, 9, "fields.Brand")), "fields.Brand 3");
});

test("typed text is found as it is, in any case, over any white space", () => {
  assert.deepEqual("A.b a.B aXb".match(needlePattern("a.b") ?? /(?!)/), ["A.b", "a.B"]);
  assert.deepEqual("red\n  shoes".match(needlePattern("red shoes") ?? /(?!)/), ["red\n  shoes"]);
  assert.deepEqual("1-2 [x] a/b".match(needlePattern("[x]") ?? /(?!)/), ["[x]"]);
  assert.equal(needlePattern("  "), null);
});
