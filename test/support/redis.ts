/** A Redis or Valkey server: one of the test file's own where its binary is on the path, else the one of `REDIS_URL`. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accepts, freePort } from "../../examples/orders/postgres-server.ts";
import { endsWithFile } from "./ends.ts";
import { need } from "./needs.ts";
import type { Need } from "./needs.ts";

// It is ready within a tenth of a second. A test or a hook ends after 300 seconds.
const startBoundMs = 240_000;

const names = ["redis-server", "valkey-server"];

/** The binary's name; undefined where there is none. */
const redisBinary: string | undefined = names.find((name) => spawnSync(name, ["--version"]).status === 0);

/** Where a server runs already. */
export const redisUrl: string | undefined = process.env["REDIS_URL"] || undefined;

/** A server to speak with, and one of the test's own, which it may stop. */
export const redis: Need = need(
  "redis-server or valkey-server, and no REDIS_URL; .ci/run installs one",
  redisBinary !== undefined || redisUrl !== undefined,
);
export const ownRedis: Need = need("redis-server or valkey-server; .ci/run installs one", redisBinary !== undefined);

// Ends the server together with the process that started it: the end of its input ends it.
const supervisor = '"$@" </dev/null >/dev/null & server=$!; cat >/dev/null; kill -KILL $server; wait $server';

const started: RedisServer[] = [];
// Here and not where one is started: within a test or a hook it would be registered too late to run.
endsWithFile(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()));
});

export class RedisServer {
  readonly port: number;
  #running: ChildProcess | undefined = undefined;

  /** A replica writes what it gets there, also where nothing is kept. */
  readonly #directory: string = mkdtempSync(join(tmpdir(), "usher-redis-"));
  readonly #keeps: readonly string[];
  readonly #more: readonly string[];

  private constructor(port: number, isDurable: boolean, more: readonly string[]) {
    this.port = port;
    this.#more = more;
    this.#keeps = isDurable ? ["yes", "--appendfsync", "always"] : ["no"];
  }

  /** A server on a free port, gone with the test file. What a durable one has answered it still has after a crash. */
  static async start({ isDurable = false, more = [] as readonly string[] } = {}): Promise<RedisServer> {
    if (redisBinary === undefined) throw new Error("no redis-server or valkey-server on this machine");
    const server = new RedisServer(await freePort(), isDurable, more);
    started.push(server);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Its directory, for its log and other files. */
  get directory(): string {
    return this.#directory;
  }

  async start(): Promise<void> {
    // Nothing is kept: neither a snapshot nor a log, unless it is durable.
    const at = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#directory];
    const command = [
      "-c",
      supervisor,
      "sh",
      redisBinary ?? "",
      ...at,
      "--save",
      "",
      "--appendonly",
      ...this.#keeps,
      ...this.#more,
    ];
    this.#running = spawn("sh", command, { stdio: ["pipe", "ignore", "ignore"] });
    const end = Date.now() + startBoundMs;
    while (!(await accepts(this.port))) {
      if (Date.now() > end) throw new Error(`${redisBinary} did not start`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Ends it at once, as a crash does. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    const ended = once(running, "exit");
    running.stdin?.end();
    await ended;
  }
}
