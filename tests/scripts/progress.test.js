import assert from "node:assert/strict";
import { test } from "node:test";
import { PairQueue } from "../../static/annotation/pair-queue.js";
import { Progress } from "../../static/annotation/progress.js";
import { label, pair, query } from "./builders.js";

/** @import { ProgressView } from "../../static/annotation/progress.js" */

/** A progress with what it showed. */
function start() {
  const queue = new PairQueue();
  /** @type {ProgressView[]} */
  const shown = [];
  const progress = new Progress(queue, (view) => shown.push(view));
  return { progress, queue, last: () => shown.at(-1), shown };
}

test("nothing is shown before the server has counted", () => {
  const { progress, shown } = start();
  progress.count(1, 3);
  progress.show();
  assert.deepEqual(shown, []);
});

test("labels count at once, retractions count back, and never below nothing", () => {
  const { progress, last } = start();
  progress.set({ done: 4, left: 1 });
  progress.count(1, 3);
  progress.count(1, 3);
  progress.show();
  assert.deepEqual([last()?.done, last()?.total], [6, 6]);
  for (let times = 0; times < 8; times += 1) progress.count(-1);
  assert.equal(progress.done, 0);
});

test("the pace is today's, from five labels on", () => {
  const { progress, last } = start();
  progress.begin({ progress: { done: 0, left: 600 }, pace: { labels: 3, seconds: 18 } });
  progress.count(1, 6);
  progress.show();
  assert.equal(last()?.pace, "");
  progress.count(1, 6);
  progress.show();
  assert.equal(last()?.left, "about 1 h left"); // 598 pairs of 6 seconds
  assert.equal(last()?.pace, "600 labels per hour today, without breaks");
});

test("a pair that took an hour counts as ten minutes", () => {
  const { progress, last } = start();
  progress.begin({ progress: { done: 0, left: 10 }, pace: { labels: 5, seconds: 600 } });
  progress.count(1, 3600);
  progress.show();
  assert.equal(last()?.left, "about 30 min left"); // 9 pairs of 200 seconds
});

test("of a query it says what was done before and here, and what is here", () => {
  const { progress, queue, last } = start();
  const [first, second] = ["a", "b"].map((name) => pair(name, { query: query("q1"), doneInQuery: 7 }));
  assert.ok(first && second);
  queue.add([first, second]);
  queue.next();
  progress.set({ done: 7, left: 2 });
  assert.equal(last()?.inQuery, "This query: 7 of 9");
  queue.finish(first, label("a"));
  queue.next();
  progress.show();
  assert.equal(last()?.inQuery, "This query: 8 of 9");
});

test("of the only pair of its query it says nothing", () => {
  const { progress, queue, last } = start();
  queue.add([pair("a", { doneInQuery: 0 })]);
  queue.next();
  progress.set({ done: 0, left: 1 });
  assert.equal(last()?.inQuery, "");
});

test("pairs that were put off are counted on their button", () => {
  const { progress, queue, last } = start();
  queue.add([pair("a"), pair("b"), pair("c")]);
  queue.next();
  queue.postpone();
  queue.next();
  progress.set({ done: 0, left: 3 });
  assert.equal(last()?.later, "Later (1)");
});
