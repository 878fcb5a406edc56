/** The built package, in an empty folder, with one generation of OpenTelemetry. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpack } from "../package/tarball.ts";
import { endsWithFile } from "../support/ends.ts";

const root = join(import.meta.dirname, "../..");
const own = join(root, "node_modules/@opentelemetry");

/** The packages of each generation, and where they are. */
const generations = {
  none: { from: own, names: ["api"] },
  // `sdk-trace` exists since 2.9: before, there was only `sdk-trace-base`.
  "2": {
    from: own,
    names: ["api", "exporter-prometheus", "exporter-trace-otlp-http", "sdk-metrics", "sdk-trace-base"],
  },
  "3": {
    from: join(import.meta.dirname, "newest/node_modules/@opentelemetry"),
    names: ["api", "exporter-prometheus", "exporter-trace-otlp-http", "sdk-metrics", "sdk-trace"],
  },
} as const;

export type Generation = keyof typeof generations;

const folders = new Map<Generation, string>();
endsWithFile(() => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true });
  folders.clear();
});

/** A folder with the package, one generation, and this folder's programs. */
export function installedBeside(generation: Generation): string {
  const known = folders.get(generation);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "usher-beside-"));
  folders.set(generation, folder);
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@opentelemetry"), { recursive: true });
  unpack(root, join(modules, "usher-http"));
  symlinkSync(join(root, "node_modules/valibot"), join(modules, "valibot"));
  const { from, names } = generations[generation];
  for (const name of names) symlinkSync(join(from, name), join(modules, "@opentelemetry", name));
  for (const name of ["program.mjs", "observed-program.mjs"]) {
    cpSync(join(import.meta.dirname, name), join(folder, name));
  }
  return folder;
}
