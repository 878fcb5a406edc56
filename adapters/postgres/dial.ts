import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect, isIP } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import type postgres from "postgres";
import type { DatabaseConnection, ConnectionEvents } from "../../src/doors/database.ts";
import { isObject, needs } from "../../src/arguments.ts";
import { describeRaised } from "../../src/doors/logging.ts";
import { parse } from "./connection-string.ts";
import type { Conninfo, SessionKind, SignInMethod, Tls } from "./connection-string.ts";

/** What the package `postgres` exports. */
export type Driver = typeof postgres;

/** What is needed to open a connection. */
export interface ConnectionConfig {
  readonly driver: Driver;
  readonly target: Conninfo;
  readonly address: ServerAddress;
  /** Start-up parameters (PostgreSQL §54.2.1). */
  readonly parameters: { readonly [name: string]: string };
  /** The most prepared statements; 0 for none. */
  readonly statementCache: number;
  /** The most bytes of a result, as the server sends it. */
  readonly maxResultBytes: number;
  /** Whether it does not keep the process running, also while it connects. */
  readonly isUnref: boolean;
  readonly events: ConnectionEvents;
}

/** A condition that one server meets or not. */
export type ServerKind = Exclude<SessionKind, "prefer-standby">;

/** Whether the server meets `target_session_attrs`. */
export async function fits(connection: DatabaseConnection, kind: ServerKind): Promise<boolean> {
  if (kind === "any") return true;
  const answer = await connection.script("select current_setting('transaction_read_only'), pg_is_in_recovery()");
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

/** An IP address, a name that the runtime itself connects, or the path of a Unix socket. */
export type ServerAddress =
  | { readonly host: string; readonly address: string; readonly port: number }
  | { readonly path: string };

export async function addressesOf({
  host,
  port,
  address,
}: Conninfo["hosts"][number]): Promise<readonly ServerAddress[]> {
  if (address !== undefined) return [{ host, address, port }];
  if (host.startsWith("/")) return [{ path: join(host, `.s.PGSQL.${port}`) }];
  // No DNS server knows a name of Hyperdrive's: workerd connects it by itself.
  if (isIP(host) !== 0 || host.endsWith(".hyperdrive.local")) return [{ host, address: host, port }];
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => ({ host, address, port }));
}

/** Connects, with TLS if asked for. `dialled` gets every socket before it connects, so that the caller can destroy it. */
export async function dial(address: ServerAddress, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  const socket = "path" in address ? connect(address.path) : connect(address.port, address.address);
  dialled(socket);
  await nextEvent(socket, "connect");
  // Nagle's algorithm would delay the small messages.
  if ("path" in address) return socket;
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return tls.mode === "disable" ? socket : secured(socket, address.host, tls, dialled);
}

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Sends SSLRequest and starts TLS (PostgreSQL §54.2.10). */
async function secured(socket: Socket, host: string, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  if (tls.isDirect === true) return encryptedBy(socket, host, tls, dialled);
  socket.write(sslRequest);
  const answer = await firstBytes(socket);
  // A man in the middle may append plain bytes, to be read as if they were encrypted (CVE-2021-23222).
  if (answer.length !== 1) throw new Error("the server answered more than was asked before encryption began");
  if (answer[0] !== 0x53) {
    if (answer[0] !== 0x4e) throw new Error("the server did not answer whether it encrypts");
    if (tls.mode === "prefer") return socket;
    throw new Error("the server does not encrypt");
  }
  return encryptedBy(socket, host, tls, dialled);
}

async function encryptedBy(socket: Socket, host: string, tls: Tls, dialled: (socket: Socket) => void): Promise<Socket> {
  const encrypted = connectTls({ socket, ...tlsOptions(host, tls) });
  dialled(encrypted);
  await nextEvent(encrypted, "secureConnect");
  return encrypted;
}

// Bun and Deno reject members that are undefined.
function tlsOptions(host: string, tls: Tls): ConnectionOptions {
  const { mode, rootCertificate, certificate, key, keyPassword, revoked, minVersion, maxVersion } = tls;
  const isVerified =
    mode === "verify-ca" || mode === "verify-full" || (rootCertificate !== undefined && mode === "require");
  return {
    ALPNProtocols: ["postgresql"],
    rejectUnauthorized: isVerified,
    // The name that the certificate must have; by default Node checks for localhost.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...(rootCertificate === undefined || rootCertificate === "system" ? {} : { ca: readFileSync(rootCertificate) }),
    ...(certificate === undefined ? {} : { cert: readFileSync(certificate) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
    ...(keyPassword === undefined ? {} : { passphrase: keyPassword }),
    ...(revoked === undefined ? {} : { crl: readFileSync(revoked) }),
    ...(minVersion === undefined ? {} : { minVersion }),
    ...(maxVersion === undefined ? {} : { maxVersion }),
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

function nextEvent(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
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

/** The server's process for a connection, and the key that cancels its statement. */
export interface Backend {
  readonly pid: number;
  readonly secret: number;
}

const cancelMs = 5000;

/** Sends a CancelRequest on a connection of its own (PostgreSQL §54.2.8). */
export async function askToCancel(config: ConnectionConfig, { pid, secret }: Backend): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(80877102, 4);
  message.writeInt32BE(pid | 0, 8);
  message.writeInt32BE(secret | 0, 12);
  await sendUntilClosed(config, message);
}

/** Sends a message and waits for the server to close the connection, which shows that it has read it. */
async function sendUntilClosed({ address, target }: ConnectionConfig, message: Buffer): Promise<void> {
  const sockets: Socket[] = [];
  const timer = setTimeout(() => sockets.at(-1)?.destroy(), cancelMs);
  try {
    const socket = await dial(address, target.tls, (socket) => sockets.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.resume().write(message);
    });
  } catch {
    // If the request cannot be sent, statement_timeout ends the statement.
  } finally {
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  }
}

/**
 * The password of one connection. @throws Error with neither the password nor the message of what the function threw, which may quote a
 * token.
 */
export async function passwordOf({ password = "" }: Conninfo): Promise<string> {
  if (typeof password === "string") return password;
  let given: unknown;
  let kind: string | undefined;
  try {
    given = await password();
  } catch (thrown) {
    kind = describeRaised(thrown).kind;
  }
  if (kind !== undefined) throw new Error(`the function for the password failed: ${kind}`);
  if (typeof given !== "string") throw new Error(`the function for the password gave no text, but ${typeof given}`);
  return given;
}

/** How a server may ask to sign in; undefined for any way. */
export function methodsOf({ methods, channelBinding }: Conninfo): ReadonlySet<SignInMethod> | undefined {
  // Only SCRAM binds to a channel.
  if (channelBinding === "require") return new Set(["scram-sha-256"]);
  return methods === undefined ? undefined : new Set(methods);
}

/**
 * A password as SCRAM has it (SASLprep, RFC 4013 §2). The server leaves one as it is that has a character which is not allowed,
 * or not in Unicode 3.2.
 */
export function saslPrepared(password: string): string {
  // "Commonly mapped to nothing" (RFC 3454, table B.1), and the one space that NFKC leaves.
  const invisible = /\u034f|[\ufe00-\ufe0f]|[\u00ad\u1806\u180b-\u180d\u200b-\u200d\u2060\ufeff]/g;
  return password.replace(invisible, "").replaceAll("\u1680", " ").normalize("NFKC");
}

/** What a program connects to, as it gave it: `at` names it in the error. */
export function targetOf(at: string, target: string | Conninfo): Conninfo {
  if (typeof target === "string") return parse(target);
  const isConninfo = isObject(target) && Array.isArray(target.hosts) && isObject(target.parameters);
  needs(isConninfo, at, target, "a connection string, or made by Conninfo.parse");
  return target;
}
