/** The page on Workers: its test runs its Worker, with its commands. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openGuide } from "./project.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const guide = openGuide("workers");

/** The first block of a language that has the words. */
function block(language: string, words: string): string {
  const blocks = guide.text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"));
  const found = [...blocks].find(([, code = ""]) => code.includes(words));
  return found?.[1] ?? "";
}

it("bundles the Worker, and asks it under Miniflare", async () => {
  const cwd = guide.folder;
  writeFileSync(join(cwd, "worker.ts"), block("ts", "worker<Env>"));
  writeFileSync(join(cwd, "worker.test.js"), block("js", "// worker.test.js"));
  const [, bundle = ""] = /^npx esbuild ([^]*?[^\\])$/m.exec(block("sh", "npx esbuild")) ?? [];
  expect(bundle).toContain("--conditions=workerd");
  await run("sh", ["-c", `"${join(root, "node_modules/.bin/esbuild")}" ${bundle}`], { cwd });
  // What a test runner tells its own tests is not for the other one's.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap", "worker.test.js"], { cwd, env });
  expect(stdout).toContain("ok 1 - a missing order is a 404");
  expect(readFileSync(join(cwd, "out/worker.js"), "utf8")).toContain("fetch");
}, 60_000);
