// Numbers and times in words.
import { format, gettext, pgettext } from "./texts.js";

const SEPARATOR = pgettext("thousands separator", ",");

/**
 * 1234 as 1,234, in German as 1.234; the browser's own way takes it milliseconds to load.
 * @param {number} value
 */
export const number = (value) => String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, SEPARATOR);

/** @param {number} seconds */
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return gettext("less than a minute");
  if (minutes < 60) return format(gettext("about {minutes} min"), { minutes });
  const rest = minutes < 600 ? minutes % 60 : 0;
  return rest
    ? format(gettext("about {hours} h {minutes} min"), { hours: Math.floor(minutes / 60), minutes: rest })
    : format(gettext("about {hours} h"), { hours: Math.round(minutes / 60) });
}
