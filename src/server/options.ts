import { optionNames } from "../app/option-names.ts";
import type { App, AppOptions } from "../app/app.ts";
import { needs, needsOptions, needsText, shown } from "../arguments.ts";
import { checkTls } from "./tls.ts";
import type { Certificates, TlsOptions } from "./tls.ts";

/** The options of a listener. Times are milliseconds. */
export interface ListenOptions {
  /** 8080 by default; 0 picks a free port. */
  readonly port?: number;
  /** `localhost` by default, which is both `127.0.0.1` and `[::1]`; `0.0.0.0` or `::` is every interface. */
  readonly host?: string;
  /** The path of a Unix socket to listen on, instead of `host` and `port`. A socket left by a dead server is removed. */
  readonly socket?: string;
  /**
   * Whether several processes may listen on the same port, all with this option: the kernel gives each connection to one of
   * them. False. On Linux with Bun, Deno (`--unstable-net`) and Node 22.12 or newer; with Node on FreeBSD, AIX and Solaris too. An
   * error elsewhere.
   */
  readonly reusePort?: boolean;
  /** Serves HTTPS with these certificates. */
  readonly tls?: TlsOptions;
  /**
   * Whether HTTP/2 is spoken too. With `tls` true on Node 22.23, 24.21, 26.10 or newer: a client chooses the version when it
   * connects (ALPN). On older ones false, as a client may be able to end their process by it, and a warn line says so; true
   * turns it on all the same. Without `tls` false; true takes clients that begin with HTTP/2, as a proxy does (h2c by prior
   * knowledge). On Bun it is never spoken, on Deno always.
   */
  readonly http2?: boolean;
  /** Bytes of a request's head: 16,384. A longer one is 431. */
  readonly maxHeaderBytes?: number;
  /** How long a head may take to arrive: 10 s; then 408. */
  readonly headTimeoutMs?: number;
  /** How long a connection may stay without a request: 75 s, longer than the 60 s of most balancers. */
  readonly idleTimeoutMs?: number;
  /** How long a body may stall, however fast the rest of it arrived: 20 s; then 400 `unreadable`. */
  readonly bodyTimeoutMs?: number;
  /** The minimum rate of a body in bytes a second: 500. A slower body uses up `bodyTimeoutMs` gradually. */
  readonly minBodyRate?: number;
  /** How long a client may read nothing of its response: 30 s; then the connection is closed. */
  readonly sendTimeoutMs?: number;
  /** The minimum rate of reading a response in bytes a second: 1,000. A slower client uses up `sendTimeoutMs` gradually. */
  readonly minSendRate?: number;
  /**
   * Bytes of responses that may wait for all clients: 256 MiB. Past it, the client that has read nothing for the longest time is
   * disconnected; a warn line, at most one a minute, gives their number. One response alone may be longer.
   */
  readonly sendBudget?: number;
  /**
   * The most of these bytes for the clients of one network, an address or an IPv6 /64: a quarter of `sendBudget`. Past it, one of
   * them that has read nothing for a second is disconnected. Where no address is known (a Unix socket) there is no share. On the streams
   * of one HTTP/2 connection a quarter of it may wait before the connection's next request is begun.
   */
  readonly sendShare?: number;
  /**
   * Open connections on all listening addresses together: 10,000. Further ones are closed, and a warn line gives their
   * number.
   */
  readonly maxConnections?: number;
  /** How long a stopping server waits for requests in flight: 10 s. */
  readonly drainMs?: number;
  /**
   * Whether SIGTERM and SIGINT stop the server: true. A second signal ends the process at once, and one signal does not if
   * the program has called `stop`. On Deno a client may hold a connection that Deno cannot close. The process then ends
   * `drainMs`, and at least 1 s, after the server has stopped.
   */
  readonly signals?: boolean;
}

/** The options of `serve`: the listener's and the app's. */
export interface ServeOptions extends AppOptions, ListenOptions {}

/** A running server, on any runtime. */
export interface Server {
  /** The app that it serves. */
  readonly app: App;
  /** The address: `http://localhost:8080`, `https://localhost:8443`, or `unix:/run/shop.sock`. */
  readonly url: string;
  /** 0 on a Unix socket. */
  readonly port: number;
  /**
   * Stops the server. It reports not ready, refuses new connections, lets requests in flight finish for `drainMs`, then ends
   * the rest.
   *
   * @returns The number of requests that were cut. A second call returns the same promise.
   */
  stop(): Promise<number>;
  /**
   * Replaces the certificates of the option `tls`. Connections from now on get the new ones, open ones stay as they are. Only
   * with `usher-http/node`.
   *
   * @throws TypeError for certificates that cannot be used, and without `tls`: those in force stay.
   *
   * @example
   * ```ts
   * process.on("SIGHUP", () => server.replaceCertificates({ cert: readFileSync(certFile), key: readFileSync(keyFile) }));
   * ```
   */
  replaceCertificates(certificates: Certificates): void;
  /**
   * Resolves with the same number once the server has stopped, also after a signal. Close what the routes used then: `await
   * server.stopped; await pool.close();`
   */
  readonly stopped: Promise<number>;
}

/** The limits in force. */
export type Limits = Required<Omit<ListenOptions, OptionalLimit>> & Pick<ListenOptions, OptionalLimit>;
type OptionalLimit = "socket" | "tls" | "http2" | "reusePort";

/** Unless set, a part of another limit. */
type Derived = "sendShare";

const defaults: Omit<Limits, Derived> = {
  port: 8080,
  host: "localhost",
  maxHeaderBytes: 16_384,
  headTimeoutMs: 10_000,
  // A balancer that keeps its connections for 60 s, as AWS's does, would send a request on one that is being closed.
  idleTimeoutMs: 75_000,
  bodyTimeoutMs: 20_000,
  minBodyRate: 500,
  sendTimeoutMs: 30_000,
  minSendRate: 1000,
  sendBudget: 268_435_456,
  maxConnections: 10_000,
  drainMs: 10_000,
  signals: true,
};

// The range of each number: a port, a count of at least one, a time above zero, a time that may be zero.
const ranges: { readonly [name: string]: readonly [min: number, max: number] } = {
  port: [0, 65_535],
  maxHeaderBytes: [1, 2 ** 31 - 1],
  headTimeoutMs: [1, 2 ** 31 - 1],
  idleTimeoutMs: [1, 2 ** 31 - 1],
  bodyTimeoutMs: [1, 2 ** 31 - 1],
  minBodyRate: [1, 2 ** 31 - 1],
  sendTimeoutMs: [1, 2 ** 31 - 1],
  minSendRate: [1, 2 ** 31 - 1],
  sendBudget: [1, Number.MAX_SAFE_INTEGER],
  sendShare: [1, Number.MAX_SAFE_INTEGER],
  maxConnections: [1, 2 ** 31 - 1],
  drainMs: [0, 2 ** 31 - 1],
};

/**
 * The limits in force. Throws, naming the option, for a number out of its range.
 *
 * @param taker The function that takes the options.
 */
export function limitsOf(options: ListenOptions, taker = "serve"): Limits {
  needsOptions(taker, options, optionNames);
  const set = { ...defaults, ...definedOnly(options) };
  const limits: Limits = { sendShare: Math.ceil(set.sendBudget / 4), ...set };
  const given: { readonly [name: string]: unknown } = { ...limits };
  for (const [name, [min, max]] of Object.entries(ranges)) {
    const value = given[name];
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
      throw new RangeError(
        `${taker}: ${name} cannot be ${shown(value)}: it must be a whole number from ${min} to ${max}`,
      );
    }
  }
  needsText(`${taker}: host`, limits.host);
  // Node and Bun would listen on every interface.
  if (limits.host === "")
    throw new RangeError(`${taker}: host cannot be "": write "localhost", or "0.0.0.0" for every interface`);
  needs(typeof limits.signals === "boolean", `${taker}: signals`, limits.signals, "true or false");
  if (limits.socket !== undefined) checkSocket(limits.socket, taker);
  if (limits.tls !== undefined) checkTls(`${taker}: tls`, limits.tls);
  const { http2, reusePort } = limits;
  needs(http2 === undefined || typeof http2 === "boolean", `${taker}: http2`, http2, "true or false");
  needs(reusePort === undefined || typeof reusePort === "boolean", `${taker}: reusePort`, reusePort, "true or false");
  if (reusePort === true && limits.socket !== undefined)
    throw new TypeError(`${taker}: reusePort is for a port, and socket is set`);
  return limits;
}

function definedOnly(options: ListenOptions): ListenOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

// The length of a Unix address on the narrowest system. A longer path is silently cut, and another one is listened on.
const maxSocketBytes = 103;

function checkSocket(path: string, taker: string): void {
  needsText(`${taker}: socket`, path);
  if (path === "") throw new RangeError(`${taker}: socket cannot be empty: it must be a path`);
  const { byteLength } = new TextEncoder().encode(path);
  if (byteLength <= maxSocketBytes) return;
  throw new RangeError(
    `${taker}: socket cannot be ${byteLength} bytes long: a Unix path has at most ${maxSocketBytes}`,
  );
}
