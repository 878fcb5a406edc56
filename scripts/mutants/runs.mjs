/** The process that runs tests in a copy. If it takes too long, it is killed with all of its children. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Job, Ran } from "./runner.mjs" */

export class Runs {
  /** @type {ChildProcess | undefined} */
  #child = undefined;
  #copy;

  /** @param {string} copy */
  constructor(copy) {
    this.#copy = copy;
  }

  /** The result of a job; undefined if it took too long. @param {Job} job @param {number} limitMs @returns {Promise<Ran | undefined>} */
  async run(job, limitMs) {
    const child = (this.#child ??= await this.#start());
    child.send(job);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    try {
      const [{ ran, error }] = await once(child, "message", { signal: late.signal });
      if (error !== undefined) throw new Error(error);
      return ran;
    } catch (error) {
      this.end();
      if (late.signal.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  end() {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined) return;
    try {
      // The whole group, with servers that a test started.
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }

  async #start() {
    const child = fork(join(this.#copy, "scripts/mutants/runner.mjs"), [], {
      cwd: this.#copy,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    await once(child, "message");
    return child;
  }
}
