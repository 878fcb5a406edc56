/**
 * A small mutation run: `npm run mutants -- [--sample 80] [--seed 1] [--minutes 20] [--workers 2] [--map] [--near]
 * [--in src/events,src/sockets] [--tests test/events,test/server]`.
 * In a copy of the working tree it removes statements that clean up, or inverts the conditions that guard them. After each
 * one it runs the tests that reach the place, and prints the changes that no test noticed.
 * Which tests reach which place is recorded first, of every test file that the map does not have yet: a run that was ended
 * continues where it was. `--map` records all of them again. `--map --sample 0 --workers 4` does only that. `--near` records
 * only the tests of the folders that the mutants are in: what survives these may be noticed by others.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allMutants, filesOf, makeCopy, none, putOn } from "./mutants/copy.mjs";
import { Runs } from "./mutants/runs.mjs";

/** @import { Mutant } from "./mutants/find.mjs" */
/**
 * @typedef {object} Learned What a test file does without a mutant.
 * @property {number} ms
 * @property {number} longestMs The time of its longest test.
 * @property {readonly string[]} reached
 * @property {readonly string[]} without The tests that fail in a copy, whatever the mutant.
 * @property {boolean} isLeftOut Whether the whole file does.
 */
/** @typedef {{ [test: string]: Learned }} TestMap */
/** @typedef {Mutant & { readonly id: number, readonly key: string }} Known */
/**
 * @typedef {object} Verdict
 * @property {boolean} isKilled
 * @property {string} how
 * @property {string} [late] The test file whose time was over, which a loaded machine may do, too.
 */
/** @typedef {{ readonly copy: string, readonly runs: Runs }} Place */

const root = fileURLToPath(new URL("..", import.meta.url));
const mapFile = join(root, "node_modules/.cache/usher-mutants.json");
const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "80" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "20" },
    in: { type: "string", default: "" },
    tests: { type: "string", default: "" },
    workers: { type: "string", default: "2" },
    map: { type: "boolean", default: false },
    near: { type: "boolean", default: false },
  },
});
const [sample, seed, minutes, workers] = [values.sample, values.seed, values.minutes, values.workers].map(Number);

/** The time for the tests of one mutant: if these pass, longer ones rarely fail. */
const budgetMs = 40_000;
/** More of it, where each test starts a server of another runtime, and no other test reaches the place. */
/** @type {{ readonly [place: string]: number }} */
const longBudgetsMs = { "adapters/bun/": 240_000, "adapters/deno/": 240_000 };
/** How long it takes to try a late mutant again. */
const againMs = 45_000;
/** What a test may take, by the usual time of the longest in its file: many mutants hang, and a loaded machine is slow. */
const limitMs = (/** @type {number} */ usual) => 5000 + 3 * usual;
/** A test of less had at least six times its usual time, so that it need not be tried again. */
const quickMs = 1500;
const leastShare = 0.95;

// These test the packed package and measure its work, so every mutant would fail them.
const notRun = ["test/package/", "test/growth/", "test/types/", "test/support/"];
// These cannot report which places they reach: workerd has no environment, and Deno runs without the right to read its own.
/** @type {{ readonly [place: string]: readonly string[] }} */
const silent = {
  "src/server/timed-body.ts": ["test/adapters/deno/deno.test.ts"],
  "adapters/workers/": ["test/adapters/workers/", "test/conformance/workerd.test.ts"],
  "adapters/deno/": ["test/adapters/deno/", "test/adapters/last-net.test.ts"],
};
/** Tests that are made for a file, and do not bear its name: they run whatever they take. */
/** @type {{ readonly [file: string]: readonly string[] }} */
const madeFor = { "adapters/node/index.ts": ["test/adapters/node/stopping.test.ts"] };

const files = filesOf(root);
const mutants = allMutants(root, files);
const all = identified();
const starts = values.tests.split(",");
const tests = files
  .filter(
    (file) => file.startsWith("test/") && file.endsWith(".test.ts") && starts.some((start) => file.startsWith(start)),
  )
  .filter((file) => !notRun.some((start) => file.startsWith(start)));
const accepted = acceptedKeys();

/** @type {Place[]} */
const places = [];
process.on("exit", () => {
  for (const { copy, runs } of places) {
    runs.end();
    rmSync(copy, { recursive: true, force: true });
  }
});
process.on("SIGINT", () => process.exit(130));
for (let i = 0; i < (workers ?? 1); i++) {
  const copy = await makeCopy(root, files, mutants);
  places.push({ copy, runs: new Runs(copy) });
}

const chosen = shuffled(seed ?? 1)
  .filter(({ key }) => values.in.split(",").some((start) => key.startsWith(start)))
  .slice(0, sample);
const map = values.map ? {} : known();
const folders = new Set(chosen.map(({ file }) => testFolderOf(file)));
const isNear = (/** @type {string} */ test) => [...folders].some((folder) => test.startsWith(folder));
await learn(tests.filter((test) => map[test]?.longestMs === undefined && (!values.near || isNear(test))));
console.log(`${mutants.length} mutants, ${chosen.length} of them by seed ${seed}`);

const end = Date.now() + (minutes ?? 20) * 60_000;
/** @type {Map<Known, Verdict>} */
const verdicts = new Map();
/** @type {[mutant: Known, verdict: Verdict][]} */
const late = [];
const queue = [...chosen];
await Promise.all(
  places.map(async (place) => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      if (Date.now() > end - late.length * againMs) break;
      const verdict = await tried(one, place);
      if (verdict.late === undefined) judged(one, verdict);
      else late.push([one, verdict]);
    }
  }),
);
// Alone, so that it was not the machine.
const [first] = places;
for (const [one, verdict] of late) {
  if (first === undefined) break;
  const again = await tried(one, first, verdict.late);
  judged(one, again.late === undefined ? again : { ...again, how: `${again.how}, twice` });
}

/** @param {Known} mutant @param {Verdict} verdict */
function judged(mutant, verdict) {
  verdicts.set(mutant, verdict);
  console.log(row(mutant, verdict));
}

const killed = [...verdicts.values()].filter(({ isKilled }) => isKilled).length;
const excused = [...verdicts.keys()].filter(({ key }) => accepted.has(key)).length;
const share = (killed + excused) / Math.max(1, verdicts.size);
console.log("\nsurvived:");
for (const [one, verdict] of verdicts) if (!verdict.isKilled && !accepted.has(one.key)) console.log(row(one, verdict));
if (verdicts.size < chosen.length) console.log(`\n${chosen.length - verdicts.size} were not tried: the time was over`);
console.log(`\n${verdicts.size} tried: ${killed} killed, ${excused} accepted; ${(share * 100).toFixed(1)} %`);
if (verdicts.size > 0 && share < leastShare) process.exitCode = 1;
// The channel to a child process would keep this one.
for (const { runs } of places) runs.end();

/** @param {Known} mutant @param {Verdict} verdict */
function row({ file, line, text, change }, { isKilled, how }) {
  return `${isKilled ? "killed  " : "SURVIVED"} ${file}:${line} \`${text}\` ${change}: ${how}`;
}

/** @param {Known} mutant @param {Place} place @param {string} [from] The test file to begin with. @returns {Promise<Verdict>} */
async function tried(mutant, { copy, runs }, from) {
  const reason = accepted.get(mutant.key);
  if (reason !== undefined) return { isKilled: false, how: `accepted: ${reason}` };
  const related = testsOf(mutant);
  if (related.length === 0) return { isKilled: false, how: "no test reaches it" };
  putOn(copy, mutant.id);
  try {
    for (const file of related.slice(from === undefined ? 0 : related.indexOf(from))) {
      const usual = map[file];
      if (usual === undefined) continue;
      const { ms, longestMs, without } = usual;
      const job = { mutant: mutant.id, file, without, testMs: limitMs(longestMs) };
      const ran = await runs.run(job, ms * 3 + 40_000);
      if (ran === undefined) return { isKilled: true, how: `${file} does not end`, late: file };
      if (ran.why === undefined) continue;
      return {
        isKilled: true,
        how: `${file} > ${ran.why}`,
        ...(ran.isLate && longestMs > quickMs ? { late: file } : {}),
      };
    }
  } finally {
    putOn(copy, none);
  }
  return { isKilled: false, how: `${related.length} test files pass: ${related.slice(0, 3).join(", ")}` };
}

/** The tests that reach a mutant, within the time: quick and specific ones and those of its folder first. @param {Known} mutant */
function testsOf({ file, key }) {
  const starts = Object.entries(silent).flatMap(([place, starts]) => (file.startsWith(place) ? starts : []));
  const isSilent = (/** @type {string} */ test) => starts.some((start) => test.startsWith(start));
  const own = new Set([`test/${file.replace(/^src\//, "").replace(/\.ts$/, ".test.ts")}`, ...(madeFor[file] ?? [])]);
  const isKnown = Object.values(map).some(({ reached }) => reached.includes(key));
  const related = Object.entries(map).filter(([test, { reached, isLeftOut }]) => {
    if (isLeftOut || !tests.includes(test)) return false;
    if (isSilent(test)) return true;
    // A place changed since the map was made counts as reached by every test that reaches its file.
    return isKnown ? reached.includes(key) : reached.some((other) => other.startsWith(`${file}: `));
  });
  const near = testFolderOf(file);
  /** @param {[test: string, Learned]} of */
  const cost = ([test, { ms, reached }]) => (test.startsWith(near) ? 0.1 : 1) * ms * (reached.length + 1);
  related.sort((a, b) => cost(a) - cost(b));
  let left = Object.entries(longBudgetsMs).find(([place]) => file.startsWith(place))?.[1] ?? budgetMs;
  return related.flatMap(([test, { ms }], i) => {
    left -= ms;
    return left > 0 || i === 0 || isSilent(test) || own.has(test) ? [test] : [];
  });
}

/** The start of the paths of a file's tests: the folder of its own, or the nearest around it that has tests. @param {string} file @returns {string} */
function testFolderOf(file) {
  const parts = file
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .split("/");
  // A file of `src` itself has a test of its name.
  if (parts.length === 1) return `test/${parts[0]}.`;
  for (let length = parts.length - 1; length > 0; length--) {
    const folder = `test/${parts.slice(0, length).join("/")}/`;
    if (tests.some((test) => test.startsWith(folder))) return folder;
  }
  return "test/";
}

/** Runs test files, and records which places each reaches. @param {readonly string[]} missing */
async function learn(missing) {
  if (missing.length === 0) return;
  console.log(`looking what ${missing.length} of ${tests.length} test files reach`);
  const began = Date.now();
  const left = [...missing];
  await Promise.all(
    places.map(async (place) => {
      for (let test = left.shift(); test !== undefined; test = left.shift()) {
        map[test] = await learned(test, place);
        mkdirSync(dirname(mapFile), { recursive: true });
        writeFileSync(mapFile, JSON.stringify(map));
      }
    }),
  );
  console.log(`that took ${Math.round((Date.now() - began) / 1000)} s`);
}

/** @param {string} test @param {Place} place @returns {Promise<Learned>} */
async function learned(test, { copy, runs }) {
  const reachedIn = mkdtempSync(join(tmpdir(), "usher-reached-"));
  try {
    const ran = await runs.run({ file: test, reachedIn }, 900_000);
    const isLeftOut = ran === undefined || (ran.why !== undefined && ran.failed.length === 0);
    for (const failed of ran?.failed ?? []) console.log(`left out, as it fails in a copy: ${test} > ${failed}`);
    if (isLeftOut) console.log(`left out, as it fails in a copy: ${test}: ${ran?.why ?? "it does not end"}`);
    const file = join(reachedIn, encodeURIComponent(join(copy, test)));
    const ids = new Set(existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : []);
    const reached = all.filter(({ id }) => ids.has(id)).map(({ key }) => key);
    const { ms = 0, longestMs = 0, failed = [] } = ran ?? {};
    return { ms, longestMs, reached, without: failed, isLeftOut };
  } finally {
    rmSync(reachedIn, { recursive: true, force: true });
  }
}

/** What the map has already. @returns {TestMap} */
function known() {
  try {
    return JSON.parse(readFileSync(mapFile, "utf8"));
  } catch {
    return {};
  }
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
  // No error at once: what was tried says something all the same.
  for (const key of gone) console.log(`scripts/mutants/accepted.json lists what does not exist: ${key}`);
  if (gone.length > 0) process.exitCode = 1;
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
