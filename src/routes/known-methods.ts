/** The methods a client may use though no route declares them; what else is made up is 501, and no name of a span or a figure. */
export const knownMethods: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);
