import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect, isIP } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import postgres from "postgres";
import type { DatabaseConnection, ConnectionEvents } from "../../src/database/connection.ts";
import type { Reset } from "../../src/database/pool.ts";
import type { Conninfo, SessionKind, Tls } from "./connection-string.ts";
import { executeOf } from "./protocol.ts";
import type { Execute, Wire } from "./protocol.ts";

export interface PoolOptions {
  /** How many connections there are, from the start to the end; 8 by default. */
  readonly size?: number;
  /** How long a borrow waits for one; 5000 by default. */
  readonly waitMs?: number;
  /** What the server lets a statement take; 10 000 by default, and 0 lifts the bound. */
  readonly statementTimeoutMs?: number;
  /** How long the server lets a transaction stand with nothing running in it; 30 000 by default, and 0 lifts the bound. */
  readonly idleInTransactionTimeoutMs?: number;
  /** Settings of every connection, as `search_path`: they stand before the framework's own. */
  readonly parameters?: { readonly [name: string]: string };
  /** How many statements a connection keeps prepared; 256 by default. 0 for a pooler that lends its connections by the transaction. */
  readonly statementCache?: number;
  /** How old a connection may get, give or take a tenth; 1 800 000 by default. */
  readonly maxLifetimeMs?: number;
  /** How long a connection may be idle before it is asked whether it is there; 60 000 by default. */
  readonly idleCheckMs?: number;
  /** When a connection's session is made new as it is given back: after `use` by default. */
  readonly reset?: Reset;
}

/** What a connection is born with. */
export interface ConnectionConfig {
  readonly target: Conninfo;
  readonly address: ServerAddress;
  /** Start-up parameters (PostgreSQL §54.2.1). */
  readonly parameters: { readonly [name: string]: string };
  /** How many statements it keeps prepared; 0 for none. */
  readonly statementCache: number;
  readonly events: ConnectionEvents;
}

/** What one server is, or is not. */
export type ServerKind = Exclude<SessionKind, "prefer-standby">;

/** Whether a server is of the kind that `target_session_attrs` asks for. */
export async function fits(link: DatabaseConnection, kind: ServerKind): Promise<boolean> {
  if (kind === "any") return true;
  const answer = await link.script("select current_setting('transaction_read_only'), pg_is_in_recovery()");
  const [isReadOnly, isStandby] = answer[0] ?? [];
  switch (kind) {
    case "read-write":
      return isReadOnly === "off";
    case "read-only":
      return isReadOnly === "on";
    case "primary":
      return isStandby === "f";
    default:
      return isStandby === "t";
  }
}

/** One place a server may be: an address, or the path of a Unix socket. */
export type ServerAddress =
  | { readonly host: string; readonly address: string; readonly port: number }
  | { readonly path: string };

/** Every address of a host. */
export async function addressesOf(host: string, port: number): Promise<readonly ServerAddress[]> {
  if (host.startsWith("/")) return [{ path: join(host, `.s.PGSQL.${port}`) }];
  if (isIP(host) !== 0) return [{ host, address: host, port }];
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => ({ host, address, port }));
}

/** Connects and, where it is asked for, encrypts. Every socket is told of before anything waits, so that it can be ended. */
export async function dial(address: ServerAddress, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  const socket = "path" in address ? connect(address.path) : connect(address.port, address.address);
  dialled(socket);
  await once(socket, "connect");
  // Statements are small and waited for (Nagle's delay would be theirs).
  if ("path" in address) return socket;
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return tls.mode === "disable" ? socket : secured(socket, address.host, tls, dialled);
}

const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Asks for encryption, and has it (PostgreSQL §54.2.10). */
async function secured(socket: Socket, host: string, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  socket.write(request);
  const answer = await firstBytes(socket);
  // More than one byte was sent by somebody who stands in between, to be taken for what comes encrypted.
  if (answer.length !== 1) throw new Error("the server answered more than was asked before encryption began");
  if (answer[0] !== 0x53) {
    if (tls.mode === "prefer") return socket;
    throw new Error("the server does not encrypt");
  }
  const encrypted = connectTls({ socket, ...tlsOptions(host, tls) });
  dialled(encrypted);
  await once(encrypted, "secureConnect");
  return encrypted;
}

// Bun and Deno take no member that is undefined.
function tlsOptions(host: string, tls: Tls): ConnectionOptions {
  const { mode, rootCertificate, certificate, key } = tls;
  const isVerified =
    mode === "verify-ca" || mode === "verify-full" || (rootCertificate !== undefined && mode === "require");
  return {
    ALPNProtocols: ["postgresql"],
    rejectUnauthorized: isVerified,
    // Whom the certificate must name: left out, it may as well name localhost.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...(rootCertificate === undefined || rootCertificate === "system" ? {} : { ca: readFileSync(rootCertificate) }),
    ...(certificate === undefined ? {} : { cert: readFileSync(certificate) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
  };
}

function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      socket.off("readable", read).off("error", failed).off("close", closed);
      act();
    };
    const failed = (error: Error): void => settle(() => reject(error))();
    const closed = settle(() => reject(new Error("the server closed the connection")));
    const read = (): void => {
      const bytes = socket.read() as Buffer | null;
      if (bytes !== null) settle(() => resolve(bytes))();
    };
    socket.on("readable", read).on("error", failed).on("close", closed);
  });
}

function once(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      socket.off(event, done).off("error", failed).off("close", closed);
      act();
    };
    const done = settle(resolve);
    const failed = (error: Error): void => settle(() => reject(error))();
    const closed = settle(() => reject(new Error("the server closed the connection")));
    socket.on(event, done).on("error", failed).on("close", closed);
  });
}

/** Who serves a connection, and what only its client knows of it. */
export interface Backend {
  readonly pid: number;
  readonly secret: number;
}

const cancelMs = 5000;

/** Asks for the statement that runs to be ended (PostgreSQL §54.2.8), on a connection for that alone. */
export async function askToCancel(birth: ConnectionConfig, { pid, secret }: Backend): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(80877102, 4);
  message.writeInt32BE(pid | 0, 8);
  message.writeInt32BE(secret | 0, 12);
  await tell(birth, message);
}

/** Sends a message, and waits for the server to close it: then it was read. */
async function tell({ address, target }: ConnectionConfig, message: Buffer): Promise<void> {
  const sockets: Socket[] = [];
  const timer = setTimeout(() => sockets.at(-1)?.destroy(), cancelMs);
  try {
    const socket = await dial(address, target.tls, (socket) => sockets.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.resume().write(message);
    });
  } catch {
    // The server's own bound ends the statement where nobody can ask it to.
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}

/** The framework's parameters, the connection string's over them, and the application's over both, whatever their case. */
export function parametersOf(target: Conninfo, options: PoolOptions): { readonly [name: string]: string } {
  const own = {
    application_name: "usher",
    statement_timeout: bound(options.statementTimeoutMs ?? 10_000),
    idle_in_transaction_session_timeout: bound(options.idleInTransactionTimeoutMs ?? 30_000),
    DateStyle: "ISO",
    IntervalStyle: "postgres",
  };
  const byName = new Map<string, readonly [string, string]>();
  for (const set of [own, target.parameters, options.parameters ?? {}])
    for (const [name, value] of Object.entries(set)) byName.set(name.toLowerCase(), [name, value]);
  return Object.fromEntries(byName.values());
}

// Whole milliseconds, rounded up; 0 is sent, as the server's own settings may hold a bound.
function bound(ms: number): string {
  return String(Math.ceil(ms));
}

/** The driver, as what sends queries on the one socket that it is given. */
export function driverOf(
  { target, parameters, statementCache, events }: ConnectionConfig,
  socketOf: () => Promise<Wire>,
): Execute {
  let isDialled = false;
  const options = {
    host: "localhost",
    port: 5432,
    user: target.user,
    // A function, as an empty password would be looked for in the environment.
    pass: () => target.password ?? "",
    database: target.database,
    ssl: false,
    max: 1,
    prepare: statementCache > 0,
    fetch_types: false,
    idle_timeout: null,
    max_lifetime: null,
    connect_timeout: 0,
    backoff: 0,
    keep_alive: null,
    debug: false,
    onnotice() {},
    onnotify: events.notified,
    connection: parameters,
    types: asText,
    socket() {
      if (isDialled) throw new Error("the connection is closed");
      isDialled = true;
      return socketOf();
    },
  };
  // Its types know neither a socket of one's own, nor the simple protocol, nor who is notified.
  return executeOf(postgres(options as unknown as postgres.Options<{}>));
}

const same = (value: unknown): unknown => value;
// What the driver would read and write in its own way: it drops microseconds, and takes the text 'true' for false.
const read = [
  16, 17, 20, 21, 23, 25, 26, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802,
];
const asText = Object.fromEntries([
  ["raw", { to: 0, from: read, serialize: same, parse: undefined }],
  ...[16, 17, 25, 114, 1184, 3802].map((type) => [`raw${type}`, { to: type, from: [], serialize: same }] as const),
]);
