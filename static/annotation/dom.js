// Elements that must be there, with their types.

/**
 * The first element in `root` that fits the selector.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} type e.g. HTMLInputElement; of this window, so not for what is in a frame
 * @returns {T}
 * @throws {Error} where there is none of this type
 */
export function element(root, selector, type) {
  const found = root.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${type.name} ${selector}`);
}

/**
 * The closest element around an event's target that fits the selector.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function closest({ target }, selector) {
  const found = target instanceof Element ? target.closest(selector) : null;
  return found instanceof HTMLElement ? found : null;
}

/**
 * A `data-*` attribute that the template always writes.
 * @param {HTMLElement} from
 * @param {string} name as `dataset` has it
 * @returns {string}
 * @throws {Error} where it is missing
 */
export function data(from, name) {
  const value = from.dataset[name];
  if (value === undefined) throw new Error(`<${from.localName}> has no data attribute ${name}`);
  return value;
}
