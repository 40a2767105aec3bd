import assert from "node:assert/strict";
import { test } from "node:test";
import { byWindow } from "../../static/annotation/highlights.js";

/** @import { View } from "../../static/annotation/highlights.js" */

/** @param {string} name */
const view = (name) => /** @type {View} */ (/** @type {unknown} */ ({ name }));

/** @param {View | null} defaultView */
const rangeIn = (defaultView) =>
  /** @type {Range} */ (/** @type {unknown} */ ({ startContainer: { ownerDocument: { defaultView } } }));

test("ranges go to the window that shows them, in their order", () => {
  const page = view("page");
  const frame = view("frame");
  const ranges = [rangeIn(page), rangeIn(frame), rangeIn(page)];
  assert.deepEqual(
    [...byWindow(ranges, [page])],
    [
      [page, [ranges[0], ranges[2]]],
      [frame, [ranges[1]]],
    ],
  );
});

test("a window that has none any more is named, so that its highlights go", () => {
  const page = view("page");
  const frame = view("frame");
  assert.deepEqual([...byWindow([rangeIn(page)], [page, frame])].at(1), [frame, []]);
});

test("a range of a frame that is gone is left out", () => {
  const page = view("page");
  assert.deepEqual([...byWindow([rangeIn(null)], [page])], [[page, []]]);
});
