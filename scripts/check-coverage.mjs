/**
 * Checks that the tests enter every place of `src` and `adapters` (`scripts/coverage/places.mjs`), each `catch` and `finally`
 * too: `npm run coverage` runs all tests first. A place that no test enters is in `scripts/coverage/accepted.json`, under a reason. It
 * fails when a test enters it, unless the reason begins with "Sometimes".
 *
 * Only what Vitest loads is seen. A program that a test starts is not: the listeners of Bun, Deno and Workers are left out.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allPlaces } from "./coverage/places.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// `scripts/check.mjs --tests` has run the tests.
const already = process.env["USHER_COVERAGE_IN"];
const folder = already ?? mkdtempSync(join(tmpdir(), "usher-coverage-"));
if (already === undefined) {
  const { status } = spawnSync("npm", ["test", "--", "--config", "scripts/coverage/vitest.config.mjs"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, USHER_COVERAGE_IN: folder },
  });
  if (status !== 0) process.exit(1);
}

const all = allPlaces(root);
const entered = new Set(readFileSync(join(folder, "entered"), "utf8").trim().split(/\s+/).map(Number));
/** @type {{ readonly [reason: string]: readonly string[] }} */
const reasons = JSON.parse(readFileSync(join(root, "scripts/coverage/accepted.json"), "utf8"));
const accepted = new Set(Object.values(reasons).flat());
if (already === undefined) rmSync(folder, { recursive: true });

const missed = all.filter(({ id }) => !entered.has(id));
// What is inside of a place that no test enters goes without saying.
const outermost = missed.filter(({ within }) => within === undefined || entered.has(within));
const wrong = [...unlisted(), ...gone()];
// In `.ci/run` only these fail: which branch is entered may turn on the time that the machine takes.
const isBlock = (/** @type {string} */ line) => /: (?:no test enters .*?)?(?:catch|finally) `/.test(line);
const failing = already === undefined ? wrong : wrong.filter(isBlock);
const share = ((100 * (all.length - missed.length)) / all.length).toFixed(2);
console.log(
  `the tests enter ${all.length - missed.length} of ${all.length} places, ${share} %; ${accepted.size} are accepted`,
);
if (wrong.length > failing.length) console.log(`${wrong.length - failing.length} others are for \`npm run coverage\``);
if (failing.length > 0) {
  console.error(failing.join("\n"));
  process.exitCode = 1;
}

/** What no test enters, and no reason stands for. */
function unlisted() {
  const open = outermost.filter(({ key }) => !accepted.has(key));
  return open.map(({ file, line, what }) => `${file}:${line}: no test enters ${what}`);
}

/** What is accepted for nothing. */
function gone() {
  const open = new Set(outermost.map(({ key }) => key));
  const there = new Set(all.map(({ key }) => key));
  const sometimes = new Set(
    Object.entries(reasons).flatMap(([why, keys]) => (why.startsWith("Sometimes") ? keys : [])),
  );
  return [...accepted]
    .filter((key) => !open.has(key) && !(sometimes.has(key) && there.has(key)))
    .map((key) => `scripts/coverage/accepted.json: ${there.has(key) ? "a test enters" : "there is no"} ${key}`);
}
