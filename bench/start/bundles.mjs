/** Programs as they are deployed to a platform: one file each, by esbuild. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** @typedef {{ readonly [name: string]: string }} Bundles The file of each program. */

const of = {
  node: { platform: "node" },
  workerd: {
    platform: "neutral",
    conditions: ["workerd"],
    mainFields: ["module", "main"],
    external: ["node:*", "cloudflare:*"],
  },
};

/**
 * Bundles programs of `hello` for a runtime, and removes the files when `use` has settled.
 *
 * @template A
 * @param {keyof typeof of} runtime
 * @param {readonly string[]} names
 * @param {(bundles: Bundles) => Promise<A>} use
 */
export async function withBundles(runtime, names, use) {
  const folder = mkdtempSync(join(tmpdir(), "usher-start-"));
  try {
    const bundles = Object.fromEntries(names.map((name) => [name, join(folder, `${name}.mjs`)]));
    for (const name of names) {
      await build({
        ...of[runtime],
        entryPoints: [fileURLToPath(new URL(`hello/${name}.mjs`, import.meta.url))],
        outfile: bundles[name],
        bundle: true,
        minify: true,
        format: "esm",
        // Without it esbuild reads tsconfig.json, whose paths lead to the source.
        tsconfigRaw: {},
        logLevel: "error",
      });
    }
    return await use(bundles);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
