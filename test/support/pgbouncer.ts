/** PgBouncer in front of a PostgreSQL server, where its binary is on the path: `.ci/run --wide` installs it. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accepts, freePort } from "../../examples/orders/postgres-server.ts";
import { endsWithFile } from "./ends.ts";
import { need } from "./needs.ts";
import type { Need } from "./needs.ts";

const binary = "pgbouncer";
const found = spawnSync(binary, ["--version"], { encoding: "utf8" });

export const pgbouncer: Need = need("pgbouncer; .ci/run --wide installs one", found.status === 0);

const [, minor = "0"] = /^PgBouncer 1\.(\d+)/.exec(found.stdout ?? "") ?? [];
/** Whether it keeps the prepared statements of its clients. */
export const preparesStatements: boolean = Number(minor) >= 21;

/** It is ready within a tenth of a second. */
const startBoundMs = 60_000;

// Ends it together with the process that started it: the end of its input ends it.
const supervisor = '"$@" </dev/null >/dev/null 2>&1 & server=$!; cat >/dev/null; kill -KILL $server; wait $server';

const started: PgBouncer[] = [];
endsWithFile(async () => {
  await Promise.all(started.splice(0).map((one) => one.close()));
});

/** How it lends a session of the server: to a client, or to each transaction. */
export type PoolMode = "session" | "transaction";

export interface PgBouncerOptions {
  readonly mode: PoolMode;
  /** The port of the PostgreSQL server, on this machine. */
  readonly port: number;
  /** How many sessions of the server it opens. */
  readonly sessions?: number;
  /** Settings of `[pgbouncer]`. */
  readonly settings?: { readonly [name: string]: string };
}

export class PgBouncer {
  readonly port: number;
  readonly #directory: string;
  readonly #running: ChildProcess;

  private constructor(port: number, directory: string, running: ChildProcess) {
    this.port = port;
    this.#directory = directory;
    this.#running = running;
  }

  /** One on a free port, gone with the test file. */
  static async start({ mode, port: target, sessions = 2, settings = {} }: PgBouncerOptions): Promise<PgBouncer> {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), "usher-pgbouncer-"));
    const own = {
      listen_addr: "127.0.0.1",
      listen_port: String(port),
      unix_socket_dir: "",
      auth_type: "any",
      pool_mode: mode,
      default_pool_size: String(sessions),
      ...settings,
    };
    const lines = Object.entries(own).map(([name, value]) => `${name} = ${value}`);
    const database = `* = host=127.0.0.1 port=${target} user=postgres`;
    const file = join(directory, "pgbouncer.ini");
    writeFileSync(file, `[databases]\n${database}\n\n[pgbouncer]\n${lines.join("\n")}\n`);
    // It refuses to run as root.
    const [uid, gid] = process.getuid?.() === 0 ? nobody() : [undefined, undefined];
    if (uid !== undefined && gid !== undefined) for (const path of [directory, file]) chownSync(path, uid, gid);
    const as = uid === undefined || gid === undefined ? {} : { uid, gid };
    const command = ["-c", supervisor, "sh", binary, "-q", file];
    const running = spawn("sh", command, { stdio: ["pipe", "ignore", "ignore"], cwd: directory, ...as });
    const one = new PgBouncer(port, directory, running);
    started.push(one);
    const end = Date.now() + startBoundMs;
    while (!(await accepts(port))) {
      if (Date.now() > end || running.exitCode !== null) throw new Error("pgbouncer did not start");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return one;
  }

  url(database = "postgres"): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async close(): Promise<void> {
    const ended = once(this.#running, "exit");
    this.#running.stdin?.end();
    if (this.#running.exitCode === null) await ended;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function nobody(): readonly [uid: number, gid: number] {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith("nobody:"));
  const [, , uid, gid] = (line ?? "").split(":");
  return [Number(uid), Number(gid)];
}
