import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";

const stopMs = 3000;
const hasGroups = process.platform !== "win32";

/**
 * A process of this runtime, with all processes that it starts, in a group of their own: the terminal's Ctrl-C reaches only
 * this process, and no process of the group outlives it.
 */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** Its exit code: 128 and the number of the signal that ended it. */
  readonly ended: Promise<number>;
  readonly #killAll = (): void => this.kill();
  readonly #timers: ReturnType<typeof setTimeout>[] = [];

  /** @param sends Whether it may send messages to this process. */
  constructor(args: readonly string[], { sends, env }: { readonly sends: boolean; readonly env?: NodeJS.ProcessEnv }) {
    const stdio = ["pipe", "inherit", "inherit", ...(sends ? (["ipc"] as const) : [])] as const;
    this.child = spawn(process.execPath, args, { stdio: [...stdio], detached: hasGroups, ...(env && { env }) });
    // The end of its input stops the server also where this process was killed.
    this.child.stdin?.on("error", () => {});
    process.on("exit", this.#killAll);
    this.ended = this.#end();
  }

  /** Asks it to end, and kills it where it does not. */
  stop(): void {
    this.child.stdin?.end();
    this.#signal("SIGTERM");
    this.#timers.push(setTimeout(this.#killAll, stopMs).unref());
  }

  kill(): void {
    this.#signal("SIGKILL");
  }

  async #end(): Promise<number> {
    const [code, by] = await new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve, reject) => {
      this.child.once("error", reject);
      this.child.once("exit", (...how) => resolve(how));
    });
    process.off("exit", this.#killAll);
    // Another process may have its number by then.
    for (const timer of this.#timers) clearTimeout(timer);
    this.kill();
    return code ?? 128 + (by === null ? 0 : constants.signals[by]);
  }

  #signal(name: "SIGTERM" | "SIGKILL"): void {
    if (this.child.pid === undefined) return;
    try {
      if (hasGroups) process.kill(-this.child.pid, name);
      else this.child.kill(name);
    } catch {
      // It has ended.
    }
  }
}

/** Calls `stop` at each signal that asks this process to end. */
export function onStopSignal(stop: () => void): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
}
