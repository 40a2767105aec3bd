import assert from "node:assert/strict";
import { test } from "node:test";
import { amend, fits, History, requestOf, withdraw } from "../../static/annotation/history.js";
import { PairQueue } from "../../static/annotation/pair-queue.js";
import { entry, label, pair, query } from "./builders.js";

test("without a filter every label fits", () => {
  assert.equal(fits("", entry(pair("a")), null), true);
});

test("a grade fits its own filter alone, and 0 is a grade", () => {
  assert.equal(fits("grade=0", entry(pair("a"), { grade: 0 }), null), true);
  assert.equal(fits("grade=0", entry(pair("a"), { grade: null, outcome: "unsure" }), null), false);
  assert.equal(fits("grade=1", entry(pair("a"), { grade: 2 }), null), false);
});

test("labels without a grade and labels with a note have filters", () => {
  assert.equal(fits("cannot_tell=true", entry(pair("a"), { outcome: "unjudgeable" }), null), true);
  assert.equal(fits("cannot_tell=true", entry(pair("a")), null), false);
  assert.equal(fits("noted=true", entry(pair("a"), { note: "why" }), null), true);
  assert.equal(fits("noted=true", entry(pair("a")), null), false);
  assert.equal(fits("only=l1", entry(pair("a"), { id: "l1" }), null), true);
  assert.equal(fits("only=l1", entry(pair("a"), { id: "l2" }), null), false);
});

test("the filter by query compares ids, not texts", () => {
  const here = pair("a", { query: query("q1") });
  const sameText = pair("b", { query: { ...query("q1"), id: "q2" } });
  assert.equal(fits("query", entry(here), here), true);
  assert.equal(fits("query", entry(sameText), here), false);
});

test("the server is asked for the same filter, before the oldest label that it named", () => {
  assert.equal(String(requestOf("", "", null)), "limit=10");
  assert.equal(String(requestOf("grade=3", "label-9", null)), "limit=10&before=label-9&grade=3");
  assert.equal(String(requestOf("query", "", pair("a"))), "limit=10&query_of=assignment-a");
});

test("a correction holds, and what was said before is remembered", () => {
  const one = entry(pair("a"), { id: "1", grade: 1 });
  amend(one, label("2", { grade: 3 }));
  assert.equal(one.label.grade, 3);
  assert.deepEqual(
    one.earlier.map(({ id }) => id),
    ["1"],
  );
});

test("when a correction is refused, what was said before holds again", () => {
  const one = entry(pair("a"), { id: "1", grade: 1 });
  amend(one, label("2", { grade: 3 }));
  assert.equal(withdraw(one, "2"), true);
  assert.equal(one.label.grade, 1);
});

test("when the first of two labels is refused, the correction holds alone", () => {
  const one = entry(pair("a"), { id: "1", grade: 1 });
  amend(one, label("2", { grade: 3 }));
  assert.equal(withdraw(one, "1"), true);
  assert.equal(one.label.id, "2");
  assert.equal(withdraw(one, "2"), false);
});

/**
 * A history over a server that has these labels, and what it was asked.
 * @param {PairQueue} queue
 * @param {{ id: string, pair: ReturnType<typeof pair> }[]} stored newest first
 * @param {import("node:test").TestContext} context
 */
function historyOver(queue, stored, context) {
  /** @type {string[]} */
  const asked = [];
  context.mock.method(globalThis, "fetch", async (/** @type {string} */ url) => {
    const before = new URL(url, "http://server").searchParams.get("before");
    asked.push(before ?? "");
    const from = stored.findIndex(({ id }) => id === before) + 1;
    const labels = stored.slice(from, from + 10).map((one) => ({ ...label(one.id), ...one }));
    return new Response(JSON.stringify(labels));
  });
  return { asked, history: new History({ queue, url: "/labels", unsent: async () => 0 }) };
}

test("the way back leads through this page's labels, then the server's, without saying one twice", async (context) => {
  const queue = new PairQueue();
  for (const name of ["y", "z"]) queue.finish(pair(name), label(name));
  const stored = ["z", "y", ..."abcdefghijkl"].map((name) => ({ id: name, pair: pair(name) }));
  const { asked, history } = historyOver(queue, stored, context);
  const seen = [];
  for (let one = await history.older(); one; one = await history.older()) seen.push(one.pair.name);
  assert.deepEqual(seen, ["z", "y", ..."abcdefghijkl"]);
  assert.deepEqual(asked, ["", "h"]);
  assert.equal(history.newer()?.pair.name, "k");
});

test("a pair that is on the page again is not shown as labelled", async (context) => {
  const queue = new PairQueue();
  queue.bringBack(pair("a"));
  const { history } = historyOver(queue, [{ id: "1", pair: pair("a") }], context);
  assert.equal(await history.older(), null);
  assert.equal(history.isNewest, true);
});

test("a server that fails is reported, and can be asked again", async (context) => {
  const queue = new PairQueue();
  const history = new History({ queue, url: "/labels", unsent: async () => 0 });
  context.mock.method(globalThis, "fetch", async () => new Response("", { status: 503 }));
  await assert.rejects(history.older(), /503/);
  context.mock.method(globalThis, "fetch", async () => new Response("[]"));
  assert.equal(await history.older(), null);
});
