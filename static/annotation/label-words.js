// Labels in words, as the page's own buttons and dialogs word them.
import { dialog, gradeName } from "./page.js";
import { format, gettext } from "./texts.js";

/** @import { HeldLabel } from "./types.js" */

/**
 * "3 Highly relevant"; where the grades have no names, the number.
 * @param {number | null} grade
 */
export const gradeWords = (grade) => [grade, gradeName(grade)].filter((word) => word !== "").join(" ");

/** @param {Pick<HeldLabel, "outcome" | "grade" | "reason">} label */
export const labelWords = ({ outcome, grade, reason }) =>
  outcome === "graded"
    ? gradeWords(grade)
    : format(gettext("can’t tell: {reason}"), { reason: reasonWords(reason) });

/**
 * A reason as the dialog words it that asked why.
 * @param {string} reason
 */
function reasonWords(reason) {
  if (!reason) return "";
  const button = dialog("cannot").querySelector(`button[value="${CSS.escape(reason)}"]`);
  return button?.firstChild?.textContent?.trim() || reason;
}
