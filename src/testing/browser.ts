import { stripped } from "../http/fields.ts";
import { call } from "./call.ts";
import type { TestAnswer, TestCallOptions, TestApp } from "./call.ts";

/** A client that keeps cookies from one call to the next, as a browser does (RFC 6265 §5). */
export interface TestBrowser {
  /** As `Test.call`, with the cookies it holds for the target's path beside those of the call's own headers. */
  call(method: string, target: string, options?: TestCallOptions): Promise<TestAnswer>;
  /** What it holds now, by name. */
  cookies(): ReadonlyMap<string, string>;
}

interface Held {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** In milliseconds since 1970; never, for one without an age. */
  readonly until: number;
}

/** A browser that visits one app. Redirects are answers like any other: it follows none. */
export function browser(app: TestApp): TestBrowser {
  const jar = new Jar();
  let last = clockOf(app);
  return {
    async call(method, target, options = {}) {
      last = options.now ?? clockOf(app);
      const headers = pairsOf(options);
      const held = jar.for(pathOf(target), last);
      const sent = held === "" ? headers : [...headers, ["cookie", held] as const];
      const answered = await call(app, method, target, { ...options, headers: sent });
      for (const line of answered.headers.getSetCookie()) jar.take(line, pathOf(target), last);
      return answered;
    },
    cookies: () => jar.held(last),
  };
}

class Jar {
  #held: readonly Held[] = [];

  /** The `Cookie` line for a path: the longest paths first, then the oldest. */
  for(path: string, now: Date): string {
    this.#forget(now);
    const matching = this.#held.filter((cookie) => isWithin(path, cookie.path));
    const sorted = matching.toSorted((a, b) => b.path.length - a.path.length);
    return sorted.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  take(line: string, target: string, now: Date): void {
    const cookie = cookieOf(line, target, now);
    const others = this.#held.filter(({ name, path }) => name !== cookie.name || path !== cookie.path);
    this.#held = [...others, cookie];
    this.#forget(now);
  }

  held(now: Date): ReadonlyMap<string, string> {
    this.#forget(now);
    return new Map(this.#held.map(({ name, value }) => [name, value]));
  }

  #forget(now: Date): void {
    this.#held = this.#held.filter(({ until }) => until > now.getTime());
  }
}

function cookieOf(line: string, target: string, now: Date): Held {
  const [pair = "", ...attributes] = line.split(";").map((part) => stripped(part));
  const equals = pair.indexOf("=");
  const said = new Map(
    attributes.map((attribute) => {
      const [name = "", ...value] = attribute.split("=");
      return [name.toLowerCase(), value.join("=")];
    }),
  );
  const age = said.get("max-age");
  const path = said.get("path");
  return {
    name: pair.slice(0, equals),
    value: pair.slice(equals + 1),
    path: path?.startsWith("/") === true ? path : target.slice(0, Math.max(1, target.lastIndexOf("/"))),
    until: age === undefined ? Number.POSITIVE_INFINITY : now.getTime() + Number(age) * 1000,
  };
}

// RFC 6265 §5.1.4: "/games/1" is for itself and for what is below it, and not for "/games/12".
function isWithin(path: string, of: string): boolean {
  return path === of || path.startsWith(of.endsWith("/") ? of : `${of}/`);
}

function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}

function clockOf({ now }: TestApp): Date {
  return now?.() ?? new Date();
}

function pairsOf({ headers = [] }: TestCallOptions): readonly (readonly [name: string, value: string])[] {
  return Symbol.iterator in headers ? [...headers] : Object.entries(headers);
}
