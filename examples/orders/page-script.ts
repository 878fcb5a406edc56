import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { Answer, Meta, Path, Returns, get } from "usher-http";
import { folder } from "./folder.ts";

/**
 * The page's script: `browser/main.ts`, bundled when the example starts. It is not part of the API.
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
  const meta = Meta.empty.add(Meta.hidden, true);
  return get(Path.of("page.js"), { meta, returns }, () =>
    // The next version of the page may have another script.
    Answer.make(script, { contentType: "text/javascript; charset=utf-8", headers: [["cache-control", "no-cache"]] }),
  );
}
