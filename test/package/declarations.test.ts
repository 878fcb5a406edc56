/** Projects that emit declarations from inferred types: a library that exports one of everything, and a project that references it. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack, root } from "./packed.ts";
import type { Packed } from "./packed.ts";
import { rows } from "../support/wide.ts";

const run = promisify(execFile);
// npm puts a package of a workspace next to it, or into the root's `node_modules`.
const fromRoot = createRequire(join(root, "package.json"));
const fromConsumer = createRequire(join(root, "test/package/consumer/package.json"));
const compilers = rows(
  [{ compiler: "TypeScript 7", folder: dirname(fromRoot.resolve("typescript/package.json")) }],
  [
    { compiler: "TypeScript 5.9", folder: dirname(fromConsumer.resolve("typescript/package.json")) },
    { compiler: "TypeScript 6", folder: dirname(fromConsumer.resolve("typescript-6/package.json")) },
  ],
);

describe("a library with declarations and a project that references it", () => {
  let packed: Packed;
  beforeAll(() => {
    packed = pack();
    project("library", []);
    project("caller", [{ path: "../library" }]);
  });
  afterAll(() => packed.remove());

  it.each(compilers)("compile with $compiler, with a public name for every type", async ({ folder }) => {
    rmSync(join(packed.folder, "out"), { recursive: true, force: true });
    const tsc = run(process.execPath, [join(folder, "bin/tsc"), "-b", join(packed.folder, "caller")]);
    const { stdout } = await tsc.catch((error: { stdout: string }) => error);
    expect(stdout).toBe("");
    const named = readFileSync(join(packed.folder, "out/library/again.d.ts"), "utf8");
    const modules = [...named.matchAll(/import\("([^")]+)"\)/g)].map(([, name = ""]) => name);
    // The project's own files, or an entry of a package; never a file inside one.
    expect(modules.filter((name) => !/^(?:\.\/\w+\.js|valibot|node:\w+|usher-http(?:\/\w+)?)$/.test(name))).toEqual([]);
    expect(modules).toContain("usher-http");
  });

  function project(name: string, references: readonly object[]): void {
    const compilerOptions = {
      module: "nodenext",
      target: "es2023",
      lib: ["es2023"],
      types: ["node"],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      composite: true,
      declaration: true,
      rootDir: ".",
      outDir: `../out/${name}`,
      tsBuildInfoFile: `../out/${name}/tsconfig.tsbuildinfo`,
    };
    const config = { compilerOptions, include: ["*.ts"], references };
    writeFileSync(join(packed.folder, name, "tsconfig.json"), JSON.stringify(config));
  }
});
