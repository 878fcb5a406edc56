/**
 * What the page may load and run: its own scripts and no other host's. The reference styles itself by elements it
 * makes, which is what the one `'unsafe-inline'` is for; no script is inline, and none is made of text.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

type Fields = readonly (readonly [name: string, value: string])[];

/** The fields of the page. */
export const pageHeaders: Fields = [
  ["content-security-policy", policy],
  ["referrer-policy", "no-referrer"],
  ["x-content-type-options", "nosniff"],
];

/** The fields of its scripts. */
export const scriptHeaders: Fields = [["x-content-type-options", "nosniff"]];

/** The page, which says where the document is, and where what draws it. */
export function pageOf(title: string, urls: { readonly document: string; readonly page: string }): string {
  const below = urls.page === "/" ? "" : urls.page;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(title)}</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="app" data-url="${escaped(urls.document)}"></div>
    <script src="${escaped(below)}/scalar.js"></script>
    <script src="${escaped(below)}/start.js"></script>
  </body>
</html>
`;
}

/** Starts the reference, with all that would ask another host for something turned off. */
export const start = `Scalar.createApiReference("#app", {
  url: document.querySelector("#app").dataset.url,
  agent: { disabled: true },
  hideClientButton: true,
  persistAuth: false,
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
});
`;

function escaped(text: string): string {
  const names: { readonly [character: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] as string);
}
