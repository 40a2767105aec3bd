/* The REST interface to read and to try out: Swagger UI, signed in as whoever looks at it. */

const place = document.querySelector("#api-docs");

function withCsrf(request) {
  if (request.method && request.method !== "GET") {
    request.headers["X-CSRFToken"] = document.body.dataset.csrf;
  }
  return request;
}

function matchTheme() {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.dataset.theme && darkness.matches);
  document.documentElement.classList.toggle("dark-mode", isDark);
}

const darkness = matchMedia("(prefers-color-scheme: dark)");
darkness.addEventListener("change", matchTheme);
new MutationObserver(matchTheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchTheme();

// a deferred script before a module: it is there by now
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ["get", "post"],
  validatorUrl: null,
  requestInterceptor: withCsrf,
});
