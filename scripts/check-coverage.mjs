/**
 * Checks that the tests enter each `catch` and `finally` of `src` and `adapters`: `npm run coverage` runs all tests first. One that no
 * test enters is in `scripts/coverage/accepted.json`, under a reason. An entry that is not needed is named, and fails nothing: a random
 * test may enter it.
 *
 * Only what Vitest loads is seen. A program that a test starts is not: the listeners of Bun, Deno and Workers are left out.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allBlocks } from "./coverage/blocks.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// `scripts/check.mjs --tests` has run the tests.
const already = process.env["USHER_COVERAGE_IN"];
const folder = already ?? mkdtempSync(join(tmpdir(), "usher-coverage-"));
if (already === undefined) {
  const { status } = spawnSync("npm", ["run", "test:all", "--", "--config", "scripts/coverage/vitest.config.mjs"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, USHER_COVERAGE_IN: folder },
  });
  if (status !== 0) process.exit(1);
}

const blocks = allBlocks(root);
const entered = new Set(readFileSync(join(folder, "entered"), "utf8").trim().split(/\s+/).map(Number));
/** @type {{ readonly [reason: string]: readonly string[] }} */
const reasons = JSON.parse(readFileSync(join(root, "scripts/coverage/accepted.json"), "utf8"));
const accepted = new Set(Object.values(reasons).flat());
if (already === undefined) rmSync(folder, { recursive: true });

const missed = blocks.filter(({ id }) => !entered.has(id));
const missedKeys = new Set(missed.map(({ key }) => key));
console.log(
  `the tests enter ${blocks.length - missed.length} of ${blocks.length} catch and finally; ${accepted.size} are accepted`,
);
for (const key of accepted) {
  if (missedKeys.has(key)) continue;
  const why = blocks.some((block) => block.key === key) ? "a test enters it" : "it is gone";
  console.log(`scripts/coverage/accepted.json: ${key}: ${why}, take it off the list`);
}
const wrong = missed.filter(({ key }) => !accepted.has(key));
for (const { file, line, key } of wrong) console.error(`${file}:${line}: no test enters it (${key})`);
if (wrong.length > 0) process.exitCode = 1;
