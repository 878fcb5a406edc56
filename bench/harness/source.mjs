import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = new URL("../..", import.meta.url);

/**
 * Imports a module of the source that no entry of the package exports. It is bundled as the package is, since Node 20 runs no
 * TypeScript.
 *
 * @param {string} path As `src/inputs/text.ts`.
 */
export async function importSource(path) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(path, root))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    packages: "external",
    tsconfigRaw: {},
    logLevel: "error",
  });
  // In this folder, from where it finds the packages.
  const folder = new URL("node_modules/.cache/usher-bench/", root);
  mkdirSync(folder, { recursive: true });
  const file = new URL(`${path.replaceAll("/", "-")}-${process.pid}.mjs`, folder);
  writeFileSync(file, outputFiles[0]?.text ?? "");
  return import(pathToFileURL(fileURLToPath(file)).href);
}
