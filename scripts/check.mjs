/**
 * Runs all checks, even if some fail, and lists the failures: `node scripts/check.mjs [--tests]`. A check is a script of
 * package.json, and runs alone as `npm run <name>`. With `--tests` the tests run last, are counted, and their
 * coverage is checked.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// The build comes first: packages, instantiations and tests use dist.
const checks = [
  "build",
  "format:check",
  "lint",
  "imports",
  "house",
  "picture",
  "words",
  "white-space",
  "types",
  "unused",
  "package",
  "instantiations",
  "links",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const withTests = process.argv.includes("--tests");
const results = checks.map((name) => run(name, []));

const folder = mkdtempSync(join(tmpdir(), "usher-tests-"));
const counted = join(folder, "tests.json");
if (withTests) {
  const reporters = ["--reporter=default", "--reporter=./test/support/not-run.ts", "--reporter=json"];
  process.env["USHER_COVERAGE_IN"] = folder;
  const collected = ["--config", "scripts/coverage/vitest.config.mjs"];
  results.push(run("test", [...reporters, `--outputFile=${counted}`, ...collected]), run("coverage", []));
}

console.log("\n━━ all checks");
for (const { name, ok, seconds } of results) {
  console.log(`${ok ? "passed" : "FAILED"}  ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s`);
}
const failed = results.filter(({ ok }) => !ok).map(({ name }) => name);
console.log(failed.length === 0 ? "\neverything passed" : `\nfailed: ${failed.join(", ")}`);
if (withTests) console.log(closingLines());
rmSync(folder, { recursive: true });
if (failed.length > 0) process.exitCode = 1;

/** @param {string} name @param {string[]} args */
function run(name, args) {
  console.log(`\n━━ ${name}`);
  const start = performance.now();
  const { status } = spawnSync("npm", ["run", "--silent", name, "--", ...args], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return { name, ok: status === 0, seconds: (performance.now() - start) / 1000 };
}

/** The summary of the tests, in the form that tools parse. The skipped tests are named at the end of their output. */
function closingLines() {
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
  } = existsSync(counted) ? JSON.parse(readFileSync(counted, "utf8")) : {};
  const ok = results.find(({ name }) => name === "test")?.ok === true;
  // A file that does not load has no failing test.
  const skipped = numPendingTests === 0 ? "" : `${numPendingTests} tests were not run: "not run" above names them\n`;
  return `${skipped}${numPassedTests} passed, ${ok ? 0 : Math.max(1, numFailedTests)} failed`;
}
