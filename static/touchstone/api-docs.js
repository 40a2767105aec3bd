// The REST interface to read and to try out: Swagger UI, signed in as the viewer.

/** @typedef {{ method?: string, headers: Record<string, string> }} SwaggerRequest */

const place = document.querySelector("#api-docs");
if (!(place instanceof HTMLElement)) throw new Error("the page has no #api-docs");

/** @param {SwaggerRequest} request */
function withCsrf(request) {
  if (request.method && request.method !== "GET") {
    request.headers["X-CSRFToken"] = document.body.dataset.csrf ?? "";
  }
  return request;
}

function matchTheme() {
  const isDark =
    getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && darkness.matches);
  document.documentElement.classList.toggle("dark-mode", isDark);
}

const darkness = matchMedia("(prefers-color-scheme: dark)");
darkness.addEventListener("change", matchTheme);
new MutationObserver(matchTheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchTheme();

/**
 * Swagger UI's own script: a deferred script before a module, so it is there by now.
 * @typedef {object} SwaggerGlobal
 * @property {{ (options: object): void, presets: { apis: unknown } }} SwaggerUIBundle
 */
const { SwaggerUIBundle } = /** @type {SwaggerGlobal} */ (/** @type {unknown} */ (globalThis));

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ["get", "post"],
  validatorUrl: null,
  requestInterceptor: withCsrf,
});
