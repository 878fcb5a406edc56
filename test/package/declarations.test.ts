/** Projects that emit declarations from inferred types: a library that exports one of everything, and a project that references it. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pack, root } from "./packed.ts";
import type { Packed } from "./packed.ts";

const run = promisify(execFile);
const compilers = [
  { compiler: "TypeScript 5.9", path: "test/package/consumer/node_modules/typescript" },
  { compiler: "TypeScript 6", path: "test/package/consumer/node_modules/typescript-6" },
  { compiler: "TypeScript 7", path: "node_modules/typescript" },
];

describe("a library with declarations and a project that references it", { timeout: 300_000 }, () => {
  let packed: Packed;
  beforeAll(() => {
    packed = pack();
    project("library", []);
    project("caller", [{ path: "../library" }]);
  }, 60_000);
  afterAll(() => packed.remove());

  it.each(compilers)("compile with $compiler, every type by a public name", async ({ path }) => {
    rmSync(join(packed.folder, "out"), { recursive: true, force: true });
    const tsc = run(process.execPath, [join(root, path, "bin/tsc"), "-b", join(packed.folder, "caller")]);
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
