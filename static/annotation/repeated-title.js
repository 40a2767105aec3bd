// Many collections repeat the title at the beginning of the text.

/**
 * How many UTF-16 units of the text only repeat the title. None where the title begins a sentence that
 * goes on, and none where nothing else would be left.
 * @param {string} title
 * @param {string} text
 */
export function repeatedTitle(title, text) {
  if (!title || text.slice(0, title.length).toLowerCase() !== title.toLowerCase()) return 0;
  const after = text.slice(title.length);
  const ends = /[.!?]$/.test(title) ? /^\s+/ : /^(?:\s*[.!?:]\s+|[^\S\n]*\n\s*)/;
  const blank = after.match(ends)?.[0].length ?? 0;
  return blank > 0 && blank < after.length ? title.length + blank : 0;
}
