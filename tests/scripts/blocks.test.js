import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf } from "../../static/annotation/blocks.js";
import { numbersFrom } from "./builders.js";

const LINES = [
  "Prose that goes on.\n",
  "\n",
  "    indented = 1;\n",
  "```\n",
  ">>> print()\n",
  "def f(x):\n",
  "\tx;\n",
];

test("the pieces joined are the text, without gaps, in any mixture", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = numbersFrom(seed);
    const count = Math.floor(random() * 300);
    const text = Array.from({ length: count }, () => LINES[Math.floor(random() * LINES.length)]).join("");
    let end = 0;
    for (const piece of blocksOf(text)) {
      assert.equal(piece.start, end);
      assert.ok(piece.end > piece.start);
      end = piece.end;
    }
    assert.equal(end, text.length, `seed ${seed}`);
  }
});

test("a line without end is cut at a blank, or where there is none", () => {
  const words = "word ".repeat(20_000);
  assert.ok(blocksOf(words).every(({ end }) => end === words.length || words[end - 1] === " "));
  assert.ok(blocksOf("x".repeat(100_000)).every(({ start, end }) => end - start <= 32_000));
});

test("fenced, prompted and indented passages with the signs of code are code", () => {
  const text = "Say it so.\n\n```\nanything at all\n```\nAnd then:\n    if (x) { y(); }\nDone.\n";
  assert.deepEqual(
    blocksOf(text)
      .filter(({ isCode }) => isCode)
      .map(({ start, end }) => text.slice(start, end)),
    ["```\nanything at all\n```\n", "    if (x) { y(); }\n"],
  );
});

test("an indented quotation is prose", () => {
  assert.ok(blocksOf("He said\n    that it was late\n    and went.\n").every(({ isCode }) => !isCode));
});

test("an indented passage with brackets, references and semicolons is prose", () => {
  const passages = [
    "As follows:\n    the lift (see Fig. 2) grows;\n    the drag [12] does not;\n    (both hold).\n",
    "He wrote:\n    > are you there (at home)?\n    > I am; come in.\n",
  ];
  for (const text of passages)
    assert.ok(
      blocksOf(text).every(({ isCode }) => !isCode),
      text,
    );
});

test("a list of clauses that end in semicolons is prose", () => {
  const text = ["the tenant (1) pays;", "return of the keys;", "public areas;", "the garden;", "all else;"];
  assert.ok(blocksOf(text.join("\n")).every(({ isCode }) => !isCode));
});

test("indented statements, markup and calls are code", () => {
  for (const text of [
    "Then:\n    const a = b[0];\n    return a;\n",
    "So:\n    <p>one</p>\n    <br>\n",
    "Or:\n    call(x)\n    y += 1\n",
  ])
    assert.ok(blocksOf(text).at(-1)?.isCode, text);
});

test("a source file is code as a whole", () => {
  const text = "import os\nimport sys\n\nreturn 1;\nlet x = 2;\nconst y = 3;\nplain words\n";
  assert.ok(blocksOf(text).every(({ isCode }) => isCode));
});

test("a long line takes as many rows as it needs, about", () => {
  assert.equal(blocksOf(`${"x".repeat(170)}\n`)[0]?.rows, 3); // 171 characters of 85
});
