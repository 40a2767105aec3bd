// Numbers and times in words.

/**
 * 1234 as 1,234; the browser's own way takes it milliseconds to load.
 * @param {number} value
 */
export const number = (value) => String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");

/**
 * 1 label, 2 labels.
 * @param {number} count
 * @param {string} one
 * @param {string} more
 */
export const counted = (count, one, more = one) => (count === 1 ? `1 ${one}` : `${number(count)} ${more}`);

/** @param {number} seconds */
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `about ${minutes} min`;
  const rest = minutes < 600 ? minutes % 60 : 0;
  return rest ? `about ${Math.floor(minutes / 60)} h ${rest} min` : `about ${Math.round(minutes / 60)} h`;
}
