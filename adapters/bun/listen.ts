import { constants, fstatSync, lstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { isatty } from "node:tty";
import { inBackground } from "../../src/logging/raised.ts";
import { batch } from "../../src/logging/writer.ts";
import type { Sink } from "../../src/logging/writer.ts";
import { isTaken, listenAt } from "../../src/server/options.ts";
import type { Limits, ServeOptions } from "../../src/server/options.ts";

// Of Bun's own types, what is used of them: `@types/bun` would put Bun's globals into every file.

export interface BunServer {
  /** Undefined on a Unix socket. */
  readonly port: number | undefined;
  /** Requests whose answer is not written to its end. */
  readonly pendingRequests: number;
  /** Null on a Unix socket, and once the connection is gone. */
  requestIP(request: Request): { readonly address: string } | null;
  /** Seconds after which the connection of a request is closed for want of traffic; 0 for never. It stays so. */
  timeout(request: Request, seconds: number): void;
  /** Answers with a 101 and these headers; false where the connection is gone. `open` is called before it returns. */
  upgrade(
    request: Request,
    options: { readonly headers: readonly (readonly [string, string])[]; readonly data: unknown },
  ): boolean;
  /** Refuses new connections and closes those with no request on them; with `true`, closes every one. */
  stop(closeActiveConnections?: boolean): Promise<void>;
}

export interface BunSocket<Data> {
  readonly data: Data;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Bytes that were sent and that the system has no room for yet. */
  getBufferedAmount(): number;
  /** Copies what it cannot send at once. */
  send(data: string | Uint8Array): number;
  ping(): number;
  /** Ends the connection too, and calls `close` before it returns. */
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Sizes are bytes, times whole seconds. */
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
  readonly unix?: string;
  readonly idleTimeout: number;
  readonly maxRequestBodySize: number;
  readonly development: boolean;
  readonly websocket?: BunSocketHandlers<never>;
  /** Answers nothing where the connection became a socket. */
  readonly fetch: (request: Request, server: BunServer) => Response | undefined | Promise<Response | undefined>;
  readonly error: (error: unknown) => Response;
}

export interface BunRuntime {
  serve(options: BunServeOptions): BunServer;
}

/** What came of listening: a server for each address, and where that is in words. */
interface BunServers {
  readonly servers: readonly BunServer[];
  readonly port: number;
  readonly url: string;
  readonly bound: string;
}

type BunServe = (where: { readonly hostname: string; readonly port: number } | { readonly unix: string }) => BunServer;

export async function listen({ host, port, socket }: Limits, serve: BunServe): Promise<BunServers> {
  if (socket !== undefined) {
    const server = await listenOn(socket, () => serve({ unix: socket }));
    return { servers: [server], port: 0, url: `unix:${socket}`, bound: socket };
  }
  const listenerAt = (hostname: string, port: number) => {
    const server = serve({ hostname, port });
    return { server, port: server.port as number, close: () => inBackground(server.stop(true)) };
  };
  const { listeners, port: taken, bound } = listenAt(host, port, listenerAt);
  const servers = listeners.map(({ server }) => server);
  return { servers, port: taken, url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`, bound };
}

// A socket left behind by a server that died is in the way; a living server's, or a file that is none, stays.
async function listenOn(path: string, serve: () => BunServer): Promise<BunServer> {
  try {
    return serve();
  } catch (error) {
    if (!isTaken(error) || !(await isLeftBehind(path))) throw error;
  }
  unlinkSync(path);
  return serve();
}

function isLeftBehind(path: string): Promise<boolean> {
  if (!lstatSync(path).isSocket()) return Promise.resolve(false);
  return new Promise((resolve) => {
    const client = connect(path);
    client.once("connect", () => resolve(false));
    client.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
    client.once("connect", () => client.destroy());
  });
}

const mostSeconds = 255;

/**
 * A time as Bun takes one: in whole seconds, of which it looks at four at a time.
 *
 * @throws RangeError where Bun has no room for it.
 */
export function inSeconds(name: string, ms: number): number {
  if (ms <= mostSeconds * 1000) return Math.ceil(ms / 1000);
  throw new RangeError(`serve: ${name} cannot be ${ms}: on Bun it is at most ${mostSeconds * 1000}`);
}

/**
 * Has Bun take heads as long as they may be. It has one limit for the whole process, so that is never made less: each
 * server counts for itself.
 */
export async function makeRoom({ maxHeaderBytes }: ServeOptions): Promise<void> {
  if (maxHeaderBytes === undefined) return;
  // To Node it is a constant.
  const http = (await import("node:http")).default as { maxHeaderSize: number };
  if (http.maxHeaderSize < maxHeaderBytes) http.maxHeaderSize = maxHeaderBytes;
}

/** What was asked for and cannot be had, in words for the log. */
export function unkept({ headTimeoutMs, maxConnections }: ServeOptions): readonly string[] {
  const why: string[] = [];
  if (headTimeoutMs !== undefined) why.push("headTimeoutMs is not kept on Bun, where the first head has 10 s");
  if (maxConnections !== undefined) why.push("maxConnections is not kept on Bun, which takes every connection");
  return why;
}

/** Standard error, many lines to a write, the last of them when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, however many servers it has: they write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const fd = ownDescriptor();
  const encoder = new TextEncoder();
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const made = batch({
    format: isatty(2) ? "pretty" : "json",
    room: (bytes) => new Uint8Array(bytes),
    encode: (text, into, at) => encoder.encodeInto(text, into.subarray(at)).written,
    write: (bytes) => writeSync(fd, bytes),
    pause: (ms) => {
      Atomics.wait(asleep, 0, 0, ms);
    },
  });
  process.once("exit", made.finish);
  return made;
}

/**
 * A pipe, or a terminal, opened anew, as only Linux can: that it must not wait for whoever reads it is then so for this
 * process alone, while descriptor 2 is shared with whoever started it. A file never waits; a socket does.
 */
function ownDescriptor(): number {
  try {
    if (!isatty(2) && !fstatSync(2).isFIFO()) return 2;
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 2;
  }
}
