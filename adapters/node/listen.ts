import { constants, fstatSync, lstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, ListenOptions } from "node:net";
import { WriteStream, isatty } from "node:tty";
import { batch, byLines } from "../../src/doors/logging.ts";
import type { Sink } from "../../src/doors/logging.ts";
import { checkReusePort, listenAt, unixSocketsBy } from "../../src/doors/server.ts";
import type { Limits } from "../../src/doors/server.ts";

/** Listens on the address of the options, with a server for each. */
export function listen(limits: Limits, make: () => Server): ReturnType<typeof listenAt<Server>> {
  const { reusePort } = limits;
  if (reusePort === true) checkNode(limits);
  return listenAt(limits, {
    listenOn: (host, port) => listening(make(), reusePort === true ? { host, port, reusePort } : { host, port }),
    listenAtPath: (path) => listening(make(), { path }),
    portOf: (server) => (server.address() as AddressInfo).port,
    close: (server) => server.close(),
    sockets: unixSocketsBy({ lstatSync, unlinkSync }, connect),
  });
}

/** The systems on which Node shares a port. */
const systems = ["linux", "freebsd", "sunos", "aix"];

/** An older Node ignores the option, and the second process would find the port taken. */
function checkNode(limits: Limits): void {
  const isKept = nodeMajor > 22 ? nodeMajor > 23 || nodeMinor >= 1 : nodeMajor === 22 && nodeMinor >= 12;
  if (!isKept)
    throw new TypeError(
      "serve: reusePort is kept by usher-http/node on Node 22.12, 23.1 or newer alone: use node:cluster",
    );
  checkReusePort(limits, process.platform, systems);
}

function listening(server: Server, where: ListenOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => resolve(server));
  });
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
    isColored: isatty(2) && hasColors(),
    room: (bytes) => Buffer.allocUnsafeSlow(bytes),
    encode: (text, into, at) => (into as Buffer).write(text, at),
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

// The prototype's method reads `NO_COLOR`, `FORCE_COLOR` and `TERM`, and needs no stream: `process.stderr` is left alone.
function hasColors(): boolean {
  return WriteStream.prototype.hasColors();
}

/**
 * A descriptor that never blocks. A pipe and a terminal are opened again, which only Linux can, because descriptor 2 is
 * shared with the parent process. Touching `process.stderr` would make it non-blocking for all processes that share it, and
 * their writes would fail when it is full. A socket is made non-blocking by `process.stderr` and belongs to this process. A
 * file never blocks.
 */
function ownDescriptor(): number {
  try {
    const stat = fstatSync(2);
    if (stat.isSocket()) void process.stderr;
    if (!isatty(2) && !stat.isFIFO()) return 2;
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 2;
  }
}

export const isBun: boolean = "bun" in process.versions;
export const isDeno: boolean = "deno" in process.versions;
const isNode = !isBun && !isDeno;

const version: readonly [major: number, minor: number] = isNode ? nodeVersion() : [0, 0];

/** Node's major version; 0 on Bun and Deno, which report one but lack Node's internals. */
export const nodeMajor: number = version[0];

export const nodeMinor: number = version[1];

/** The first minor of each major of Node that an hour of random frames of HTTP/2 did not end: test/fuzz/http2.test.ts. */
const firstSafe: { readonly [major: number]: number } = { 22: 23, 24: 21, 26: 10 };

/** Whether no client is known to end the process by HTTP/2, so that it is on unless an option says otherwise. */
export function isSafeForHttp2(major: number, minor: number): boolean {
  return major > 26 || minor >= (firstSafe[major] ?? Number.POSITIVE_INFINITY);
}

function nodeVersion(): readonly [major: number, minor: number] {
  const [major, minor] = process.versions.node.split(".");
  return [Number(major), Number(minor)];
}
