/**
 * What the tests of this process enter, by `vitest run --coverage`: branches and functions as a share, and every `catch` and
 * `finally` by itself. A block that no test enters is listed in `scripts/coverage-accepted.json`, with its reason.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

/** @typedef {{ readonly line: number, readonly column: number }} Place */
/** @typedef {{ readonly start: Place, readonly end: Place }} Range */
/** @typedef {{ readonly statementMap: { readonly [id: string]: Range }, readonly s: { readonly [id: string]: number }, readonly f: { readonly [id: string]: number }, readonly b: { readonly [id: string]: readonly number[] } }} FileCoverage */

// Just under what is: a change may cover no less.
const least = { branches: 90, functions: 90 };
// They run in processes of other runtimes, whose coverage is not taken.
const elsewhere = ["adapters/bun/", "adapters/deno/", "adapters/workers/"];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const counted = join(root, "coverage/coverage-final.json");
if (!existsSync(counted))
  throw new Error("there is no coverage/coverage-final.json: run the tests with --coverage first");
/** @type {{ readonly [file: string]: FileCoverage }} */
const coverage = JSON.parse(readFileSync(counted, "utf8"));
/** @type {{ readonly [block: string]: string }} */
const accepted = JSON.parse(readFileSync(join(root, "scripts/coverage-accepted.json"), "utf8"));

const entered = { branches: 0, functions: 0 };
const all = { branches: 0, functions: 0 };
/** @type {string[]} */
const wrong = [];
const unused = new Set(Object.keys(accepted));
let blocks = 0;
for (const [path, file] of Object.entries(coverage)) {
  const name = relative(root, path);
  if (elsewhere.some((folder) => name.startsWith(folder))) continue;
  count("branches", Object.values(file.b).flat());
  count("functions", Object.values(file.f));
  for (const { block, line, isEntered } of blocksOf(readFileSync(path, "utf8"), path, file)) {
    blocks++;
    const key = `${name}: ${block}`;
    if (isEntered) continue;
    if (!unused.delete(key) && !(key in accepted)) wrong.push(`${name}:${line}: no test enters \`${block}\``);
  }
}
for (const key of unused)
  wrong.push(`scripts/coverage-accepted.json lists what a test enters, or what is not there: ${key}`);
for (const what of /** @type {const} */ (["branches", "functions"])) {
  const share = (100 * entered[what]) / all[what];
  console.log(`${what}: ${entered[what]} of ${all[what]}, ${share.toFixed(2)} %; ${least[what]} % at least`);
  if (!(share >= least[what])) wrong.push(`too few ${what} are entered`);
}
console.log(`${blocks} blocks of catch and finally, of which ${Object.keys(accepted).length} need not be entered`);
for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exitCode = 1;

/** @param {"branches" | "functions"} what @param {readonly number[]} counts */
function count(what, counts) {
  all[what] += counts.length;
  entered[what] += counts.filter((times) => times > 0).length;
}

/**
 * The blocks of `catch` and `finally` that hold a statement: one without any has no count. @param {string} text
 * @param {string} path @param {FileCoverage} file
 */
function blocksOf(text, path, { statementMap, s }) {
  /** @type {{ block: string, line: number, isEntered: boolean }[]} */
  const found = [];
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const at = (/** @type {Place} */ { line, column }) => (starts[line - 1] ?? 0) + column;
  const look = (/** @type {string} */ word, /** @type {any} */ block) => {
    const inside = Object.entries(statementMap).filter(
      ([, range]) => at(range.start) >= block.start && at(range.end) <= block.end,
    );
    if (inside.length === 0) return;
    const shown = text.slice(block.start, block.end).replaceAll(/\s+/g, " ");
    found.push({
      block: `${word} ${shown.length > 80 ? `${shown.slice(0, 79)}…` : shown}`,
      line: text.slice(0, block.start).split("\n").length,
      isEntered: inside.some(([id]) => (s[id] ?? 0) > 0),
    });
  };
  const visit = (/** @type {any} */ node) => {
    if (node === null || typeof node !== "object") return;
    if (node.type === "TryStatement") {
      if (node.handler !== null) look("catch", node.handler.body);
      if (node.finalizer !== null) look("finally", node.finalizer);
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(path, text).program.body);
  return found;
}
