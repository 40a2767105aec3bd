import assert from "node:assert/strict";
import { test } from "node:test";
import { isAssignable, meanings, shortcutOf, shownKey } from "../../static/annotation/key-rules.js";

test("a letter means itself, with Caps Lock as without", () => {
  assert.deepEqual(meanings({ key: "U", code: "KeyU", shiftKey: false }), ["U", "u", "u"]);
});

test("on another script a key means what its place writes on a Latin keyboard", () => {
  assert.ok(meanings({ key: "г", code: "KeyU", shiftKey: false }).includes("u"));
});

test("where digits are behind Shift, their key alone means the digit", () => {
  assert.deepEqual(meanings({ key: "&", code: "Digit1", shiftKey: false }), ["&", "&", "1"]);
  assert.deepEqual(meanings({ key: "!", code: "Digit1", shiftKey: true }), ["!", "!"]);
});

test("the number pad writes digits", () => {
  assert.ok(meanings({ key: "End", code: "Numpad1", shiftKey: false }).includes("1"));
});

test("a press from a keyboard on the screen, which has no place, means what it writes", () => {
  assert.deepEqual(meanings({ key: "x", shiftKey: false }), ["x", "x"]);
});

test("what writes one character can be given to an action, also outside of UTF-16's first plane", () => {
  for (const key of ["a", "7", "+", "ß", "字", "𝛼"]) assert.equal(isAssignable(key), true, key);
});

test("keys that scroll, tab and write blanks keep their meaning", () => {
  for (const key of [" ", "Tab", "Enter", "PageDown", "ArrowUp", "ArrowDown", "F5", "F12", ""]) {
    assert.equal(isAssignable(key), false, key);
  }
});

test("arrows to the side and some function keys can be given to an action", () => {
  for (const key of ["ArrowLeft", "ArrowRight", "Backspace", "F2", "F10"]) {
    assert.equal(isAssignable(key), true, key);
  }
});

test("a key is shown by its sign where it has one", () => {
  assert.equal(shownKey("ArrowLeft"), "←");
  assert.equal(shownKey("u"), "u");
  assert.equal(shownKey("toString"), "toString");
});

test("plus has a name of its own for assistive technology", () => {
  assert.equal(shortcutOf("+"), "Plus");
  assert.equal(shortcutOf("-"), "-");
});
