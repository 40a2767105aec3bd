import assert from "node:assert/strict";
import { test } from "node:test";
import { format, gettext, ngettext, pgettext } from "../../static/annotation/texts.js";

test("values take the places of their names, each as often as it is named", () => {
  assert.equal(format("{a} of {b}, {a}", { a: 1, b: "two" }), "1 of two, 1");
});

test("what a value says is not read again", () => {
  assert.equal(format("{a} {b}", { a: "{b}", b: 2 }), "{b} 2");
});

test("one is singular, none and many are not", () => {
  const texts = [0, 1, 2].map((count) => ngettext("{count} label", "{count} labels", count));
  assert.deepEqual(texts, ["{count} labels", "{count} label", "{count} labels"]);
});

test("without a catalogue a text is what it is", () => {
  assert.equal(gettext("Undo"), "Undo");
  assert.equal(pgettext("noun", "Label"), "Label");
});
