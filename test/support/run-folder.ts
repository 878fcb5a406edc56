/** A folder of one run, for what is made once and used by many test files. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Plugin } from "vitest/config";

/** Its path is in the environment, which every process of the run has. */
const variable = "USHER_RUN_FOLDER";

/** Makes the folder before the first test file, and removes it when the run's process exits. */
export function runFolder(): Plugin {
  return {
    name: "run-folder",
    configureVitest({ vitest }) {
      // Another project of the run may have made it.
      if (process.env[variable] !== undefined) return;
      const folder = mkdtempSync(join(tmpdir(), "usher-run-"));
      // PostgreSQL's user reads it, too.
      chmodSync(folder, 0o755);
      process.env[variable] = folder;
      const removePrograms = (): void => rmSync(programsFolder(), { recursive: true, force: true });
      // Their sources have changed.
      vitest.onTestsRerun(removePrograms);
      process.on("exit", () => {
        removePrograms();
        rmSync(folder, { recursive: true, force: true });
      });
    },
  };
}

function thisRun(): string {
  const run = process.env[variable];
  if (run === undefined) throw new Error(`${variable} is not set: vitest.config.ts sets it`);
  return run;
}

/** Where the run's programs are: the runtimes find packages from here, and nothing of it is in the package. */
function programsFolder(): string {
  return join(import.meta.dirname, "../../dist/tests", basename(thisRun()));
}

/** A folder that the first test file to ask fills, by `make`. It gets its name when it is whole. */
export function madeOnce(name: string, make: (folder: string) => void): string {
  const folder = join(thisRun(), name);
  if (existsSync(folder)) return folder;
  const own = besideOf(folder);
  make(own);
  rename(own, folder);
  return folder;
}

/** The same of a program, where the runtimes find packages. */
export async function programMadeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(programsFolder(), name);
  if (existsSync(folder)) return folder;
  const own = besideOf(folder);
  await make(own);
  rename(own, folder);
  return folder;
}

function besideOf(folder: string): string {
  mkdirSync(dirname(folder), { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  chmodSync(own, 0o755);
  return own;
}

function rename(own: string, folder: string): void {
  try {
    renameSync(own, folder);
  } catch (error) {
    // Another file made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}
