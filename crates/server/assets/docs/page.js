// Starts the API reference. Everything is found relative to this file, so that the page works behind any path
// prefix, and it runs under a policy without inline scripts or styles.
"use strict";

const description = new URL("../openapi.json", document.currentScript.src).href;

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

SwaggerUIBundle({
  url: description,
  dom_id: "#reference",
  // Links to an operation can be shared.
  deepLinking: true,
  // A token is a secret: it is forgotten when the page is left.
  persistAuthorization: false,
  // The default would send the description to a third-party host.
  validatorUrl: null,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  filter: true,
});
