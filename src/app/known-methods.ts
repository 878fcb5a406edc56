/** The methods a client may use though no route declares them; what else it makes up is 501, and no name in a figure. */
export const knownMethods: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);
