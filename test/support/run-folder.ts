/** A folder of one run, for what is made once and used by many test files. */
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin } from "vitest/config";

/** Its path is in the environment, which every process of the run has. */
const variable = "USHER_RUN_FOLDER";

/** Makes the folder before the first test file, and removes it when the run's process exits. */
export function runFolder(): Plugin {
  return {
    name: "run-folder",
    configureVitest() {
      // Another project of the run may have made it.
      if (process.env[variable] !== undefined) return;
      const folder = mkdtempSync(join(tmpdir(), "usher-run-"));
      // PostgreSQL's user reads it, too.
      chmodSync(folder, 0o755);
      process.env[variable] = folder;
      process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    },
  };
}

/** A folder that the first test file to ask fills, by `make`. It gets its name when it is whole. */
export function madeOnce(name: string, make: (folder: string) => void): string {
  const run = process.env[variable];
  if (run === undefined) throw new Error(`${variable} is not set: vitest.config.ts sets it`);
  const folder = join(run, name);
  if (existsSync(folder)) return folder;
  const own = mkdtempSync(`${folder}-`);
  chmodSync(own, 0o755);
  make(own);
  try {
    renameSync(own, folder);
  } catch (error) {
    // Another file made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
