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
import { allPlaces, isBlock, isOfBlocks } from "./coverage/places.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// `scripts/check.mjs --tests` has run the tests, with marks in `catch` and `finally` only: which branch is entered may turn on the
// time that the machine takes.
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

const places = allPlaces(root);
const all = places.filter((place) => !isOfBlocks || isBlock(place));
const entered = new Set(readFileSync(join(folder, "entered"), "utf8").trim().split(/\s+/).map(Number));
/** @type {{ readonly [reason: string]: readonly string[] }} */
const reasons = JSON.parse(readFileSync(join(root, "scripts/coverage/accepted.json"), "utf8"));
const listed = Object.values(reasons).flat();
const accepted = new Set(
  isOfBlocks ? listed.filter((key) => isBlock({ what: key.slice(key.indexOf(": ") + 2) })) : listed,
);
if (already === undefined) rmSync(folder, { recursive: true });

const missed = all.filter(({ id }) => !entered.has(id));
// What is inside of a place that no test enters goes without saying.
const outermost = missed.filter(({ within }) => isOfBlocks || within === undefined || entered.has(within));
const wrong = [...unlisted(), ...gone()];
const what = isOfBlocks ? "blocks of catch and finally" : "places";
const share = ((100 * (all.length - missed.length)) / all.length).toFixed(2);
console.log(
  `the tests enter ${all.length - missed.length} of ${all.length} ${what}, ${share} %; ${accepted.size} are accepted`,
);
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
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
  const there = new Set(places.map(({ key }) => key));
  const sometimes = new Set(
    Object.entries(reasons).flatMap(([why, keys]) => (why.startsWith("Sometimes") ? keys : [])),
  );
  // Those that are no longer there are found in every run, also of places that this run does not look at.
  const lost = listed
    .filter((key) => !there.has(key))
    .map((key) => `scripts/coverage/accepted.json: there is no ${key}`);
  const isEntered = (/** @type {string} */ key) => there.has(key) && !open.has(key) && !sometimes.has(key);
  return [
    ...lost,
    ...[...accepted].filter(isEntered).map((key) => `scripts/coverage/accepted.json: a test enters ${key}`),
  ];
}
