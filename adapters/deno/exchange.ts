import { fieldsOf, peerAddress, endOfAuthority } from "../../src/doors/http.ts";
import { Buffer, isUtf8 } from "node:buffer";
import type { Exchange } from "../../src/app/exchange.ts";
import { announcesBody } from "../../src/doors/apps.ts";
import { guarded, inBackground } from "../../src/doors/logging.ts";
import { HostCheck, refusedConnect, timedBodyOf } from "../../src/doors/server.ts";
import type { RefusedHead, BodyReadingLimits, TimedBody } from "../../src/doors/server.ts";
import { hushAborts } from "./private.ts";
import type { DenoAddress, ServeInfo } from "./runtime.ts";

const printable = /^[\x21-\x7e]*$/;
const malformed: RefusedHead = { status: 400, why: "a target or a Host that is none" };

const authorities: HostCheck = new HostCheck();
const hosts: HostCheck = new HostCheck();

/**
 * The request target, cut from the URL that Deno builds from scheme, `Host` and target without validation. A path in `Host`
 * would become part of the target, past the rules of a proxy. It always leaves a second slash there. Reading `Host` costs a
 * tenth of a request, so it is validated only with a second slash.
 */
export function targetOf(request: Request): string | RefusedHead {
  const { method, url } = request;
  if (!printable.test(url)) return malformed;
  const start = url.indexOf("//") + 2;
  const end = endOfAuthority(url, start);
  const authority = url.slice(start, end);
  const rest = url.slice(end);
  if (!authorities.isHost(authority)) return malformed;
  if (rest.includes("/", 1) && !hosts.isHost(request.headers.get("host") ?? "")) return malformed;
  if (method === "CONNECT") return refusedConnect(authority) ?? authority;
  if (rest === "/*" && method === "OPTIONS") return "*";
  // `http://host` and `http://host?query` have no path.
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The host and the port of a request: of its target if that has one, otherwise of `Host`. */
function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  return url.slice(start, endOfAuthority(url, start));
}

/** The listener's state that an exchange needs. */
interface DenoListener extends BodyReadingLimits {
  /** The path of the listener's Unix socket. */
  readonly socket: string | undefined;
  readonly scheme: "https" | undefined;
  /** What Deno puts before the path of a request that names no host. */
  readonly ownOrigin: string;
}

/** How a URL begins of a request that names no host (seen with Deno 2.9.5). */
export function ownOriginOf({ hostname, port }: DenoAddress): string {
  // The path of the socket follows.
  if (hostname === undefined) return "http+unix://";
  const address = hostname.includes(":") ? `[${hostname}]` : hostname;
  const name = local.test(hostname) ? "localhost" : address;
  return port === 80 ? `http://${name}` : `http://${name}:${port}`;
}

/** Loopback, and every address. */
const local = /^(?:127\..*|::1|0\.0\.0\.0|::)$/;

/** An exchange over a request of `Deno.serve`, which shows a repeated header as one joined line. */
export class DenoExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly listener = "Deno.serve";
  /** Deno sends `Date` itself. */
  readonly date = "";
  readonly #request: Request;
  readonly #info: ServeInfo;
  readonly #listening: DenoListener;
  /** Null once it is known to be absent. */
  #body: TimedBody | undefined | null = undefined;
  #controller: AbortController | undefined = undefined;
  #isListed = false;
  #state: "awaited" | "answered" | "gone" = "awaited";

  constructor(request: Request, target: string, info: ServeInfo, listening: DenoListener) {
    const { method } = request;
    this.method = method;
    this.target = target;
    this.#request = request;
    this.#info = info;
    this.#listening = listening;
  }

  /** Also for HTTP/1.0, because Deno does not give the version. */
  get canUpgrade(): boolean {
    return this.method === "GET" && !announcesBody(this.#request) && !this.lines("upgrade").some(beginsWithHttp2);
  }

  get scheme(): "https" | undefined {
    return this.#listening.scheme;
  }

  get peer(): string {
    const { socket } = this.#listening;
    if (socket !== undefined) return `unix:${socket}`;
    const { hostname = "", port } = readOr(() => this.#info.remoteAddr, nowhere);
    return port === 0 ? "" : peerAddress(hostname);
  }

  get body(): TimedBody | undefined {
    if (this.#body === undefined) this.#body = timedBodyOf(this.#request, this.method, this.#listening) ?? null;
    return this.#body ?? undefined;
  }

  get isCut(): boolean {
    return this.#listening.deadlines.isCut;
  }

  /** The body, if it was used. */
  get begun(): TimedBody | undefined {
    return this.#body ?? undefined;
  }

  /** Deno's signal also aborts after a complete response, so it counts only before there is one. */
  get gone(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    if (this.#state === "gone") controller.abort();
    if (this.#state !== "awaited") return controller.signal;
    hushAborts();
    const { signal } = this.#request;
    const left = (): void => {
      if (this.#state === "awaited") this.left();
    };
    if (signal.aborted) left();
    else signal.addEventListener("abort", guarded(undefined, left));
    return controller.signal;
  }

  get request(): Request {
    return this.#request;
  }

  /** Calls `act` once the client has read the whole response, or has gone. Must be called before the response is returned. */
  whenTaken(act: () => void): void {
    inBackground(this.#info.completed.then(act, act));
  }

  /** There is a response: from now on only its sender knows whether the client reads it. */
  answered(): void {
    if (this.#state === "awaited") this.#state = "answered";
  }

  /** Whether the client left before the response, if `gone` was used. */
  get hasLeft(): boolean {
    return this.#state === "gone";
  }

  left(): void {
    this.#state = "gone";
    this.#controller?.abort();
  }

  lines(name: string): readonly string[] {
    const value = readOr(() => this.#header(name), null);
    if (value === null) return name === "host" ? this.#authority() : nothing;
    // The URL has the target's authority if it has one (RFC 9112 §3.2.2), and Deno's address without a `Host`.
    return [name === "host" && value !== "" ? hostOf(this.#request.url) : value];
  }

  /**
   * The authority of HTTP/2, which has no `Host`. Where HTTP/1.0 has none, Deno writes its own address instead. If HTTP/2
   * names that address, only an `Origin` of the same host shows the difference: a page cannot send HTTP/1.0.
   */
  #authority(): readonly string[] {
    const { scheme, ownOrigin, socket } = this.#listening;
    const { url } = this.#request;
    const host = hostOf(url);
    const isOwn = url.startsWith(socket === undefined ? `${ownOrigin}/` : ownOrigin);
    return scheme === "https" || !isOwn || this.#header("origin") === ownOrigin ? [host] : nothing;
  }

  /**
   * Once its headers are touched, Deno lists them all for later, at the latest with the answer. `has` lists them now: five
   * reads of a `POST` then take 0.1 µs, and 0.7 µs if each calls into the runtime.
   */
  #header(name: string): string | null {
    const { headers } = this.#request;
    if (!this.#isListed) {
      this.#isListed = true;
      headers.has(name);
    }
    return headers.get(name);
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return readOr(() => fieldsOf(this.#request.headers), []);
  }

  byteLength(text: string): number {
    return Buffer.byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    if (!isUtf8(bytes)) return undefined;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  }
}

/**
 * Deno reads only the first `Upgrade` line. If that is `h2c`, it does not upgrade the connection, and
 * `Deno.upgradeWebSocket` ends the process (seen with 2.9.5). One line that lists `h2c` first looks the same, because lines
 * are joined.
 */
const beginsWithHttp2 = (line: string): boolean => /^h2c *(?:,|$)/i.test(line);
const nothing: readonly string[] = [];
const nowhere: ServeInfo["remoteAddr"] = { transport: "tcp", port: 0 };

/** Reads a member of Deno's request. After the response it throws, and a late log line would be lost. */
function readOr<A>(read: () => A, otherwise: A): A {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
