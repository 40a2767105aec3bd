// Labels that the server has refused, as a table that a spreadsheet or a mail takes.
import { format, gettext, pgettext } from "./texts.js";

/** @import { Refusal, Row } from "./types.js" */

const COLUMNS = [
  gettext("Query"),
  gettext("Description"),
  gettext("Document"),
  pgettext("noun", "Label"),
  gettext("Note"),
  gettext("Made at"),
  gettext("Not accepted because"),
];

/**
 * Why the label was refused, in words.
 * @param {{ refused?: Refusal | null }} row
 */
export function reasonOf({ refused }) {
  if (typeof refused === "string") return refused;
  return refused?.message ?? "";
}

/**
 * A label in words.
 * @param {Row} row
 * @param {(code: number | null) => string} gradeName empty for a grade that the page does not have
 */
export function labelWords({ label: { outcome, grade, reason } }, gradeName) {
  if (outcome === "retracted") return gettext("Undone");
  if (outcome !== "graded") return format(gettext("Can’t tell: {reason}"), { reason });
  return format(gettext("Graded {grade}"), { grade: gradeName(grade) || String(grade) });
}

/**
 * What is shown of a row.
 * @param {Row} row
 * @param {(code: number | null) => string} gradeName
 */
export function shownRow(row, gradeName) {
  const { query = "", description = "", title } = row.about ?? {};
  return {
    query,
    description,
    title: title || gettext("Untitled"),
    grade: labelWords(row, gradeName),
    note: row.label.note ?? "",
    reason: reasonOf(row),
  };
}

/**
 * In one line; and no formula of a spreadsheet, whatever the document says.
 * @param {string} words
 */
const cell = (words) => words.replace(/\s+/g, " ").replace(/^(?=[=+\-@])/, "'");

/**
 * Tab-separated, with a line of headings.
 * @param {Row[]} rows
 * @param {(code: number | null) => string} gradeName
 */
export function refusedTable(rows, gradeName) {
  const lines = rows.map((row) => {
    const { query, description, title, grade, note, reason } = shownRow(row, gradeName);
    return [query, description, title, grade, note, row.label.made_at, reason];
  });
  return [COLUMNS, ...lines].map((cells) => cells.map(cell).join("\t")).join("\n");
}
