/**
 * A small mutation run: `npm run mutants -- [--sample 80] [--seed 1] [--minutes 20] [--in src/events] [--map] [--workers
 * 2]`.
 * In a copy of the working tree it removes statements that clean up, or inverts the conditions that guard them. After each
 * one it runs the tests that reach the place, and prints the changes that no test noticed. `--map` records again which tests
 * reach which place.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allMutants, filesOf, makeCopy, putOn } from "./mutants/copy.mjs";
import { Runs } from "./mutants/runs.mjs";

/** @import { Mutant } from "./mutants/find.mjs" */
/** @typedef {{ readonly [test: string]: { readonly ms: number, readonly reached: readonly string[] } }} TestMap */
/** @typedef {Mutant & { readonly id: number, readonly key: string }} Known */
/** @typedef {{ readonly isKilled: boolean, readonly how: string }} Verdict */

const root = fileURLToPath(new URL("..", import.meta.url));
const mapFile = join(root, "node_modules/.cache/usher-mutants.json");
const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "80" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "20" },
    in: { type: "string", default: "" },
    workers: { type: "string", default: "2" },
    map: { type: "boolean", default: false },
  },
});
const [sample, seed, minutes, workers] = [values.sample, values.seed, values.minutes, values.workers].map(Number);

/** The time for the tests of one mutant: if these pass, longer ones rarely fail. */
const budgetMs = 40_000;
const leastShare = 0.95;

// These test the packed package and measure its work, so every mutant would fail them.
const notRun = ["test/package/", "test/growth/", "test/types/", "test/support/"];
// These cannot report which places they reach: workerd has no environment, and Deno runs without the right to read its own.
/** @type {{ readonly [place: string]: readonly string[] }} */
const silent = {
  "src/server/timed-body.ts": ["test/adapters/deno/deno.test.ts"],
  "adapters/workers/": ["test/adapters/workers/", "test/conformance/workerd.test.ts"],
  "adapters/deno/": ["test/adapters/deno/"],
};

const files = filesOf(root);
const mutants = allMutants(root, files);
const all = identified();
const tests = files.filter((file) => file.endsWith(".test.ts") && !notRun.some((start) => file.startsWith(start)));
const accepted = acceptedKeys();

/** @type {string[]} */
const copies = [];
/** @type {Runs[]} */
const running = [];
process.on("exit", () => {
  for (const runs of running) runs.end();
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});
process.on("SIGINT", () => process.exit(130));

const map = values.map ? await learn() : (known() ?? (await learn()));
const chosen = shuffled(seed ?? 1)
  .filter(({ key }) => key.startsWith(values.in))
  .slice(0, sample);
console.log(`${mutants.length} mutants, ${chosen.length} of them by seed ${seed}`);

const end = Date.now() + (minutes ?? 20) * 60_000;
/** @type {Map<Known, Verdict>} */
const verdicts = new Map();
const queue = [...chosen];
await Promise.all(
  Array.from({ length: workers ?? 1 }, async () => {
    const copy = await copied();
    const runs = runsIn(copy, 1);
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      if (Date.now() > end) break;
      const verdict = await tried(one, copy, runs);
      verdicts.set(one, verdict);
      console.log(row(one, verdict));
    }
    runs.end();
  }),
);

const killed = [...verdicts.values()].filter(({ isKilled }) => isKilled).length;
const excused = [...verdicts.keys()].filter(({ key }) => accepted.has(key)).length;
const share = (killed + excused) / Math.max(1, verdicts.size);
console.log("\nsurvived:");
for (const [one, verdict] of verdicts) if (!verdict.isKilled && !accepted.has(one.key)) console.log(row(one, verdict));
if (verdicts.size < chosen.length) console.log(`\n${chosen.length - verdicts.size} were not tried: the time was over`);
console.log(`\n${verdicts.size} tried: ${killed} killed, ${excused} accepted; ${(share * 100).toFixed(1)} %`);
if (share < leastShare) process.exitCode = 1;

/** @param {Known} mutant @param {Verdict} verdict */
function row({ file, line, text, change }, { isKilled, how }) {
  return `${isKilled ? "killed  " : "SURVIVED"} ${file}:${line} \`${text}\` ${change}: ${how}`;
}

/** @param {Known} mutant @param {string} copy @param {Runs} runs @returns {Promise<Verdict>} */
async function tried(mutant, copy, runs) {
  const reason = accepted.get(mutant.key);
  if (reason !== undefined) return { isKilled: false, how: `accepted: ${reason}` };
  const related = testsOf(mutant);
  if (related.length === 0) return { isKilled: false, how: "no test reaches it" };
  putOn(copy, mutant.id);
  try {
    for (const file of related) {
      const ran = await runs.run({ mutant: mutant.id, files: [file] }, (map[file]?.ms ?? 1000) * 3 + 40_000);
      if (ran === undefined) return { isKilled: true, how: `${file} does not end` };
      const failed = ran.find(({ ok }) => !ok);
      if (failed !== undefined) return { isKilled: true, how: `${file} > ${failed.failed}` };
    }
  } finally {
    putOn(copy, 0);
  }
  return { isKilled: false, how: `${related.length} test files pass: ${related.slice(0, 3).join(", ")}` };
}

/** The tests that reach a mutant, within the time: quick and specific ones and those of its folder first. @param {Known} mutant */
function testsOf({ file, key }) {
  const starts = Object.entries(silent).flatMap(([place, starts]) => (file.startsWith(place) ? starts : []));
  const isSilent = (/** @type {string} */ test) => starts.some((start) => test.startsWith(start));
  const isKnown = Object.values(map).some(({ reached }) => reached.includes(key));
  const related = Object.entries(map).filter(([test, { reached }]) => {
    if (isSilent(test)) return true;
    // A place changed since the map was made counts as reached by every test that reaches its file.
    return isKnown ? reached.includes(key) : reached.some((other) => other.startsWith(`${file}: `));
  });
  const near = `test/${dirname(file)}/`;
  /** @param {[test: string, { readonly ms: number, readonly reached: readonly string[] }]} of */
  const cost = ([test, { ms, reached }]) => (test.startsWith(near) ? 0.1 : 1) * ms * (reached.length + 1);
  related.sort((a, b) => cost(a) - cost(b));
  let left = budgetMs;
  return related.flatMap(([test, { ms }], i) => {
    left -= ms;
    return left > 0 || i === 0 || isSilent(test) ? [test] : [];
  });
}

/** Runs every test once, and records which places each reaches. @returns {Promise<TestMap>} */
async function learn() {
  console.log(`looking which of ${tests.length} test files reach what: this runs all of them`);
  const copy = await copied();
  const reachedIn = mkdtempSync(join(tmpdir(), "usher-reached-"));
  const runs = runsIn(copy, workers ?? 1);
  const ran = await runs.run({ files: tests, reachedIn }, 3_600_000);
  runs.end();
  /** @type {{ [test: string]: { ms: number, reached: string[] } }} */
  const made = {};
  for (const { file, ok, ms, failed } of ran ?? []) {
    if (ok) made[file] = { ms: Math.round(ms), reached: [] };
    else console.log(`left out, as it fails in a copy: ${file} > ${failed}`);
  }
  for (const name of readdirSync(reachedIn)) {
    const test = relative(copy, decodeURIComponent(name));
    const ids = new Set(readFileSync(join(reachedIn, name), "utf8").trim().split("\n").map(Number));
    made[test]?.reached.push(...all.filter(({ id }) => ids.has(id)).map(({ key }) => key));
  }
  rmSync(reachedIn, { recursive: true });
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  writeFileSync(mapFile, JSON.stringify(made));
  return made;
}

/** @returns {TestMap | undefined} */
function known() {
  try {
    return JSON.parse(readFileSync(mapFile, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} copy @param {number} atOnce */
function runsIn(copy, atOnce) {
  const runs = new Runs(copy, atOnce);
  running.push(runs);
  return runs;
}

async function copied() {
  const copy = await makeCopy(root, files, mutants);
  copies.push(copy);
  return copy;
}

/** Each mutant by its file and text, and a number among equal ones, as line numbers change. @returns {readonly Known[]} */
function identified() {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return mutants.map((mutant, id) => {
    const key = `${mutant.file}: \`${mutant.text}\` ${mutant.change}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return { ...mutant, id, key: nth === 1 ? key : `${key} (${nth})` };
  });
}

/** The accepted survivors, each with its reason. @returns {Map<string, string>} */
function acceptedKeys() {
  const listed = JSON.parse(readFileSync(join(root, "scripts/mutants/accepted.json"), "utf8"));
  const reasons = new Map(Object.entries(listed).map(([key, reason]) => [key, String(reason)]));
  const keys = new Set(all.map(({ key }) => key));
  const gone = [...reasons.keys()].filter((key) => !keys.has(key));
  if (gone.length > 0) throw new Error(`scripts/mutants/accepted.json lists what is not there:\n${gone.join("\n")}`);
  return reasons;
}

/** Shuffles the mutants by a seed. @param {number} seed */
function shuffled(seed) {
  // Mulberry32: a sample is the same on every machine.
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const placed = all.map((mutant) => ({ mutant, at: random() }));
  return placed.toSorted((a, b) => a.at - b.at).map(({ mutant }) => mutant);
}
