// Which labels are on their way, and what an answer settles of them.

/** @import { Answer, Receipt, Row } from "./types.js" */

const RETRACTED = "retracted";

/**
 * @param {Row[]} rows
 */
export const oldestFirst = (rows) => rows.sort((one, other) => one.n - other.n);

/**
 * The assignments that these labels, oldest first, leave labelled, though the server may not know it yet.
 * @param {Row[]} rows
 * @returns {Set<string>}
 */
export function labelledAssignments(rows) {
  const last = new Map(rows.map(({ label }) => [label.assignment, label.outcome]));
  return new Set([...last].filter(([, outcome]) => outcome !== RETRACTED).map(([assignment]) => assignment));
}

/**
 * What an answer says of the labels that were sent: only what it names is settled.
 * @param {Row[]} rows
 * @param {Answer | null} answer
 */
export function settle(rows, answer) {
  const receipts = Array.isArray(answer?.labels) ? answer.labels : [];
  const named = new Map(receipts.map((receipt) => [receipt?.id, receipt]));
  /** @type {Row[]} */
  const stored = [];
  /** @type {{ row: Row, receipt: Receipt }[]} */
  const refused = [];
  for (const row of rows) {
    const receipt = named.get(row.label.id);
    if (receipt?.status === "refused") refused.push({ row, receipt });
    else if (receipt) stored.push(row);
  }
  return {
    receipts,
    stored,
    refused,
    isComplete: stored.length + refused.length === rows.length,
    hasSurplus: receipts.some((receipt) => receipt?.surplus),
  };
}

const PROBLEM = "application/problem+json"; // how our server refuses; anything else may be a proxy's
const UNREADABLE = [400, 413, 422];

/**
 * What to do about an answer's status: "read" it, send the labels "singly" because the batch can't be read,
 * treat the person as "shut-out" of the campaign, or try again later and show this state meanwhile.
 * @param {{ status: number, type: string | null, code?: string | undefined }} answer type: of the content; code: of the problem
 * @returns {"read" | "singly" | "shut-out" | "offline" | "signed-out" | "other-account"}
 */
export function verdict({ status, type, code }) {
  if (status >= 200 && status < 300) return "read";
  if (!type?.startsWith(PROBLEM)) return "offline";
  if (status === 401) return "signed-out";
  if (status === 403) return code === "other_account" ? "other-account" : "signed-out";
  if (status === 404) return "shut-out";
  return UNREADABLE.includes(status) ? "singly" : "offline";
}
