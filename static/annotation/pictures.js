// Pictures of a document: the server's own copies, each in a place that is there before it comes.
import { gettext } from "./texts.js";

/** @import { ShownDocument, ShownPicture } from "./types.js" */

/** @param {ShownDocument} shown */
export const picturesOf = ({ pictures, title }) => (pictures ?? []).map((picture) => placeOf(picture, title));

/**
 * The pictures, each a link to itself in a tab of its own, where it has its full size.
 * @param {ShownDocument} shown
 */
export const linkedPicturesOf = (shown) => picturesOf(shown).map(linkTo);

/** @param {HTMLElement} place */
function linkTo(place) {
  if (!(place instanceof HTMLImageElement)) return place;
  const link = document.createElement("a");
  Object.assign(link, { href: place.src, target: "_blank", rel: "noopener" });
  link.append(place);
  return link;
}

/**
 * @param {ShownPicture} picture
 * @param {string} title
 */
function placeOf({ url, size, note }, title) {
  const place = document.createElement(url ? "img" : "span");
  place.className = `picture ${size}`;
  if (place instanceof HTMLImageElement) {
    Object.assign(place, { loading: "lazy", decoding: "async", src: url, alt: title || gettext("Picture") });
  } else place.textContent = `${gettext("No picture.")} ${note}`;
  return place;
}
