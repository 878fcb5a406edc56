import { none } from "../answers/answer.ts";
import type { Answer } from "../answers/answer.ts";
import { isToken, stripped } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import type { Route } from "../routing/route.ts";
import { readOrigins } from "./cross-origin.ts";
import type { CorsExtension } from "./cross-origin.ts";

/** Whose pages a browser lets read an app's answers, and send what is not a plain form's (the Fetch standard's CORS). */
export interface CorsOptions {
  /** Each as a browser writes it, `https://shop.example`, or `"any"`. */
  readonly origins: readonly string[] | "any";
  /** Whether those pages may send cookies and read what is answered to them; false unless set, and never for any origin. */
  readonly credentials?: boolean;
  /** What their requests may have beside what every page may send: `authorization` and `content-type` unless set. */
  readonly headers?: readonly string[];
  /** Headers of answers that those pages may read, beside the few that every page may. */
  readonly expose?: readonly string[];
  /** How long a browser may keep what it was told of a path: ten minutes unless set. */
  readonly maxAgeMs?: number;
  /** The routes it is for: all of them unless set. */
  readonly routes?: readonly Route[];
}

/** A policy, made by {@link make}: an app's option `cors`. */
export interface Cors extends CorsExtension {
  /** For the framework alone. */
  readonly policy: CorsPolicy;
}

/** How a policy answers. */
export interface CorsPolicy {
  /** The answer to a browser that asks before it sends; the methods are those of the policy's routes at its path. */
  readonly preflight: (asked: InputRequest, methods: readonly string[]) => Answer;
  /** The answer of a covered route with what lets a page read it, where it may. */
  readonly told: (asked: InputRequest, answer: Answer) => Answer;
  /** Whether the cross-origin check lets a request pass because of it. */
  readonly admits: (asked: InputRequest) => boolean;
}

type Headers = Answer["headers"];

/**
 * A policy of cross-origin resource sharing. The framework answers a browser's preflight itself, and what the policy's
 * origins send passes the cross-origin check. Any origin may be let read what is anybody's to read; it may send what
 * changes something only without cookies.
 *
 * @throws Error for any origin beside credentials, an origin no browser writes, or a header that is none.
 */
export function make(options: CorsOptions): Cors {
  const { origins, credentials = false, expose = none, maxAgeMs = 600_000, routes } = options;
  const headers = (options.headers ?? ["authorization", "content-type"]).map((name) => name.toLowerCase());
  if (origins === "any" && credentials) {
    throw new Error("Cors.make: any origin with credentials would let every site act as whoever visits it");
  }
  const named = readOrigins(origins === "any" ? none : origins, (problem) => {
    throw new Error(`Cors.make: the origin ${problem}`);
  });
  for (const name of [...headers, ...expose]) {
    if (!isToken(name) || name === "*") throw new Error(`Cors.make: ${JSON.stringify(name)} is not a header's name`);
  }
  if (!(maxAgeMs >= 0 && Number.isFinite(maxAgeMs))) {
    throw new Error(`Cors.make: maxAgeMs is milliseconds, 0 or more, and not ${maxAgeMs}`);
  }

  /** The origin a request comes from, as it is let read the answer; undefined where it is not. */
  const allowed = (asked: InputRequest): string | undefined => {
    const [origin, ...more] = asked.lines("origin");
    if (origin === undefined || more.length > 0) return undefined;
    if (origins === "any") return "*";
    return named.has(origin) ? origin : undefined;
  };
  const withCredentials: Headers = credentials ? [["access-control-allow-credentials", "true"]] : none;
  const exposed: Headers = expose.length === 0 ? none : [["access-control-expose-headers", expose.join(", ")]];

  const told = (asked: InputRequest, answer: Answer): Answer => {
    const origin = allowed(asked);
    const readable: Headers =
      origin === undefined ? none : [["access-control-allow-origin", origin], ...withCredentials, ...exposed];
    const vary: Headers = varies(answer) ? none : [["vary", "Origin"]];
    return { ...answer, headers: [...answer.headers, ...vary, ...readable] };
  };
  const preflight = (asked: InputRequest, methods: readonly string[]): Answer => {
    const origin = allowed(asked);
    const vary: Headers = [
      ["vary", "Origin"],
      ["vary", "Access-Control-Request-Method, Access-Control-Request-Headers"],
    ];
    const wanted = [...new Set(requestedHeaders(asked).filter((name) => headers.includes(name)))];
    const granted: Headers = [
      ["access-control-allow-origin", origin ?? ""],
      ["access-control-allow-methods", methods.join(", ")],
      ...(wanted.length === 0 ? none : [["access-control-allow-headers", wanted.join(", ")] as const]),
      ...withCredentials,
      ["access-control-max-age", String(Math.ceil(maxAgeMs / 1000))],
    ];
    const answered = origin === undefined ? vary : [...vary, ...granted];
    return { status: 204, headers: answered, cookies: none, body: undefined, closes: false };
  };
  const admits = (asked: InputRequest): boolean => {
    const [origin, ...more] = asked.lines("origin");
    if (origin === undefined || more.length > 0 || origin === "null") return false;
    return origins === "any" ? asked.lines("cookie").length === 0 : named.has(origin);
  };
  return { origins, credentials, headers, expose, maxAgeMs, routes, policy: { preflight, told, admits } };
}

function requestedHeaders(asked: InputRequest): readonly string[] {
  const names = asked.lines("access-control-request-headers").join(",").toLowerCase().split(",");
  return names.map((name) => stripped(name));
}

/** Whether a route says already that its answer differs by origin. */
function varies({ headers }: Answer): boolean {
  return headers.some(
    ([name, value]) => name.toLowerCase() === "vary" && /(?:^|[\t ,])(?:origin|\*)(?:$|[\t ,])/i.test(value),
  );
}
