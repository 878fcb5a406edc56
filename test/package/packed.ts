import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpack } from "./tarball.ts";

export const root: string = join(import.meta.dirname, "../..");

/** The package as npm would publish it, unpacked where a program in `folder` finds it. */
export interface Packed {
  readonly folder: string;
  /** What the tarball holds, by path. */
  readonly files: readonly string[];
  remove(): void;
}

export function pack(): Packed {
  const folder = mkdtempSync(join(tmpdir(), "usher-packed-"));
  const modules = join(folder, "node_modules");
  const { files } = unpack(root, join(modules, "usher-http"));
  mkdirSync(join(modules, "@opentelemetry"));
  for (const name of ["valibot", "@opentelemetry/api", "@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  for (const name of ["package.json", "program.ts", "serve.mjs", "library", "caller"]) {
    cpSync(join(root, "test/package/consumer", name), join(folder, name), { recursive: true });
  }
  return { folder, files, remove: () => rmSync(folder, { recursive: true }) };
}
