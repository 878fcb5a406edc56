import { Buffer, isUtf8 } from "node:buffer";
import type { Exchange } from "../../src/app/exchange.ts";
import { announcesBody } from "../../src/app/web.ts";
import { guarded, inBackground } from "../../src/logging/raised.ts";
import { HostCheck, refusedConnect } from "../../src/server/bad-request.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import { bodyOf } from "../../src/server/timed-body.ts";
import type { BodyReadingLimits, TimedBody } from "../../src/server/timed-body.ts";
import { hushAborts } from "./private.ts";
import type { ServeInfo } from "./runtime.ts";

const printable = /^[\x21-\x7e]*$/;
const malformed: RefusedHead = { status: 400, why: "a target or a Host that is none" };

const authorities: HostCheck = new HostCheck();
const hosts: HostCheck = new HostCheck();

/**
 * The request target, cut from the URL that Deno writes of scheme, `Host` and target without a look at them. A `Host`
 * with a path in it would go for a part of the target, past whatever a proxy allows. It would leave a second slash
 * there, and costs a tenth of a request to read: it is looked at where there is one.
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
  // `http://host` and `http://host?query` have no path of their own.
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The host and the port a request is for: of its target where that has one, and of `Host` otherwise. */
function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  return url.slice(start, endOfAuthority(url, start));
}

function endOfAuthority(url: string, start: number): number {
  for (let at = start; at < url.length; at++) {
    const char = url[at];
    if (char === "/" || char === "?" || char === "#") return at;
  }
  return url.length;
}

/** What an exchange needs to know of its listener. */
interface DenoListener extends BodyReadingLimits {
  /** The path of the Unix socket it listens on. */
  readonly socket: string | undefined;
}

/** An exchange over a request of `Deno.serve`, which shows a repeated header as one joined line. */
export class DenoExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly listener = "Deno.serve";
  /** Deno tells it of itself. */
  readonly date = "";
  readonly forgets = true;
  readonly #request: Request;
  readonly #info: ServeInfo;
  readonly #listening: DenoListener;
  /** Null once it is known that there is none. */
  #body: TimedBody | undefined | null = undefined;
  #controller: AbortController | undefined = undefined;
  #state: "awaited" | "answered" | "gone" = "awaited";

  constructor(request: Request, target: string, info: ServeInfo, listening: DenoListener) {
    const { method } = request;
    this.method = method;
    this.target = target;
    this.#request = request;
    this.#info = info;
    this.#listening = listening;
  }

  /** Of HTTP/1.0 too: Deno does not tell the version. */
  get canUpgrade(): boolean {
    return this.method === "GET" && !announcesBody(this.#request) && !this.lines("upgrade").some(beginsWithHttp2);
  }

  get peer(): string {
    const { socket } = this.#listening;
    if (socket !== undefined) return `unix:${socket}`;
    const { hostname = "", port } = told(() => this.#info.remoteAddr, nowhere);
    // An IPv4 peer of a socket that takes both families.
    const address = hostname.startsWith("::ffff:") ? hostname.slice(7) : hostname;
    return port === 0 ? "" : address;
  }

  get body(): TimedBody | undefined {
    if (this.#body === undefined) this.#body = bodyOf(this.#request, this.method, this.#listening) ?? null;
    return this.#body ?? undefined;
  }

  /** The body as far as anybody asked for it. */
  get begun(): TimedBody | undefined {
    return this.#body ?? undefined;
  }

  /** Deno's own signal aborts after an answer that is whole, too, so it is heard only until there is one. */
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

  /** Calls it once the client has taken the answer whole, or has gone. Asked for before the answer is handed over. */
  whenTaken(act: () => void): void {
    inBackground(this.#info.completed.then(act, act));
  }

  /** There is an answer; only who sends it knows from now on whether the client takes it. */
  answered(): void {
    if (this.#state === "awaited") this.#state = "answered";
  }

  /** The client went before there was an answer, as far as anybody asked to be told. */
  get hasLeft(): boolean {
    return this.#state === "gone";
  }

  left(): void {
    this.#state = "gone";
    this.#controller?.abort();
  }

  lines(name: string): readonly string[] {
    const value = told(() => this.#request.headers.get(name), null);
    if (value === null) return nothing;
    // The URL has the target's own authority where it has one (RFC 9112 §3.2.2), and Deno's address where there is none.
    return [name === "host" && value !== "" ? hostOf(this.#request.url) : value];
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return told(() => [...this.#request.headers], []);
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
 * Of the lines that offer protocols Deno looks at the first. Where that is `h2c` it takes the connection for one that stays
 * what it is, and `Deno.upgradeWebSocket` ends the process (seen with 2.9.5). One line that
 * lists `h2c` first looks like it, as lines are shown joined.
 */
const beginsWithHttp2 = (line: string): boolean => /^h2c *(?:,|$)/i.test(line);
const nothing: readonly string[] = [];
const nowhere: ServeInfo["remoteAddr"] = { transport: "tcp", port: 0 };

/** What Deno has to tell of a request. Once that is answered it raises, and a late line of the log would be lost. */
function told<A>(ask: () => A, otherwise: A): A {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}
