// Pairs, labels and rows for the tests, each complete; what a test is about it passes.

/** @import { Entry, HeldLabel, Label, Pair, Row } from "../../static/annotation/types.js" */

/**
 * @param {string} name its assignment is `assignment-NAME`
 * @param {Partial<Pair>} what
 * @returns {Pair}
 */
export const pair = (name, what = {}) => ({
  assignment: `assignment-${name}`,
  name,
  query: { id: "q1", text: "red shoes", description: "" },
  document: { title: `Document ${name}`, text: "", html: "", url: "", fields: {} },
  content_hash: "hash",
  ...what,
});

/**
 * @param {string} id
 * @returns {Pair["query"]}
 */
export const query = (id) => ({ id, text: `query ${id}`, description: "" });

/**
 * @param {string} id
 * @param {Partial<Label>} what
 * @returns {Label}
 */
export const label = (id, what = {}) => ({
  id,
  assignment: `assignment-${id}`,
  outcome: "graded",
  grade: 2,
  reason: "",
  note: "",
  spans: [],
  made_at: "2026-03-01T12:00:00.000Z",
  guideline_revision: 1,
  content_hash: "hash",
  seconds: 4,
  ...what,
});

/**
 * @param {Pair} labelled
 * @param {Partial<HeldLabel>} what
 * @returns {Entry}
 */
export const entry = (labelled, what = {}) => ({
  pair: labelled,
  label: { ...label(labelled.name), ...what },
  earlier: [],
});

/**
 * @param {number} n
 * @param {Partial<Label>} what
 * @returns {Row}
 */
export const row = (n, what = {}) => ({ n, desk: "ben 1", label: label(String(n), what) });

/**
 * Numbers from 0 to 1, the same ones for the same seed (Park & Miller 1988).
 * @param {number} seed
 */
export function numbersFrom(seed) {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
