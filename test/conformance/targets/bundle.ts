import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../../..");

/**
 * A program as one file of JavaScript, which every runtime can run. It contains the package from `dist`,
 * as users get it.
 */
export async function bundle(program: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(program)],
    plugins: [
      {
        name: "the package as it is built",
        setup({ onResolve }) {
          onResolve({ filter: /^usher-http$/ }, () => ({ path: join(root, "dist/index.js") }));
          onResolve({ filter: /\/adapters\/\w+\/index\.ts$/ }, ({ path }) => {
            return { path: join(root, `dist/${basename(dirname(path))}.js`) };
          });
        },
      },
    ],
    // Without it esbuild reads tsconfig.json, whose paths point to the source.
    tsconfigRaw: {},
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2023",
    // A package of its own for programs that open sockets with it; Bun has it built in.
    external: ["node:*", "ws"],
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

/** A folder for the files of a server, in which it finds packages. */
export function folder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "usher-conformance-"));
  findsPackages(path);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Lets what is in a folder find packages. */
export function findsPackages(path: string): void {
  // Deno takes of packages what such a file names.
  writeFileSync(join(path, "package.json"), '{ "type": "module", "dependencies": { "ws": "*" } }');
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"));
}
