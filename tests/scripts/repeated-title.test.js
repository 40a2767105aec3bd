import assert from "node:assert/strict";
import { test } from "node:test";
import { repeatedTitle } from "../../static/annotation/repeated-title.js";

/**
 * What is left to read.
 * @param {string} title
 * @param {string} text
 */
const rest = (title, text) => text.slice(repeatedTitle(title, text));

test("a title on a line of its own, or before a full stop, is not read twice", () => {
  assert.equal(rest("Red shoes", "RED SHOES\nThey are red."), "They are red.");
  assert.equal(rest("Red shoes", "Red shoes. They are red."), "They are red.");
  assert.equal(rest("Why red?", "Why red? Because."), "Because.");
});

test("a title that begins a sentence is a part of it", () => {
  assert.equal(repeatedTitle("Red shoes", "Red shoes are red."), 0);
});

test("where nothing else would be left, the text stays", () => {
  assert.equal(repeatedTitle("Red shoes", "Red shoes"), 0);
  assert.equal(repeatedTitle("Red shoes", "Red shoes.\n"), 0);
});

test("without a title nothing repeats it", () => {
  assert.equal(repeatedTitle("", "\nText"), 0);
});
