import { join } from "node:path";
import { build } from "esbuild";

/** A program of this folder as a Worker's bundler leaves it: the package `postgres` has a build for workerd. */
export async function bundledWorker(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, file)],
    tsconfigRaw: {},
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker"],
    external: ["node:*", "cloudflare:*"],
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
