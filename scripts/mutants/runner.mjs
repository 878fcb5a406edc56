/**
 * Runs test files of a copy for its parent process, in one Vitest, as starting it takes long. The environment, which each
 * worker reads again, activates a mutant.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createVitest } from "vitest/node";

/** @import { TestModule } from "vitest/node" */
/**
 * @typedef {object} Ran
 * @property {string} file
 * @property {number} ms
 * @property {number} longestMs The time of its longest test.
 * @property {readonly string[]} failed The names of the tests that failed.
 * @property {string | undefined} why The first of them, or the file's own error; undefined where all passed.
 * @property {boolean} isLate Whether that one had no time left.
 */
/**
 * @typedef {object} Job
 * @property {string} file
 * @property {number} [mutant]
 * @property {number} [testMs] The time that a test may take; without it, as long as it does.
 * @property {string} [reachedIn] The folder for the places that are reached.
 * @property {readonly string[]} [without] The names of tests that are not run.
 */

const root = process.cwd();
const cacheDir = join(root, ".vite");
const vitest = await createVitest(
  "test",
  {
    root,
    watch: false,
    reporters: [{}],
    bail: 0,
    maxWorkers: 1,
    config: join(root, "scripts/mutants/vitest.config.mjs"),
  },
  { cacheDir },
);
const { config } = vitest.getRootProject();
const { hookTimeout } = config;
/** Without a mutant, what takes long says all the same which places it reaches. */
const anyMs = 300_000;

/** Of which mutant the programs are that tests start. They are bundled once in a run, with the text that names the mutant. */
/** @type {number | undefined} */
let programsOf;

/** @param {Job} job @returns {Promise<Ran>} */
async function run({ file, mutant, testMs, reachedIn, without = [] }) {
  delete process.env["USHER_MUTANT"];
  delete process.env["USHER_MUTANT_REACHED_IN"];
  if (mutant !== programsOf) rmSync(join(root, "dist/tests"), { recursive: true, force: true });
  programsOf = mutant;
  if (mutant !== undefined) process.env["USHER_MUTANT"] = String(mutant);
  if (reachedIn !== undefined) process.env["USHER_MUTANT_REACHED_IN"] = reachedIn;
  config.bail = mutant === undefined ? 0 : 1;
  config.testTimeout = testMs ?? anyMs;
  config.hookTimeout = mutant === undefined ? anyMs : hookTimeout;
  config.expect = { ...config.expect, poll: { timeout: (testMs ?? anyMs) * 0.75 } };
  vitest.setGlobalTestNamePattern(new RegExp(`^(?!\\s*(?:${without.map(escaped).join("|")})$)`, "s"));
  const specifications = await vitest.globTestSpecifications([join(root, file)]);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The list also has the modules of earlier jobs.
  const module = testModules.find(({ relativeModuleId }) => relativeModuleId === file);
  if (module === undefined) throw new Error(`${file} was not run`);
  const failed = [...module.children.allTests("failed")];
  const times = [...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0);
  const errors = [...failed.flatMap((test) => test.result().errors ?? []), ...errorsOf(module), ...unhandledErrors];
  const [error] = errors.map((error) => String(/** @type {any} */ (error).message).split("\n")[0] ?? "");
  const isOk = module.ok() && error === undefined;
  return {
    file,
    ms: Math.round(module.diagnostic().duration),
    longestMs: Math.round(Math.max(0, ...times)),
    failed: failed.map(nameOf),
    why: isOk ? undefined : (failed[0]?.fullName ?? error ?? "the file"),
    isLate: /^(?:Test|Hook) timed out in /.test(error ?? ""),
  };
}

/** @param {TestModule} module */
function errorsOf(module) {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
}

/** As Vitest compares it with a pattern. @param {{ readonly name: string, readonly parent: any }} test @returns {string} */
function nameOf({ name, parent }) {
  return parent.type === "module" ? name : `${nameOf(parent)} ${name}`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

process.on("message", (/** @type {Job} */ job) => {
  void run(job).then(
    (ran) => process.send?.({ ran }),
    (error) => process.send?.({ error: String(error?.stack ?? error) }),
  );
});
process.on("disconnect", () => {
  rmSync(cacheDir, { recursive: true, force: true });
  process.exit();
});
process.send?.({ ready: true });
