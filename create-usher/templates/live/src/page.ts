import { readFile } from "node:fs/promises";
import { Answer, Meta, Path, Returns, get } from "usher-http";

/** Serves a file of `public`, read once, when the server starts. */
async function file(path: Path<never>, name: string, contentType: string) {
  const text = await readFile(new URL(`../public/${name}`, import.meta.url), "utf8");
  return get(
    path,
    {
      returns: Returns.responses({ 200: { doc: "The file.", contentTypes: [contentType] } }),
      // Not part of the API's description.
      meta: Meta.empty.add(Meta.hidden, true),
    },
    // A browser asks again each time, so that it never runs an old script with a new page.
    () => Answer.make(text, { contentType: `${contentType}; charset=utf-8`, headers: [["cache-control", "no-cache"]] }),
  );
}

export const pageRoutes = [
  await file(Path.root, "index.html", "text/html"),
  await file(Path.of("page.css"), "page.css", "text/css"),
  await file(Path.of("page.js"), "page.js", "text/javascript"),
];
