import { constants, fstatSync, lstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { WriteStream, isatty } from "node:tty";
import { inBackground, batch, byLines } from "../../src/doors/logging.ts";
import type { Sink } from "../../src/doors/logging.ts";
import { checkReusePort, listenAt, unixSocketsBy } from "../../src/doors/server.ts";
import type { Limits, ServeOptions, Certificate, Certificates } from "../../src/doors/server.ts";

// The used part of Bun's types: `@types/bun` would add Bun's globals to every file.

export interface BunServer {
  /** Undefined on a Unix socket. */
  readonly port: number | undefined;
  /** Requests whose response is not fully written. */
  readonly pendingRequests: number;
  /** Null on a Unix socket, and once the connection is gone. */
  requestIP(request: Request): { readonly address: string } | null;
  /** The idle timeout of a request's connection, in seconds; 0 for none. It stays set. */
  timeout(request: Request, seconds: number): void;
  /** Answers with a 101 and these headers; false if the connection is closed. `open` is called before it returns. */
  upgrade(
    request: Request,
    options: { readonly headers: readonly (readonly [string, string])[]; readonly data: unknown },
  ): boolean;
  /** Refuses new connections and closes idle ones; with `true`, closes all. */
  stop(closeActiveConnections?: boolean): Promise<void>;
}

export interface BunSocket<Data> {
  readonly data: Data;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Sent bytes that the system has not accepted yet. */
  getBufferedAmount(): number;
  /** Copies the bytes that it cannot send at once. */
  send(data: string | Uint8Array): number;
  ping(): number;
  /** Also ends the connection, and calls `close` before it returns. */
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Sizes in bytes, times in whole seconds. */
export interface BunSocketHandlers<Data> {
  readonly maxPayloadLength: number;
  readonly idleTimeout: number;
  readonly sendPings: boolean;
  readonly backpressureLimit: number;
  readonly closeOnBackpressureLimit: boolean;
  readonly perMessageDeflate: boolean;
  open(socket: BunSocket<Data>): void;
  message(socket: BunSocket<Data>, message: string | Uint8Array): void;
  ping(socket: BunSocket<Data>): void;
  pong(socket: BunSocket<Data>): void;
  drain(socket: BunSocket<Data>): void;
  close(socket: BunSocket<Data>, code: number, reason: string): void;
}

export interface BunServeOptions {
  readonly hostname?: string;
  readonly port?: number;
  /** On Linux alone; ignored elsewhere. */
  readonly reusePort?: boolean;
  readonly unix?: string;
  readonly idleTimeout: number;
  readonly maxRequestBodySize: number;
  readonly development: boolean;
  /** The first is for clients that name no server, or one that the others are not for. */
  readonly tls?: readonly BunCertificate[];
  readonly websocket?: BunSocketHandlers<never>;
  /** Returns nothing if the connection became a WebSocket. */
  readonly fetch: (request: Request, server: BunServer) => Response | undefined | Promise<Response | undefined>;
  readonly error: (error: unknown) => Response;
}

interface BunCertificate extends Certificate {
  readonly serverName?: string;
}

export interface BunRuntime {
  serve(options: BunServeOptions): BunServer;
}

type BunServe = (
  where: Pick<BunServeOptions, "hostname" | "port" | "reusePort"> | { readonly unix: string },
) => BunServer;

/** Listens on the address of the options, with a server for each. */
export function listen(limits: Limits, serve: BunServe): ReturnType<typeof listenAt<BunServer>> {
  checkReusePort(limits, process.platform, ["linux"]);
  return listenAt(limits, {
    // Otherwise Bun shares the port with other servers, as `development` is false.
    listenOn: (hostname, port) => serve({ hostname, port, reusePort: limits.reusePort === true }),
    listenAtPath: (unix) => serve({ unix }),
    portOf: ({ port }) => port as number,
    close: (server) => inBackground(server.stop(true)),
    sockets: unixSocketsBy({ lstatSync, unlinkSync }, connect),
  });
}

/** The certificates as Bun takes them. */
export function certificatesFor({ cert, key, passphrase, names = {} }: Certificates): readonly BunCertificate[] {
  const first = { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
  return [first, ...Object.entries(names).map(([serverName, one]) => ({ ...one, serverName }))];
}

const maxSeconds = 255;

/**
 * A time in whole seconds for Bun, which checks every four seconds.
 *
 * @throws RangeError over Bun's maximum.
 */
export function inSeconds(name: string, ms: number): number {
  if (ms <= maxSeconds * 1000) return Math.ceil(ms / 1000);
  throw new RangeError(`serve: ${name} cannot be ${ms}: on Bun it is at most ${maxSeconds * 1000}`);
}

/**
 * Raises Bun's limit for heads. It is one limit for the whole process and never lowered, because each server also counts for
 * itself.
 */
export async function makeRoom({ maxHeaderBytes }: ServeOptions): Promise<void> {
  if (maxHeaderBytes === undefined) return;
  // In Node's types it is read-only.
  const http = (await import("node:http")).default as { maxHeaderSize: number };
  if (http.maxHeaderSize < maxHeaderBytes) http.maxHeaderSize = maxHeaderBytes;
}

/** The options that Bun ignores, as warnings. */
export function warningsFor({ headTimeoutMs, maxConnections }: ServeOptions): readonly string[] {
  const warnings: string[] = [];
  if (headTimeoutMs !== undefined) warnings.push("headTimeoutMs is not kept on Bun, where the first head has 10 s");
  if (maxConnections !== undefined) warnings.push("maxConnections is not kept on Bun, which takes every connection");
  return warnings;
}

/** Standard error, with many lines in a write; the last ones are written when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, because all its servers write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const fd = ownDescriptor();
  const write = (bytes: Uint8Array): number => writeSync(fd, bytes);
  const made = batch({
    format: isatty(2) ? "pretty" : "json",
    isColored: isatty(2) && WriteStream.prototype.hasColors(),
    write: isPipe() ? byLines(write) : write,
  });
  process.once("exit", made.finish);
  return made;
}

/** Whether standard error is a pipe or a socket, which may have room for a part of what is written. */
function isPipe(): boolean {
  try {
    const stat = fstatSync(2);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/**
 * A descriptor that never blocks. A pipe and a terminal are opened again, which only Linux can. They are then non-blocking
 * for this process only, while descriptor 2 is shared with the parent process. A file never blocks; a socket may.
 */
function ownDescriptor(): number {
  try {
    if (!isatty(2) && !fstatSync(2).isFIFO()) return 2;
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 2;
  }
}
