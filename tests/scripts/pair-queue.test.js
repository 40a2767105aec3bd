import assert from "node:assert/strict";
import { test } from "node:test";
import { PairQueue } from "../../static/annotation/pair-queue.js";
import { label, numbersFrom, pair, query } from "./builders.js";

/** @import { Pair } from "../../static/annotation/types.js" */

/**
 * A queue with the first of these pairs on the screen.
 * @param {Pair[]} pairs
 */
function queueOf(...pairs) {
  const queue = new PairQueue();
  queue.add(pairs);
  queue.next();
  return queue;
}

/** @param {Pair[]} pairs */
const names = (pairs) => pairs.map(({ name }) => name).join("");

/**
 * @param {string} name
 * @param {string} id of its query
 */
const of = (name, id) => pair(name, { query: query(id) });

test("pairs come in the server's order, each once", () => {
  const queue = queueOf(pair("a"), pair("b"));
  queue.add([pair("b"), pair("a"), pair("c")]);
  assert.equal(queue.current?.name, "a");
  assert.equal(names(queue.ahead), "bc");
  assert.deepEqual(queue.held, ["assignment-a", "assignment-b", "assignment-c"]);
});

test("a labelled pair does not come again", () => {
  const queue = queueOf(pair("a"));
  queue.finish(pair("a"), label("1"));
  queue.next();
  queue.add([pair("a")]);
  assert.deepEqual(queue.held, []);
});

test("a pair that is put off comes back at the end of its query, and is counted", () => {
  const queue = queueOf(of("a", "q1"), of("b", "q1"), of("c", "q1"), of("d", "q2"));
  assert.equal(queue.inQuery, 3);
  assert.equal(queue.postpone(), true);
  queue.next();
  assert.equal(names(queue.ahead), "cad");
  assert.equal(queue.postponedCount, 1);
});

test("what another page has labelled is left out", () => {
  const queue = queueOf(pair("a"));
  queue.leaveOut(["assignment-b"]);
  queue.add([pair("b"), pair("c")]);
  assert.equal(names(queue.ahead), "c");
});

test("the last pair of a query can't be put off", () => {
  const queue = queueOf(of("a", "q1"), of("b", "q2"));
  assert.equal(queue.postpone(), false);
  assert.equal(new PairQueue().postpone(), false);
});

test("a pair that is brought back comes before the one on the screen", () => {
  const queue = queueOf(pair("a"), pair("b"));
  queue.finish(pair("a"), label("1"));
  queue.next();
  queue.bringBack(pair("a"));
  assert.equal(queue.current?.name, "a");
  assert.equal(names(queue.ahead), "b");
  assert.deepEqual(queue.done, []);
});

test("a skipped query goes with the pair on the screen, and may come another time", () => {
  const queue = queueOf(of("a", "q1"), of("b", "q2"), of("c", "q1"));
  queue.drop(of("a", "q1"));
  assert.equal(queue.current, null);
  assert.equal(names(queue.ahead), "b");
  queue.add([of("c", "q1")]);
  assert.equal(names(queue.ahead), "bc");
});

test("the same pair under another assignment is noticed, and not the pair itself", () => {
  const queue = queueOf(pair("a"), pair("b"));
  assert.equal(queue.hasTwins([pair("a"), pair("b"), pair("c")]), false);
  assert.equal(queue.hasTwins([pair("b", { assignment: "assignment-new" })]), true);
});

test("the pair on the screen takes over its new assignment", () => {
  const queue = queueOf(pair("a"));
  queue.adopt([pair("a", { assignment: "assignment-new" })]);
  assert.deepEqual(queue.held, ["assignment-new"]);
  queue.add([pair("a", { assignment: "assignment-new" })]);
  assert.equal(names(queue.ahead), "");
});

test("it keeps its assignment where the server names that as well", () => {
  const queue = queueOf(pair("a"));
  queue.adopt([pair("a", { assignment: "assignment-new" }), pair("a")]);
  assert.deepEqual(queue.held, ["assignment-a"]);
});

test("what was labelled a moment ago is no news under another assignment", () => {
  const queue = queueOf(pair("a"));
  queue.finish(pair("a"), label("1"));
  const offered = [pair("a", { assignment: "assignment-new" }), pair("b")];
  assert.equal(names(queue.withoutLabelled(offered)), "b");
});

test("while one has to qualify, other pairs go", () => {
  const queue = queueOf(pair("a"), pair("b", { is_training: true }), pair("c"));
  queue.keepTraining();
  assert.equal(names(queue.ahead), "b");
});

test("a closed campaign empties the queue", () => {
  const queue = queueOf(pair("a"), pair("b"));
  queue.empty();
  assert.deepEqual(queue.held, []);
  assert.equal(queue.next(), null);
});

test("whatever is done, no pair is lost or there twice", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = numbersFrom(seed);
    const pairs = Array.from({ length: 12 }, (_, n) => of(String.fromCharCode(97 + n), `q${n >> 2}`));
    const queue = queueOf(...pairs);
    for (let step = 0; step < 40; step += 1) {
      const dice = random();
      const last = queue.done.at(-1);
      if (dice < 0.4 && queue.current) {
        queue.finish(queue.current, label(queue.current.name));
        queue.next();
      } else if (dice < 0.7) {
        if (queue.postpone()) queue.next();
      } else if (last) queue.bringBack(last.pair);
      const everywhere = [...queue.held, ...queue.done.map((entry) => entry.pair.assignment)];
      assert.deepEqual(everywhere.sort(), pairs.map(({ assignment }) => assignment).sort(), `seed ${seed}`);
    }
  }
});
