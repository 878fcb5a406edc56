import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { Answer, Path, Returns, get } from "usher-http";
import { folder } from "./folder.ts";

/**
 * The page's script: `browser/main.ts` as a bundler makes it, once, when the example starts. It is no part of the API, and a
 * program that has no files serves it otherwise.
 */
export function pageScript() {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("browser/main.ts", folder))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  const script = outputFiles.map(({ text }) => text).join("");
  const returns = Returns.responses({ 200: { doc: "The script.", contentTypes: ["text/javascript"] } });
  return get(Path.of("page.js"), { summary: "The page's script", returns }, () =>
    // Of the next version of the page the script is another.
    Answer.make(script, { contentType: "text/javascript; charset=utf-8", headers: [["cache-control", "no-cache"]] }),
  );
}
