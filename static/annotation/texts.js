// Marks the page's texts. In the joined script (annotation/labelling/scripts.py) each marked text is in the
// reader's language already, and only what needs a number or values is left to do.

/** @param {string} text */
export const gettext = (text) => text;

/**
 * @param {string} _context what the text is for, where its words alone don't tell
 * @param {string} text
 */
export const pgettext = (_context, text) => text;

/**
 * @param {string} one
 * @param {string} more
 * @param {number} count
 */
export const ngettext = (one, more, count) => (count === 1 ? one : more);

/**
 * The text with values in place of its {names}.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export const format = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

// what several modules say

export const NO_CONNECTION = gettext("No connection");
export const NOT_IN_CAMPAIGN = gettext("You are no longer in this campaign");
