/** Which run has which test file, and what a run of tests says at its end. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { failedLines } from "./failed-lines.ts";
import { filesByCost, soaks } from "./files-by-cost.ts";

const root = join(import.meta.dirname, "../..");

function tree(files: { readonly [path: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), "usher-tree-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

test("a test file starts programs if it, or a file that it imports, imports what does", () => {
  const folder = tree({
    "test/a/pure.test.ts":
      'import { expect } from "vitest";\nimport type { ChildProcess } from "node:child_process";\n',
    "test/a/direct.test.ts": 'import { spawn } from "node:child_process";\n',
    "test/a/through.test.ts": 'import {\n  one,\n  two,\n} from "../support/middle.ts";\n',
    "test/a/late.test.ts": 'const { build } = await import("esbuild");\n',
    "test/a/browser.test.ts": 'import { inTab } from "../support/browser.ts";\n',
    "test/a/database.test.ts": 'import { startPostgres } from "../support/postgres/database.ts";\n',
    "test/a/counting.test.ts": 'import { memory } from "../support/memory.ts";\n',
    "test/growth/texts.test.ts": "",
    "test/support/memory.ts": "",
    "test/support/middle.ts": 'export * from "./far.ts";\n',
    "test/support/far.ts": 'import "./middle.ts";\nimport { execFile } from "node:child_process";\n',
    "test/support/browser.ts": "",
    "test/support/postgres/database.ts": 'import { spawn } from "node:child_process";\n',
  });
  const { starting, soaking, others } = filesByCost(folder);
  const names = (paths: readonly string[]) =>
    paths.map((path) => path.replace(/^test\/a\/|\.test\.ts$/g, "")).toSorted();
  expect(names(starting)).toEqual(["browser", "direct", "late", "through"]);
  expect(names(soaking)).toEqual(["counting", "test/growth/texts"]);
  expect(names(others)).toEqual(["database", "pure"]);
});

test("each test file is in one of the three", () => {
  const { starting, soaking, others } = filesByCost(root);
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
    .map((name) => join("test", name));
  expect([...starting, ...soaking, ...others].toSorted()).toEqual(files.toSorted());
  expect(starting).toContain("test/adapters/deno/listener.test.ts");
  expect(soaking).toContain("test/adapters/node/faults.test.ts");
  // One that is named, and not there, is a file that was renamed.
  expect(soaks.filter((path) => !files.includes(path))).toEqual([]);
  expect(others).toContain("test/routing/methods.test.ts");
});

test("a failed test is named with the command that runs it alone", () => {
  const failed = [
    { file: "test/a.test.ts", tests: ["a suite > it's $5 (a+b)"] },
    { file: "test/b.test.ts", tests: [] },
  ];
  expect(failedLines(failed, "all")).toEqual([
    "failed (2), each with the command that runs it alone:",
    "  test/a.test.ts > a suite > it's $5 (a+b)",
    String.raw`    npx vitest run test/a.test.ts -t '^a suite it'\''s \$5 \(a\+b\)$'`,
    "  test/b.test.ts did not load",
    "    npx vitest run test/b.test.ts",
  ]);
  expect(failedLines(failed, "wide").at(-1)).toBe("    USHER_TESTS=wide npx vitest run test/b.test.ts");
  expect(failedLines([])).toEqual([]);
});

test("a run that says it has no network has loopback alone", () => {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== "lo");
  expect(process.env["USHER_OFFLINE"] === undefined || others.length === 0).toBe(true);
});
