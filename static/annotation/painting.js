// Work that must not keep the browser from painting.
import { UNPAINTED } from "./constants.js";

/**
 * Resolves when what is on the page now has been painted, so that nothing is in the way of that.
 * @returns {Promise<void>}
 */
export function afterPaint() {
  return new Promise((resolve) => {
    const after = new MessageChannel();
    after.port1.onmessage = () => {
      after.port1.close();
      resolve();
    };
    requestAnimationFrame(() => after.port2.postMessage(0));
    setTimeout(resolve, UNPAINTED);
  });
}
