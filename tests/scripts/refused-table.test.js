import assert from "node:assert/strict";
import { test } from "node:test";
import { labelWords, reasonOf, refusedTable } from "../../static/annotation/refused-table.js";
import { row } from "./builders.js";

/** @param {number | null} code */
const gradeName = (code) => (code === 2 ? "Good" : "");

test("a reason is its message, or the words that older pages stored", () => {
  assert.equal(reasonOf({ refused: { code: "closed", message: "It is closed." } }), "It is closed.");
  assert.equal(reasonOf({ refused: "It is closed." }), "It is closed.");
  assert.equal(reasonOf({}), "");
});

test("a label is named by its grade, or by its code where the page has no such grade", () => {
  assert.equal(labelWords(row(1), gradeName), "Graded Good");
  assert.equal(labelWords(row(1, { grade: 9 }), gradeName), "Graded 9");
  assert.equal(
    labelWords(row(1, { outcome: "unsure", reason: "unclear" }), gradeName),
    "Can’t tell: unclear",
  );
  assert.equal(labelWords(row(1, { outcome: "retracted" }), gradeName), "Undone");
});

test("a cell is one line, and no formula", () => {
  const table = refusedTable([{ ...row(1, { note: "=1+1\n\tand" }), about: { query: "@q" } }], gradeName);
  const lines = table.split("\n");
  assert.equal(lines.length, 2);
  assert.deepEqual(lines[1]?.split("\t"), [
    ...["'@q", "", "Untitled", "Graded Good", "'=1+1 and", "2026-03-01T12:00:00.000Z", ""],
  ]);
  assert.equal(lines[0]?.split("\t").length, 7);
});
