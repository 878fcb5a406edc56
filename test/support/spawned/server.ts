/** A server in a process of another runtime, which ends with the test that started it. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, expect } from "vitest";
import type { ServeOptions } from "../../../src/server/options.ts";
import { builtProgram } from "../built-program.ts";
import { endsWithTest } from "../ends.ts";
import { came } from "../eventually.ts";
import { RawClient, leaveAll } from "../raw-client.ts";
import type { SpawnOptions } from "./options.ts";

let marks = 0;
const running: SpawnedServer[] = [];
endsWithTest(async () => {
  leaveAll();
  await Promise.all(running.splice(0).map((server) => server.kill()));
});

/** How a runtime runs a program: its binary and what comes before the program. */
export type Command = readonly [binary: string, ...args: string[]];

export class SpawnedServer {
  readonly child: ChildProcess;
  /** How it ended: a code, or a signal. */
  readonly ended: Promise<number | string>;
  port = 0;
  url = "";
  readonly #told: string[] = [];
  readonly #logged: string[] = [];
  #isOver = false;
  readonly #waiting: (() => void)[] = [];

  private constructor([binary, ...args]: Command, program: string, options: unknown) {
    this.child = spawn(binary, [...args, program, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
    this.#read(this.child.stdout as Readable, this.#told);
    this.#read(this.child.stderr as Readable, this.#logged);
    this.ended = once(this.child, "close").then(([code, signal]: (number | string | null)[]) => {
      this.#isOver = true;
      this.#wake();
      return code ?? signal ?? "nothing";
    });
    running.push(this);
  }

  static async start(
    command: Command,
    program: string,
    options: ServeOptions | SpawnOptions = {},
  ): Promise<SpawnedServer> {
    const file = program.endsWith(".ts") ? await builtProgram(program) : program;
    const server = new SpawnedServer(command, file, options);
    const { port, url } = JSON.parse(await server.#finds(server.#told, (line) => line.includes('"port"'))) as {
      port: number;
      url: string;
    };
    server.port = port;
    server.url = url;
    return server;
  }

  /** Waits for what the program tells. */
  async tells(what: string): Promise<void> {
    await this.#finds(this.#told, (line) => line === JSON.stringify({ what }));
  }

  get told(): readonly string[] {
    return this.#told.slice(1).map((line) => (JSON.parse(line) as { readonly what: string }).what);
  }

  /** Waits for a line of the log with that text in it. */
  async logs(text: string): Promise<string> {
    return this.#finds(this.#logged, (line) => line.includes(text));
  }

  /** The log so far: the messages of JSON lines, and other lines whole. */
  get logged(): readonly string[] {
    return this.#logged.map((line) => {
      return line.startsWith("{") ? (JSON.parse(line) as { readonly message: string }).message : line;
    });
  }

  /** The same as it was written, every field of it. */
  get written(): readonly string[] {
    return this.#logged;
  }

  /** The lines at `error` so far, as they were written. */
  get errors(): readonly string[] {
    return this.#logged.filter((line) => line.includes('"level":"error"'));
  }

  /** How many descriptors its process has open; 0 where the system does not tell. */
  get descriptors(): number {
    const folder = `/proc/${this.child.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  client(host?: string): Promise<RawClient> {
    return RawClient.to(this.port, host);
  }

  /** Asks for something on a connection of its own. */
  async asks(line: string, body?: string): Promise<string> {
    return (await (await this.client()).ask(line, ["connection: close"], body).answer()).body;
  }

  /** Lets go whatever waits to be. */
  async open(): Promise<void> {
    this.child.kill("SIGUSR2");
    await this.tells("opened");
  }

  /** The server outlives the test that started it. The caller kills it. */
  outliveTest(): this {
    running.splice(running.indexOf(this), 1);
    return this;
  }

  /** Clears the records and the log so far, also lines that are still being written. */
  async forget(): Promise<void> {
    const mark = `mark-${++marks}`;
    await this.asks(`POST /tell/${mark}`);
    await this.tells(mark);
    await this.logs(`POST /tell/${mark} 200`);
    // The first line tells where it listens.
    this.#told.length = 1;
    this.#logged.length = 0;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  #read(stream: Readable, lines: string[]): void {
    createInterface(stream).on("line", (line) => {
      lines.push(line);
      this.#wake();
    });
  }

  async #finds(lines: readonly string[], isIt: (line: string) => boolean): Promise<string> {
    for (;;) {
      const found = lines.find(isIt);
      if (found !== undefined) {
        came(isIt(found));
        return found;
      }
      if (this.#isOver) throw new Error(`it ended first; it said\n${[...this.#told, ...this.#logged].join("\n")}`);
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }
}

/** Starts a server of one runtime. */
export type Start = (options?: SpawnOptions) => Promise<SpawnedServer>;

type StartBy<Args extends readonly unknown[]> = (...args: Args) => Promise<SpawnedServer>;

/**
 * Starts one server for all tests of a `describe` that give the same options: to start a process takes longer than their requests.
 * They leave nothing to each other but lines, which the server forgets before the next test: `POST /tell/{mark}` is to tell the mark.
 */
export function shared<Args extends readonly unknown[]>(start: StartBy<Args>): StartBy<Args> {
  const servers = new Map<string, Promise<SpawnedServer>>();
  afterAll(async () => {
    for (const server of servers.values()) await (await server).kill();
  });
  return async (...args) => {
    const key = JSON.stringify(args);
    const begun = servers.get(key);
    if (begun === undefined) {
      const starting = start(...args).then((server) => server.outliveTest());
      servers.set(key, starting);
      return starting;
    }
    const server = await begun;
    await server.forget();
    return server;
  };
}

/** Waits until nothing accepts a connection there: a server says that it stops a moment before it does. */
export async function refusesAt(port: number): Promise<void> {
  const connected = () =>
    RawClient.to(port).then(
      () => "connected",
      ({ code }: NodeJS.ErrnoException) => code,
    );
  await expect.poll(connected).toBe("ECONNREFUSED");
}
