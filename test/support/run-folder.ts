/** A folder of one run, for what is made once and used by many test files. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
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

/**
 * A folder that the first test file to ask fills, by `make`; the other processes wait. It gets its name when it is whole. Without the
 * wait, five processes made the data of PostgreSQL at the same time, which takes each of them 1.2 s of processor time.
 */
export function madeOnce(name: string, make: (folder: string) => void): string {
  const folder = join(thisRun(), name);
  for (let turn = turnOf(folder); turn !== "made"; turn = turnOf(folder)) {
    if (turn === "theirs") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    else {
      try {
        const own = besideOf(folder);
        make(own);
        renameSync(own, folder);
      } finally {
        rmSync(claimOf(folder), { force: true });
      }
    }
  }
  return folder;
}

/** The same of a program, where the runtimes find packages. */
export async function programMadeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(programsFolder(), name);
  for (let turn = turnOf(folder); turn !== "made"; turn = turnOf(folder)) {
    if (turn === "theirs") await delay(pauseMs);
    else {
      try {
        const own = besideOf(folder);
        await make(own);
        renameSync(own, folder);
      } finally {
        rmSync(claimOf(folder), { force: true });
      }
    }
  }
  return folder;
}

const pauseMs = 20;

/** Who makes a folder: `ours` is a claim that the caller removes, whether it made the folder or failed. */
type Turn = "made" | "ours" | "theirs";

function turnOf(folder: string): Turn {
  if (existsSync(folder)) return "made";
  mkdirSync(dirname(folder), { recursive: true });
  const claim = claimOf(folder);
  try {
    writeFileSync(claim, String(process.pid), { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!isAlive(claim)) rmSync(claim, { force: true });
    return "theirs";
  }
  if (!existsSync(folder)) return "ours";
  rmSync(claim, { force: true });
  return "made";
}

/** Whether the process that wrote a claim runs, or has yet to write its number. */
function isAlive(claim: string): boolean {
  try {
    const owner = readFileSync(claim, "utf8");
    return owner === "" || process.kill(Number(owner), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const claimOf = (folder: string): string => `${folder}.claim`;

function besideOf(folder: string): string {
  const own = mkdtempSync(`${folder}-`);
  chmodSync(own, 0o755);
  return own;
}
