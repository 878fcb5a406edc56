import { constants, fstatSync, lstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, ListenOptions } from "node:net";
import { WriteStream, isatty } from "node:tty";
import { batch, byLines } from "../../src/logging/writer.ts";
import type { Sink } from "../../src/logging/writer.ts";
import { checkReusePort, maxPicks } from "../../src/server/options.ts";
import type { Limits } from "../../src/server/options.ts";

/** A server for each address, and the addresses as text. */
interface Listening {
  readonly servers: readonly Server[];
  readonly port: number;
  readonly url: string;
  readonly bound: string;
}

type BoundAddress = Omit<Listening, "url">;

/** Listens on the address of the options. If one fails, nothing stays open. */
export async function listen(limits: Limits, make: () => Server): Promise<Listening> {
  const { host, port, socket, tls, reusePort } = limits;
  if (reusePort === true) checkNode(limits);
  if (socket !== undefined) {
    return { servers: [await listenAtPath(socket, make)], port: 0, url: `unix:${socket}`, bound: socket };
  }
  const listening = await listenAtHost(host, reusePort === true ? { port, reusePort } : { port }, make);
  return { ...listening, url: `${tls === undefined ? "http" : "https"}://${bracketed(host)}:${listening.port}` };
}

// Only the socket of a dead server is removed: neither one in use, nor a file that is not a socket.
async function listenAtPath(path: string, make: () => Server): Promise<Server> {
  const server = make();
  try {
    await listenOn(server, { path });
    return server;
  } catch (error) {
    const left = isCode(error, "EADDRINUSE") ? socketAt(path) : undefined;
    // Another server may have removed it meanwhile, and listens there.
    if (left === undefined || !(await isDead(path)) || socketAt(path) !== left) throw error;
    unlinkSync(path);
  }
  const second = make();
  await listenOn(second, { path });
  return second;
}

/** Which socket is at a path; undefined where none is. A system gives the number of a file that was removed to the next one. */
function socketAt(path: string): string | undefined {
  const file = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return file?.isSocket() === true ? `${file.ino} ${file.ctimeNs}` : undefined;
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = connect(path);
    client.once("connect", () => {
      client.destroy();
      resolve(false);
    });
    client.once("error", (error) => resolve(isCode(error, "ECONNREFUSED")));
  });
}

/** `localhost` is both loopback addresses, on one port; a machine without IPv6 has one. */
async function listenAtHost(host: string, where: ListenOptions, make: () => Server): Promise<BoundAddress> {
  if (host === "0.0.0.0" || host === "::") return everywhere(where, make);
  if (host !== "localhost") {
    const server = make();
    await listenOn(server, { ...where, host });
    return { servers: [server], port: portOf(server), bound: bracketed(host) };
  }
  return loopback(where, make, 1);
}

async function loopback(where: ListenOptions, make: () => Server, picks: number): Promise<BoundAddress> {
  const four = make();
  await listenOn(four, { ...where, host: "127.0.0.1" });
  const taken = portOf(four);
  const six = make();
  try {
    await listenOn(six, { ...where, host: "::1", port: taken });
  } catch (error) {
    if (isWithoutFamily(error)) return { servers: [four], port: taken, bound: "127.0.0.1" };
    four.close();
    if (where.port === 0 && isCode(error, "EADDRINUSE") && picks < maxPicks) return loopback(where, make, picks + 1);
    throw error;
  }
  return { servers: [four, six], port: taken, bound: "127.0.0.1 and [::1]" };
}

// One IPv6 socket accepts IPv4 too, unless the machine has no IPv6.
async function everywhere(where: ListenOptions, make: () => Server): Promise<BoundAddress> {
  const six = make();
  try {
    await listenOn(six, { ...where, host: "::" });
    return { servers: [six], port: portOf(six), bound: "every interface: [::], which takes IPv4 too" };
  } catch (error) {
    if (!isWithoutFamily(error)) throw error;
  }
  const four = make();
  await listenOn(four, { ...where, host: "0.0.0.0" });
  return { servers: [four], port: portOf(four), bound: "every interface: 0.0.0.0, with no IPv6 here" };
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

function listenOn(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, resolve);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function isWithoutFamily(error: unknown): boolean {
  return isCode(error, "EADDRNOTAVAIL") || isCode(error, "EAFNOSUPPORT");
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
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
