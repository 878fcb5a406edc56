import type { App, AppOptions } from "../app/app.ts";

/** What listens on one address. */
interface Bound {
  readonly port: number;
  /** Listens no more. */
  close(): void;
}

/** What came of listening: a listener for each address, and the addresses in words. */
interface Addresses<L extends Bound> {
  readonly listeners: readonly L[];
  readonly port: number;
  readonly bound: string;
}

type Listen<L> = (host: string, port: number) => L;

/**
 * Listens where a host says. `localhost` is both loopback addresses, on one port; a machine without IPv6 has the one.
 * Nothing stays open where one of them fails.
 */
export function listenAt<L extends Bound>(host: string, port: number, listen: Listen<L>): Addresses<L> {
  if (host === "0.0.0.0" || host === "::") return everywhere(port, listen);
  if (host === "localhost") return loopback(port, listen);
  const one = listen(host, port);
  return { listeners: [one], port: one.port, bound: host.includes(":") ? `[${host}]` : host };
}

function loopback<L extends Bound>(port: number, listen: Listen<L>): Addresses<L> {
  const four = listen("127.0.0.1", port);
  try {
    const six = listen("::1", four.port);
    return { listeners: [four, six], port: four.port, bound: "127.0.0.1 and [::1]" };
  } catch (error) {
    if (isWithoutFamily(error)) return { listeners: [four], port: four.port, bound: "127.0.0.1" };
    four.close();
    throw error;
  }
}

// One IPv6 socket takes IPv4 too, but where the machine has no IPv6 at all.
function everywhere<L extends Bound>(port: number, listen: Listen<L>): Addresses<L> {
  try {
    const six = listen("::", port);
    return { listeners: [six], port: six.port, bound: "every interface: [::], which takes IPv4 too" };
  } catch (error) {
    if (!isWithoutFamily(error)) throw error;
  }
  const four = listen("0.0.0.0", port);
  return { listeners: [four], port: four.port, bound: "every interface: 0.0.0.0, with no IPv6 here" };
}

function isWithoutFamily(error: unknown): boolean {
  return ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(codeOf(error));
}

/** Whether something listens there already, or a file is there. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === "EADDRINUSE";
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

/** How a listener listens, and how long it waits on a client. Times are milliseconds. */
export interface ListenOptions {
  /** 8080 unless set; 0 picks a free one. */
  readonly port?: number;
  /** `localhost` unless set, which is both `127.0.0.1` and `[::1]`; `0.0.0.0` or `::` is every interface. */
  readonly host?: string;
  /** The path of a Unix socket to listen on, in place of `host` and `port`. One left behind by a dead server is removed. */
  readonly socket?: string;
  /** Bytes of a request's head: 16,384. A longer one is 431. */
  readonly maxHeaderBytes?: number;
  /** How long a head may take to arrive: 10 s; then 408. */
  readonly headTimeoutMs?: number;
  /** How long a connection may stay with no request on it: 60 s. */
  readonly idleTimeoutMs?: number;
  /** How long a body may stand still, however fast the rest of it came: 20 s; then 400 `unreadable`. */
  readonly bodyTimeoutMs?: number;
  /** Bytes a second a body must arrive at: 500. One that is slower uses up `bodyTimeoutMs`, little by little. */
  readonly minBodyRate?: number;
  /** How long a client may take nothing of its answer: 30 s; then the connection is closed. */
  readonly sendTimeoutMs?: number;
  /** Connections at once, on every listening address together: 10,000. What is past it is closed, and a warn line counts it. */
  readonly maxConnections?: number;
  /** How long a stopping server waits for requests in flight: 10 s. */
  readonly drainMs?: number;
  /**
   * Whether SIGTERM and SIGINT stop the server: true. A second one ends the process at once. On Deno, so does a client that
   * holds a connection which Deno lets nobody close, `drainMs` and at least 1 s after the server has stopped.
   */
  readonly signals?: boolean;
}

/** What `serve` takes: the listener's options and the app's. */
export interface ServeOptions extends AppOptions, ListenOptions {}

/** A running server, on any runtime. */
export interface Server {
  readonly app: App;
  /** Where it listens: `http://localhost:8080`, or `unix:/run/shop.sock`. */
  readonly url: string;
  /** 0 on a Unix socket. */
  readonly port: number;
  /**
   * Says that it is not ready, refuses new connections, lets what is in flight finish for `drainMs`, then ends the rest.
   *
   * @returns how many requests were cut. A second call answers what the first does.
   */
  stop(): Promise<number>;
  /**
   * Resolves with the same once it has stopped, whoever stopped it, a signal included. What the routes used can be closed
   * then: `await server.stopped; await pool.close();`
   */
  readonly stopped: Promise<number>;
}

/** The limits in force. */
export type Limits = Required<Omit<ListenOptions, "socket">> & Pick<ListenOptions, "socket">;

const defaults: Limits = {
  port: 8080,
  host: "localhost",
  maxHeaderBytes: 16_384,
  headTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  bodyTimeoutMs: 20_000,
  minBodyRate: 500,
  sendTimeoutMs: 30_000,
  maxConnections: 10_000,
  drainMs: 10_000,
  signals: true,
};

// What each number may be: a port, a count of at least one, a time that passes, a time that may be none.
const ranges: { readonly [name: string]: readonly [min: number, max: number] } = {
  port: [0, 65_535],
  maxHeaderBytes: [1, 2 ** 31 - 1],
  headTimeoutMs: [1, 2 ** 31 - 1],
  idleTimeoutMs: [1, 2 ** 31 - 1],
  bodyTimeoutMs: [1, 2 ** 31 - 1],
  minBodyRate: [1, 2 ** 31 - 1],
  sendTimeoutMs: [1, 2 ** 31 - 1],
  maxConnections: [1, 2 ** 31 - 1],
  drainMs: [0, 2 ** 31 - 1],
};

/**
 * The limits in force. Throws, naming the option, for one out of its range.
 *
 * @param taker What the options are given to.
 */
export function limitsOf(options: ListenOptions, taker = "serve"): Limits {
  const limits = { ...defaults, ...definedOnly(options) };
  const given: { readonly [name: string]: unknown } = { ...limits };
  for (const [name, [min, max]] of Object.entries(ranges)) {
    const value = given[name];
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
      throw new RangeError(`${taker}: ${name} cannot be ${String(value)}: it is a whole number from ${min} to ${max}`);
    }
  }
  if (limits.socket !== undefined) checkSocket(limits.socket, taker);
  return limits;
}

function definedOnly(options: ListenOptions): ListenOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

// What a Unix address holds on the narrowest of systems. A longer path is cut without a word, and another one listened on.
const mostSocketBytes = 103;

function checkSocket(path: string, taker: string): void {
  if (path === "") throw new RangeError(`${taker}: socket cannot be empty: it is a path`);
  const { byteLength } = new TextEncoder().encode(path);
  if (byteLength <= mostSocketBytes) return;
  throw new RangeError(
    `${taker}: socket cannot be ${byteLength} bytes long: a Unix path has at most ${mostSocketBytes}`,
  );
}
