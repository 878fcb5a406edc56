import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import type { Route } from "usher-http";
import { Files } from "usher-http/files";
import { folder } from "./folder.ts";
import { style } from "./page-style.ts";

/** The script and the style of the page. They are not part of the API. */
export function pageFiles(): readonly Route[] {
  return Files.bundle({ "page.js": script(), "page.css": style }, { at: "assets" });
}

/** `browser/main.ts`, bundled when the example starts. */
function script(): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("browser/main.ts", folder))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** The source of this example, to which the page links. */
export function sourceFiles(): readonly Route[] {
  return Files.directory(fileURLToPath(folder), { at: "source", types: { ts: "text/plain; charset=utf-8" } });
}
