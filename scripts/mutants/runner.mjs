/**
 * Runs test files of a copy for its parent process, in one Vitest, as starting it takes long. The environment, which each
 * worker reads again, activates a mutant.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createVitest } from "vitest/node";

/** @typedef {{ readonly file: string, readonly ok: boolean, readonly ms: number, readonly failed: string | undefined }} Ran */
/** @typedef {{ readonly mutant?: number, readonly files: readonly string[], readonly reachedIn?: string }} Job */

const root = process.cwd();
const workers = Number(process.argv[2] ?? 1);
const cacheDir = join(root, ".vite");
const vitest = await createVitest(
  "test",
  {
    root,
    watch: false,
    reporters: [{}],
    bail: 0,
    maxWorkers: workers,
    config: join(root, "scripts/mutants/vitest.config.mjs"),
  },
  { cacheDir },
);

/** @param {Job} job @returns {Promise<Ran[]>} */
async function run({ mutant, files, reachedIn }) {
  delete process.env["USHER_MUTANT"];
  delete process.env["USHER_MUTANT_REACHED_IN"];
  if (mutant !== undefined) process.env["USHER_MUTANT"] = String(mutant);
  if (reachedIn !== undefined) process.env["USHER_MUTANT_REACHED_IN"] = reachedIn;
  vitest.config.bail = mutant === undefined ? 0 : 1;
  const specifications = await vitest.globTestSpecifications(files.map((file) => join(root, file)));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The list also has the modules of earlier jobs.
  return testModules
    .filter(({ relativeModuleId }) => files.includes(relativeModuleId))
    .map((module) => {
      const failed = [...module.children.allTests("failed")][0]?.fullName;
      const errors = [
        ...module.errors(),
        ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
        ...unhandledErrors,
      ];
      const why =
        failed ?? (errors.length > 0 ? String(/** @type {any} */ (errors[0]).message).split("\n")[0] : undefined);
      const ok = module.ok() && why === undefined;
      return {
        file: module.relativeModuleId,
        ok,
        ms: module.diagnostic().duration,
        failed: ok ? undefined : (why ?? "the file"),
      };
    });
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
