import { needsApp, needsObject } from "../arguments.ts";
import { stripped } from "../http/fields.ts";
import type { Result } from "../result.ts";
import type { Protocol, Socket } from "../sockets/socket.ts";
import { call, checkCall, followEvents } from "./call.ts";
import type { Receive, TestAnswer, TestApp, TestCallOptions } from "./call.ts";
import { openWebSocket } from "./sockets.ts";

/** A client that keeps cookies between calls, like a browser (RFC 6265 §5). */
export interface TestBrowser {
  /** Like `Test.call`. It adds the cookies for the target's path to the call's own headers. */
  call(method: string, target: string, options?: TestCallOptions): Promise<TestAnswer>;
  /** Like `Test.events`, with the cookies. It keeps those of the answer, whether that is a stream or not. */
  events(target: string, receive: Receive, options?: TestCallOptions): Promise<Result<void, TestAnswer>>;
  /** Like `Test.websocket`, with the cookies. It keeps those of the answer, whether that opens a socket or not. */
  websocket<Client, Server, Given, Got, A>(
    protocol: Protocol<Client, Server, Given, Got>,
    target: string,
    talk: (socket: Socket<Got, Given>) => Promise<A>,
    options?: TestCallOptions,
  ): Promise<Result<A, TestAnswer>>;
  /** The current cookies, by name. */
  cookies(): ReadonlyMap<string, string>;
}

interface StoredCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** In milliseconds since 1970; infinite without `Max-Age`. */
  readonly expiresAt: number;
}

/** Makes a browser for one app. It does not follow redirects. */
export function browser(app: TestApp): TestBrowser {
  needsObject("Test.browser: its app", app);
  needsApp("Test.browser: its app", app.app);
  const jar = new CookieJar();
  let last = clockOf(app);
  const withCookies = (at: string, target: string, options: TestCallOptions): TestCallOptions => {
    checkCall(at, app, target, options);
    last = options.now ?? clockOf(app);
    const headers = pairsOf(options);
    const cookies = jar.for(pathWithin(target), last);
    return { ...options, headers: cookies === "" ? headers : [...headers, ["cookie", cookies] as const] };
  };
  const keep = (target: string, headers: Headers): void => {
    for (const line of headers.getSetCookie()) jar.take(line, pathWithin(target), last);
  };
  return {
    async call(method, target, options = {}) {
      const answered = await call(app, method, target, withCookies("Test.call", target, options));
      keep(target, answered.headers);
      return answered;
    },
    async events(target, receive, options = {}) {
      const given = withCookies("Test.events", target, options);
      return followEvents(app, target, receive, given, (headers) => keep(target, headers));
    },
    async websocket(protocol, target, talk, options = {}) {
      const given = withCookies("Test.websocket", target, options);
      return openWebSocket(app, protocol, target, talk, given, (headers) => keep(target, headers));
    },
    cookies: () => jar.cookies(last),
  };
}

class CookieJar {
  #cookies: readonly StoredCookie[] = [];

  /** The `Cookie` header for a path: longest paths first, then the oldest. */
  for(path: string, now: Date): string {
    this.#forget(now);
    const matching = this.#cookies.filter((cookie) => isWithin(path, cookie.path));
    const sorted = matching.toSorted((a, b) => b.path.length - a.path.length);
    return sorted.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  take(line: string, target: string, now: Date): void {
    const cookie = cookieOf(line, target, now);
    const others = this.#cookies.filter(({ name, path }) => name !== cookie.name || path !== cookie.path);
    this.#cookies = [...others, cookie];
    this.#forget(now);
  }

  cookies(now: Date): ReadonlyMap<string, string> {
    this.#forget(now);
    return new Map(this.#cookies.map(({ name, value }) => [name, value]));
  }

  #forget(now: Date): void {
    this.#cookies = this.#cookies.filter(({ expiresAt }) => expiresAt > now.getTime());
  }
}

function cookieOf(line: string, target: string, now: Date): StoredCookie {
  const [pair = "", ...attributes] = line.split(";").map((part) => stripped(part));
  const equals = pair.indexOf("=");
  const values = new Map(
    attributes.map((attribute) => {
      const [name = "", ...value] = attribute.split("=");
      return [name.toLowerCase(), value.join("=")];
    }),
  );
  const age = values.get("max-age");
  const path = values.get("path");
  return {
    name: pair.slice(0, equals),
    value: pair.slice(equals + 1),
    path: path?.startsWith("/") === true ? path : target.slice(0, Math.max(1, target.lastIndexOf("/"))),
    expiresAt: age === undefined ? Number.POSITIVE_INFINITY : now.getTime() + Number(age) * 1000,
  };
}

// RFC 6265 §5.1.4: "/games/1" matches "/games/1/x" and not "/games/12".
function isWithin(path: string, of: string): boolean {
  return path === of || path.startsWith(of.endsWith("/") ? of : `${of}/`);
}

function pathWithin(target: string): string {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}

function clockOf({ now }: TestApp): Date {
  return now?.() ?? new Date();
}

function pairsOf({ headers = [] }: TestCallOptions): readonly (readonly [name: string, value: string])[] {
  return Symbol.iterator in headers ? [...headers] : Object.entries(headers);
}
