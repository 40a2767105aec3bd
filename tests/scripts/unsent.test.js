import assert from "node:assert/strict";
import { test } from "node:test";
import { labelledAssignments, oldestFirst, settle, verdict } from "../../static/annotation/unsent.js";
import { row } from "./builders.js";

const PROBLEM = "application/problem+json; charset=utf-8";

test("labels are sent in the order in which they were made", () => {
  assert.deepEqual(
    oldestFirst([row(3), row(1), row(2)]).map(({ n }) => n),
    [1, 2, 3],
  );
});

test("a pair is labelled by its last label: a retraction frees it, another label takes it again", () => {
  const rows = [
    row(1, { assignment: "a" }),
    row(2, { assignment: "b" }),
    row(3, { assignment: "a", outcome: "retracted" }),
  ];
  assert.deepEqual([...labelledAssignments(rows)], ["b"]);
  assert.deepEqual([...labelledAssignments([...rows, row(4, { assignment: "a" })])].sort(), ["a", "b"]);
});

test("only what the answer names has left the browser", () => {
  const rows = [row(1), row(2), row(3)];
  const settled = settle(rows, {
    labels: [
      { id: "1", status: "stored" },
      { id: "3", status: "repeated" },
    ],
  });
  assert.deepEqual(settled.stored, [rows[0], rows[2]]);
  assert.equal(settled.isComplete, false);
  assert.equal(settled.hasSurplus, false);
});

test("a refused label is settled with its reason", () => {
  const refusal = { id: "1", status: /** @type {const} */ ("refused"), code: "unreadable", message: "No." };
  const { refused, stored, isComplete } = settle([row(1)], { labels: [refusal] });
  assert.deepEqual(refused, [{ row: row(1), receipt: refusal }]);
  assert.deepEqual(stored, []);
  assert.equal(isComplete, true);
});

test("an answer that is not ours settles nothing", () => {
  for (const answer of [null, {}, JSON.parse('{"labels": "all"}'), JSON.parse('{"labels": [null, {}]}')]) {
    assert.deepEqual(settle([row(1)], answer).stored, []);
    assert.equal(settle([row(1)], answer).isComplete, false);
  }
});

test("that others had filled a pair is said", () => {
  assert.equal(settle([row(1)], { labels: [{ id: "1", status: "stored", surplus: true }] }).hasSurplus, true);
});

test("a refusal that our server did not write says nothing about the labels", () => {
  for (const status of [400, 401, 403, 404, 413, 422, 500, 502]) {
    assert.equal(verdict({ status, type: "text/html" }), "offline");
    assert.equal(verdict({ status, type: null }), "offline");
  }
});

test("what our server says is acted upon", () => {
  /** @param {number} status */
  const of = (status, code = "") => verdict({ status, type: PROBLEM, code });
  assert.equal(verdict({ status: 200, type: "application/json" }), "read");
  assert.equal(of(401), "signed-out");
  assert.equal(of(403), "signed-out");
  assert.equal(of(403, "other_account"), "other-account");
  assert.equal(of(404), "shut-out");
  for (const status of [400, 413, 422]) assert.equal(of(status), "singly");
  for (const status of [409, 429, 500, 503]) assert.equal(of(status), "offline");
});
