import { isObject, needs, needsOptions, needsText } from "./arguments.ts";

/** One validation error: where the input is, a code for what is wrong, and a sentence for the client. */
export class Problem {
  /** `path.<name>`, `query.<name>`, `header.<name>`, `cookie.<name>`, `form.<name>`, or a place in the body. */
  readonly at: string;
  /** `malformed`, `required`, the code of a bound, or the code that the author of a check chose. */
  readonly code: string;
  /** Sent to the client unchanged, so it never quotes the value. */
  readonly message: string;

  constructor(at: string, code: string, message: string) {
    this.at = at;
    this.code = code;
    this.message = message;
  }
}

/** The default for how many problems one response lists. */
export const maxListedProblems = 1000;
/** Limits of a log line: problems, and characters of each place, which may be 512 lists deep. */
const maxInLine = 100;
const maxPlaceLength = 100;

/** What the log has of a problem: nothing that its client chose. */
interface LoggedProblem {
  /** Its place, with `(unknown)` for a name that is not of the schema. */
  readonly at: string;
  readonly code: string;
  /** Undefined where a function of the value made the sentence, which may quote that. */
  readonly message: string | undefined;
}

/** By problem, where the log has less of it than its client. */
const loggedProblems = /* @__PURE__ */ new WeakMap<Problem, LoggedProblem>();

/** Sets what the log has of a problem, where that is less than its client gets. */
export function setLogged(problem: Problem, at: string, message: string | undefined): void {
  loggedProblems.set(problem, { at, code: problem.code, message });
}

/** Problems as one text for the log, of limited length. */
export function inOneLine(
  problems: readonly Problem[],
  more = 0,
  print = ({ code, message }: LoggedProblem, at: string): string =>
    message === undefined ? `${at}: ${code}` : `${at}: ${message} (${code})`,
): string {
  const listed = problems.slice(0, maxInLine).map((problem) => {
    const logged = loggedProblems.get(problem) ?? problem;
    const { at } = logged;
    return print(logged, at.length > maxPlaceLength ? `${at.slice(0, maxPlaceLength)}…` : at);
  });
  const unlisted = problems.length - listed.length + more;
  return unlisted === 0 ? listed.join("; ") : `${listed.join("; ")}; and ${unlisted} more`;
}

/** A named kind of error response: its meaning and its status code. */
export interface Code<out Name extends string = string> {
  /** Its name, by which a client tells it from others. */
  readonly name: Name;
  /** 4xx or 5xx. */
  readonly status: number;
  /** What the code means, for the API document. */
  readonly doc: string;
  /** The `WWW-Authenticate` value (RFC 9110 §11.6.1) of a 401. */
  readonly challenge?: string;
}

/** A sentence in the error of a status that no refusal has; one that is no literal type is checked by `App.make` alone. */
type Failing<Status extends number> = number extends Status
  ? Status
  : `${Status}` extends `4${number}` | `5${number}`
    ? Status
    : "The status of a refusal is 4xx or 5xx.";

/**
 * Declares a code. `App.make` refuses two codes of one name that differ.
 *
 * @param options `status` is 4xx or 5xx. A 401 needs the `challenge` of its `WWW-Authenticate` (RFC 9110 §11.6.1).
 */
/* @__NO_SIDE_EFFECTS__ */
function code<const Name extends string, const Status extends number>(
  name: Name,
  options: { readonly status: Failing<Status>; readonly doc: string; readonly challenge?: string } & (Status extends 401
    ? { readonly challenge: string }
    : unknown),
): Code<Name> {
  needsOptions("Refusal.code", options, "status doc challenge");
  return { name, ...(options as Omit<Code<Name>, "name">) };
}

/** An input is invalid: 400, with every problem. */
export const invalid: Code<"invalid"> = code("invalid", {
  status: 400,
  doc: "Inputs are not what the route reads; each problem says where.",
});
/** The body was cut short, malformed, or too slow: 400. */
export const unreadable: Code<"unreadable"> = code("unreadable", {
  status: 400,
  doc: "The body could not be read as sent: cut short, malformed, or too slow to arrive.",
});
/** The body is longer than the server or the route accepts: 413. */
export const tooLarge: Code<"too_large"> = code("too_large", {
  status: 413,
  doc: "The body is longer than the server takes.",
});
/** Another site sent a request with an unsafe method: 403. */
export const crossOrigin: Code<"cross_origin"> = code("cross_origin", {
  status: 403,
  doc: "A browser sent a request that changes something from another site.",
});
/** A WebSocket's address was requested without an upgrade: 426. */
export const upgradeRequired: Code<"upgrade_required"> = code("upgrade_required", {
  status: 426,
  doc: "The address is a WebSocket, answered only to a request that opens one; Upgrade says which.",
});
/** A resource that the request needed was not available in time: 503, with `Retry-After`. */
export const busy: Code<"busy"> = code("busy", {
  status: 503,
  doc: "Something the request needed did not come free in time; try again.",
});
/** The request's deadline passed before its answer was made: 503. */
export const timedOut: Code<"timed_out"> = code("timed_out", {
  status: 503,
  doc: "The answer was not made in the time that the request has; what the route does was ended where it can be.",
});
/** The request's deadline passed while its transaction was committed: 503. */
export const outcomeUnknown: Code<"outcome_unknown"> = code("outcome_unknown", {
  status: 503,
  doc: "The time of the request ended while its work was committed: it may be done or not. Look before you send it again.",
});
/** The server's fault: 500. */
export const internal: Code<"internal"> = code("internal", { status: 500, doc: "The server's fault." });
/** A readiness check failed: 503. */
export const notReady: Code<"not_ready"> = code("not_ready", {
  status: 503,
  doc: "Something the server needs to serve did not answer.",
});
/** The route does not read the body's `Content-Type`, or the app not its `Content-Encoding`: 415. */
export const unsupportedMediaType: Code<"unsupported_media_type"> = code("unsupported_media_type", {
  status: 415,
  doc: "The body is sent as something the route does not read.",
});
/** No route has this path: 404. */
export const notFound: Code<"not_found"> = code("not_found", { status: 404, doc: "Nothing is here." });
/** The path has routes, but none for this method: 405, with `Allow`. */
export const methodNotAllowed: Code<"method_not_allowed"> = code("method_not_allowed", {
  status: 405,
  doc: "The path is answered, but not by this method; Allow lists those.",
});
/** Neither the framework nor a route knows the method: 501. */
export const notImplemented: Code<"not_implemented"> = code("not_implemented", {
  status: 501,
  doc: "The method is not one this server implements.",
});

/** The client sent more requests than a `Rate.limit` allows: 429, with `Retry-After`. */
export const rateLimited: Code<"rate_limited"> = code("rate_limited", {
  status: 429,
  doc: "The caller asked more often than the route allows; Retry-After says when to ask again.",
});

/** The codes that any route may answer with, undeclared. */
export const frameworkCodes: readonly Code[] = [
  notFound,
  methodNotAllowed,
  unreadable,
  invalid,
  tooLarge,
  unsupportedMediaType,
  busy,
  crossOrigin,
  notImplemented,
  upgradeRequired,
  internal,
  timedOut,
  outcomeUnknown,
];

/** By code. */
const sentences: ReadonlyMap<string, string> = new Map([
  ["not_found", "There is nothing here."],
  ["method_not_allowed", "That is not something you can do here."],
  ["unreadable", "That request could not be read."],
  ["invalid", "Some of that request is not what it should be."],
  ["too_large", "That request is too large."],
  ["busy", "The server is busy. Please try again in a moment."],
  ["cross_origin", "That request came from another site, so it was not carried out."],
  ["not_implemented", "That is not something this server does."],
  ["upgrade_required", "This address opens a WebSocket, and nothing else."],
  ["internal", "Something went wrong at our end. Please try again."],
  ["timed_out", "That took too long, and was ended."],
  ["outcome_unknown", "That took too long, and may be done or not. Please look before you try again."],
  ["rate_limited", "That was asked too often. Please try again in a moment."],
  ["unsupported_media_type", "That request's body is not in a form this can read."],
]);

/** The sentence of a refusal that is given none. */
export function sentenceOf({ name, doc }: Code): string {
  return sentences.get(name) ?? doc;
}

/** Codes that a handler or an input may use undeclared. */
export type FrameworkCode = "invalid" | "unreadable" | "too_large" | "busy" | "internal" | "timed_out";

/** An expected failure, made with `refuse`. Returned or thrown, it becomes the response. */
export class Refusal<out Name extends string = string> {
  static readonly code: typeof code = code;
  static readonly invalid: Code<"invalid"> = invalid;
  static readonly unreadable: Code<"unreadable"> = unreadable;
  static readonly tooLarge: Code<"too_large"> = tooLarge;
  static readonly crossOrigin: Code<"cross_origin"> = crossOrigin;
  static readonly upgradeRequired: Code<"upgrade_required"> = upgradeRequired;
  static readonly busy: Code<"busy"> = busy;
  static readonly internal: Code<"internal"> = internal;
  static readonly timedOut: Code<"timed_out"> = timedOut;
  static readonly outcomeUnknown: Code<"outcome_unknown"> = outcomeUnknown;
  static readonly notReady: Code<"not_ready"> = notReady;
  static readonly unsupportedMediaType: Code<"unsupported_media_type"> = unsupportedMediaType;
  static readonly rateLimited: Code<"rate_limited"> = rateLimited;
  static readonly notFound: Code<"not_found"> = notFound;

  /** Exists only in types, so that an object with the same members is no refusal; not private, so that two copies agree. */
  declare readonly "~refusal": true;
  readonly code: Code<Name>;
  /** The sentence that the client gets. */
  readonly message: string;
  /** Only logged, never sent. */
  readonly detail?: string;
  /** Sent as `WWW-Authenticate` in place of the code's challenge. */
  readonly challenge?: string;
  /** Sent in addition to the challenge. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Listed in the body; only `invalid` has problems. */
  readonly problems: readonly Problem[];
  /** How many problems are not listed. */
  readonly more: number;

  constructor(code: Code<Name>, message: string, options: RefusalOptions) {
    this.code = code;
    this.message = message;
    if (options.detail !== undefined) this.detail = options.detail;
    if (options.challenge !== undefined) this.challenge = options.challenge;
    this.headers = options.headers ?? none;
    this.problems = options.problems ?? none;
    this.more = options.more ?? 0;
  }
}

/** Whether a value can be read as a code; `App.make` checks its status and its challenge with all others. */
export function isCode(value: unknown): boolean {
  return isObject(value) && typeof value["name"] === "string";
}

/** Whether a value is a refusal with a readable code and detail: JavaScript can construct one from any arguments. */
export function isRefusal(refusal: unknown): refusal is Refusal {
  try {
    if (!(refusal instanceof Refusal)) return false;
    const { code, detail }: Refusal = refusal;
    return typeof code.name === "string" && Number.isInteger(code.status) && isTextOrNone(detail);
  } catch {
    return false;
  }
}

function isTextOrNone(detail: unknown): boolean {
  return detail === undefined || typeof detail === "string";
}

/** Options that only the framework sets, except `detail`. */
interface RefusalOptions {
  readonly detail?: string | undefined;
  readonly challenge?: string | undefined;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly problems?: readonly Problem[];
  readonly more?: number;
}

/** No headers, cookies or problems. Frozen, because all share it: what JavaScript pushes to it would be sent to other clients. */
export const none: readonly never[] = /* @__PURE__ */ Object.freeze([]);
const retryAfter = /* @__PURE__ */ Object.freeze([["retry-after", "1"]] as const);

/**
 * Makes a refusal. Returned from a handler or a `Dep.join`, it becomes the response.
 *
 * @param code One of the codes that the route or the input declares.
 * @param message The sentence that the client gets; the code's own sentence by default.
 * @param options `detail` is logged and never sent.
 */
export function refuse<const Name extends string>(
  code: Code<Name>,
  message?: string,
  options?: { readonly detail?: string },
): Refusal<Name> {
  needs(isCode(code), "refuse: its code", code, "made by Refusal.code");
  if (message !== undefined) needsText("refuse: its message", message);
  if (options !== undefined) needsOptions("refuse", options, "detail");
  const sentence = message ?? sentenceOf(code);
  // Every `busy` has `Retry-After` (contract 7.2).
  return new Refusal(code, sentence, code.name === busy.name ? { ...options, headers: retryAfter } : (options ?? {}));
}

/** The refusal of a request that comes past a bound of the app. */
export const overloadedRefusal: Refusal<"busy"> = /* @__PURE__ */ refuse(busy);

/** The refusal of a request whose deadline has passed. */
export const timedOutRefusal: Refusal<"timed_out"> = /* @__PURE__ */ refuse(timedOut);

/** The 400 that lists the problems of a request, and how many more there are. */
export function invalidRefusal(problems: readonly Problem[], detail?: string, more = 0): Refusal<"invalid"> {
  return new Refusal(invalid, sentenceOf(invalid), { problems, more, detail });
}

/**
 * The client disconnected, and a call that got `clientGone` rejected: 499, as nginx logs it. It is never received, so no application
 * declares it, and no document lists it.
 */
export const goneRefusal: Refusal<"client_gone"> = /* @__PURE__ */ refuse(
  code("client_gone", { status: 499, doc: "The client disconnected before its answer was made." }),
);

/** The server stopped, and a call that got `clientGone` rejected: no fault of the client's, and not received either. */
export const stoppedRefusal: Refusal<"busy"> = /* @__PURE__ */ refuse(busy, undefined, {
  detail: "the server stopped before its answer was made",
});

/** A 500: `detail` is logged. */
export function internalRefusal(detail: string | undefined): Refusal<"internal"> {
  return new Refusal(internal, sentenceOf(internal), { detail });
}

/** The refusal with at most `max` problems listed. */
export function listing(max: number, refusal: Refusal): Refusal {
  const { code, message, detail, headers, problems, more } = refusal;
  if (problems.length <= max) return refusal;
  const unlisted = more + problems.length - max;
  return new Refusal(code, message, { headers, problems: problems.slice(0, max), more: unlisted, detail });
}

/** An error with the refusal that answers it when it is not caught; its message is logged as the detail. */
export abstract class RefusingError extends Error {
  abstract readonly refusal: Refusal;

  /** Whether what failed may have been done. */
  get isOutcomeUnknown(): boolean {
    return false;
  }
}

/** An invalid answer, a bug of the application: a 500 whose logged detail quotes no value. */
export class InvalidAnswerError extends Error {
  override readonly name: string = "InvalidAnswerError";
}
