/**
 * Runs all checks, even if some fail, and lists the failures: `node scripts/check.mjs [--tests | --tests-after FD]`. A check is
 * a script of package.json, and runs alone as `npm run <name>`. With `--tests` the tests run last, are counted, and
 * their coverage is checked; with `--tests-after` they wait for the end of a pipe, which is that of what installs what they need.
 * The tests have no network but loopback, and empty caches of npm, Deno and Bun (`offline.mjs`).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyCaches, offline, why } from "./offline.mjs";

// The build comes first: packages, instantiations and tests use dist.
const checks = [
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
  "docs:check",
];

// Two cores are what CI has, and some checks take both.
const atOnce = 2;

// TypeScript and esbuild are programs in Go that soon end: their garbage is collected less often.
process.env["GOGC"] ??= "400";

/** @typedef {{ readonly name: string, readonly ok: boolean, readonly seconds: number }} Result */

const root = fileURLToPath(new URL("..", import.meta.url));
const [, , option, pipe] = process.argv;
const withTests = option === "--tests" || option === "--tests-after";
const results = [await shown("build"), ...(await allOf(checks))];

const folder = mkdtempSync(join(tmpdir(), "usher-tests-"));
// `npm test` is what the README names, and then comes what it leaves out; the wide run has both.
const runs = process.env["USHER_TESTS"] === "wide" ? ["test:wide"] : ["test", "test:rest"];
// `run-end.ts` appends those of each run.
const failures = join(folder, "failures");
/** @param {string} name */
const countedIn = (name) => join(folder, `${name.replace(":", "-")}.json`);
if (withTests) {
  if (pipe !== undefined) await once(createReadStream("", { fd: Number(pipe) }).resume(), "close");
  const reporters = ["--reporter=default", "--reporter=./test/support/run-end.ts", "--reporter=json"];
  process.env["USHER_COVERAGE_IN"] = folder;
  const collected = ["--config", "scripts/coverage/vitest.config.mjs"];
  if (why !== undefined) console.log(`\nthe tests have the network: ${why}`);
  const { env, remove } = emptyCaches();
  for (const name of runs) {
    const args = ["run", "--silent", name, "--", ...reporters, `--outputFile=${countedIn(name)}`, ...collected];
    results.push(await shown(name, offline(["npm", ...args]), { ...env, USHER_FAILURES: failures }));
  }
  remove();
  results.push(await shown("coverage"));
}

console.log("\n━━ all checks");
for (const { name, ok, seconds } of results) {
  console.log(`${ok ? "passed" : "FAILED"}  ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s`);
}
const failed = results.filter(({ ok }) => !ok).map(({ name }) => name);
console.log(failed.length === 0 ? "\neverything passed" : `\nfailed: ${failed.join(", ")}`);
for (const name of failed) console.log(`  npm run ${name}`);
if (withTests) console.log(await closingLines());
rmSync(folder, { recursive: true });
if (failed.length > 0) process.exitCode = 1;

/** Runs some checks at once; what each prints comes whole, in the order of the list. @param {readonly string[]} names */
async function allOf(names) {
  /** @type {(() => void)[]} */
  const waiting = [];
  let free = atOnce;
  const running = names.map(async (name) => {
    if (free > 0) free--;
    else await /** @type {Promise<void>} */ (new Promise((resolve) => waiting.push(resolve)));
    let text = "";
    const result = await run(name, ["npm", "run", "--silent", name], process.env, (part) => (text += part));
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
    return { ...result, text };
  });
  const all = [];
  for (const one of running) {
    const { text, ...result } = await one;
    process.stdout.write(`\n━━ ${result.name}\n${text}`);
    all.push(result);
  }
  return all;
}

/** Runs one check, and shows what it prints as it comes. @param {string} name @param {readonly string[]} command */
async function shown(name, command = ["npm", "run", "--silent", name], env = process.env) {
  console.log(`\n━━ ${name}`);
  return run(name, command, env);
}

/**
 * @param {string} name @param {readonly string[]} command @param {NodeJS.ProcessEnv} env
 * @param {(part: string) => unknown} [onText] Gets what it prints; without it, standard output does.
 * @returns {Promise<Result>}
 */
async function run(name, [program = "", ...args], env, onText) {
  const start = performance.now();
  const output = onText === undefined ? "inherit" : "pipe";
  const child = spawn(program, args, { cwd: root, env, stdio: ["ignore", output, output] });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (part) => onText?.(part));
  const [status] = await once(child, "close");
  return { name, ok: status === 0, seconds: (performance.now() - start) / 1000 };
}

/**
 * The tests that failed, each with the command that runs it alone, and the summary in the form that tools parse. The skipped tests
 * are named at the end of their run.
 */
async function closingLines() {
  const reports = runs.map(countedIn).filter((file) => existsSync(file));
  const read = reports.map((file) => JSON.parse(readFileSync(file, "utf8")));
  /** @param {string} name */
  const sum = (name) => read.reduce((count, report) => count + (report[name] ?? 0), 0);
  const [passed, failed, skipped] = ["numPassedTests", "numFailedTests", "numPendingTests"].map(sum);
  const ok = runs.every((run) => results.find(({ name }) => name === run)?.ok === true);
  const lines = skipped === 0 ? [] : [`not run: ${skipped} of the tests, which "not run" above names`];
  if (existsSync(failures)) lines.push(readFileSync(failures, "utf8").trimEnd());
  // A file that does not load has no failing test.
  return [...lines, `${passed} passed, ${ok ? 0 : Math.max(1, failed ?? 0)} failed`].join("\n");
}
