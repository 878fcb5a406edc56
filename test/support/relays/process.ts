/** A process with a hub and a relay, which ends with its test. */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { builtProgram } from "../built-program.ts";
import { endsWithTest } from "../ends.ts";
import { runtimes } from "../runtimes.ts";

const running: RelayProcess[] = [];
endsWithTest(async () => {
  for (const process of running.splice(0)) {
    process.child.kill("SIGKILL");
    await process.ended;
  }
});

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "-A"];

// So that lost events are reported by those that arrived.
const patienceMs = 40_000;

/** The runtimes a relay runs on. */
const commands = {
  node: (): string[] => [runtimes["node-newest"](), "--disable-warning=ExperimentalWarning"],
  bun: (): string[] => [runtimes.bun()],
  deno: (): string[] => [runtimes.deno(), ...deno],
};

export type Runtime = keyof typeof commands;

export class RelayProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<number | string>;
  /** Its output: `heard <text>`, `following`, `ended`, `settled`. */
  readonly told: string[] = [];
  readonly logged: string[] = [];
  #isOver = false;
  readonly #waiting: (() => void)[] = [];

  private constructor(runtime: Runtime, program: string, args: readonly string[]) {
    const [binary = "", ...flags] = commands[runtime]();
    this.child = spawn(binary, [...flags, program, ...args]);
    for (const [stream, lines] of [
      [this.child.stdout, this.told],
      [this.child.stderr, this.logged],
    ] as const) {
      createInterface(stream).on("line", (line) => {
        lines.push(line);
        this.#wake();
      });
    }
    this.ended = once(this.child, "close").then(([code, signal]: (number | string | null)[]) => {
      this.#isOver = true;
      this.#wake();
      return code ?? signal ?? "nothing";
    });
    running.push(this);
  }

  /** Starts a program and waits until it follows its topic. */
  static async start(runtime: Runtime, program: string, ...args: readonly string[]): Promise<RelayProcess> {
    const process = new RelayProcess(runtime, await builtProgram(program), args);
    await process.until(() => process.told.includes("following"));
    return process;
  }

  /** `publish x 3` publishes x 0, x 1 and x 2. */
  do(command: string): void {
    this.child.stdin.write(`${command}\n`);
  }

  /** Waits until the broker has confirmed all published events. */
  async settles(): Promise<void> {
    const before = this.told.filter((line) => line === "settled").length;
    this.do("settle");
    await this.until(() => this.told.filter((line) => line === "settled").length > before);
  }

  /** The events that it received so far. */
  get heard(): readonly string[] {
    return this.told.flatMap((line) => (line.startsWith("heard ") ? [line.slice(6)] : []));
  }

  /** How often its subscription ended. */
  get ends(): number {
    return this.told.filter((line) => line === "ended").length;
  }

  hears(what: string): Promise<void> {
    return this.until(() => this.heard.includes(what));
  }

  logs(what: string, times = 1): Promise<void> {
    return this.until(() => this.logged.filter((line) => line.includes(what)).length >= times);
  }

  async until(isSo: () => boolean): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, patienceMs);
    try {
      while (!isSo()) {
        if (this.#isOver) throw new Error(`it ended first; it said\n${this.#words}`);
        if (isLate) throw new Error(`it never came; it said\n${this.#words}`);
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  get #words(): string {
    return [...this.told, ...this.logged].join("\n");
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}
