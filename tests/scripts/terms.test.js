import assert from "node:assert/strict";
import { test } from "node:test";
import { termsPattern } from "../../static/annotation/terms.js";

/**
 * @param {string} query
 * @param {string} text
 */
const found = (query, text) => text.match(termsPattern(query) ?? /(?!)/) ?? [];

test("a query's words are found in any case, and not within other words", () => {
  assert.deepEqual(found("red shoes", "Red shoes, redder shoelaces; a shoe"), [
    "Red",
    "shoes",
    "shoe",
    "shoe",
  ]);
});

test("words that say nothing are not found; a query of them alone has no pattern", () => {
  assert.deepEqual(found("what is the boiling point", "the point is what boiling is"), ["point", "boiling"]);
  assert.equal(termsPattern("what is the"), null);
  assert.equal(termsPattern(""), null);
  assert.equal(termsPattern("?!"), null);
});

test("singular and plural find each other", () => {
  assert.deepEqual(found("shoes", "a shoe"), ["shoe"]);
  assert.deepEqual(found("shoe", "shoes"), ["shoes"]);
});

test("a short word is no beginning of another one", () => {
  assert.deepEqual(found("gas", "gas gases gasket"), ["gas"]);
  assert.deepEqual(found("usb hub", "USB hubs, hubris"), ["USB", "hubs"]);
});

test("scripts without blanks are found by two letters each", () => {
  assert.deepEqual(found("東京都", "東京と京都"), ["東京", "京都"]);
  assert.deepEqual(found("猫", "黒猫"), ["猫"]);
});

test("signs of patterns in a query are no signs of the pattern", () => {
  assert.deepEqual(found("c++ (stl)", "STL and C"), ["STL"]);
});
