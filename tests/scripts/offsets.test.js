import assert from "node:assert/strict";
import { test } from "node:test";
import { pieceAt, scrollDistance, toCharacters, toUnit } from "../../static/annotation/offsets.js";

const TEXT = "a😀é字𝛼b";

test("offsets count characters as Python does, whatever UTF-16 makes of them", () => {
  const characters = [...TEXT];
  for (let count = 0; count <= characters.length; count += 1) {
    const unit = characters.slice(0, count).join("").length;
    assert.equal(toUnit(TEXT, count), unit);
    assert.equal(toCharacters(TEXT, unit), count);
  }
});

test("an offset behind the text is its end", () => {
  assert.equal(toUnit(TEXT, 99), TEXT.length);
});

test("the piece that holds a unit is found, however many there are", () => {
  for (const count of [1, 2, 3, 100, 101]) {
    const pieces = Array.from({ length: count }, (_, n) => ({ start: 3 * n }));
    for (let unit = 0; unit < 3 * count; unit += 1) {
      assert.equal(pieceAt(pieces, unit).start, unit - (unit % 3));
    }
  }
});

const VIEW = { top: 100, bottom: 700, height: 600 };

test("what is in sight does not scroll", () => {
  assert.equal(scrollDistance({ top: 108, height: 20 }, VIEW), 0);
  assert.equal(scrollDistance({ top: 672, height: 20 }, VIEW), 0);
});

test("what is above, below, or at the edge comes a third down", () => {
  for (const top of [-4000, 50, 107, 673, 9000]) {
    const distance = scrollDistance({ top, height: 20 }, VIEW);
    assert.notEqual(distance, 0);
    assert.equal(top - distance, 100 + 600 / 3);
  }
});
