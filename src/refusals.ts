/** One input that is not what it should be: where it stands, what kind of wrong it is, and a sentence for the caller. */
export class Problem {
  /** `path.<name>`, `query.<name>`, `header.<name>`, `cookie.<name>`, `form.<name>`, or a place in the body. */
  readonly at: string;
  /** `malformed`, `required`, a bound's own code, or the word the author of a check gave. */
  readonly code: string;
  /** Sent to the client as it is, so it never quotes the value. */
  readonly message: string;

  constructor(at: string, code: string, message: string) {
    this.at = at;
    this.code = code;
    this.message = message;
  }
}

/** So many problems are told of one request where nothing else is said. */
export const maxListedProblems = 1000;
/** So many of them go into a line of the log, and so many characters of each one's place: a member's name is as long as a body. */
const mostInLine = 100;
const longestPlace = 100;

/** Problems as one text for the log, which ends however many there are, and however long their places are. */
export function inOneLine(
  problems: readonly Problem[],
  more = 0,
  tell = ({ code, message }: Problem, at: string): string => `${at}: ${message} (${code})`,
): string {
  const told = problems.slice(0, mostInLine).map((problem) => {
    const { at } = problem;
    return tell(problem, at.length > longestPlace ? `${at.slice(0, longestPlace)}…` : at);
  });
  const untold = problems.length - told.length + more;
  return untold === 0 ? told.join("; ") : `${told.join("; ")}; and ${untold} more`;
}

/** A named way to refuse: what it means, and the status it is answered with. */
export interface Code<out Name extends string = string> {
  readonly name: Name;
  /** 4xx or 5xx. */
  readonly status: number;
  /** What the code means, for the API document. */
  readonly doc: string;
  /** The `WWW-Authenticate` value (RFC 9110 §11.6.1); a 401 has one. */
  readonly challenge?: string;
}

/** Declares a code. One name means one thing: `App.make` refuses two codes of one name that differ. */
function code<const Name extends string>(
  name: Name,
  options: { readonly status: number; readonly doc: string; readonly challenge?: string },
): Code<Name> {
  return { name, ...options };
}

/** An input is not what the route reads: 400, with every problem. */
export const invalid: Code<"invalid"> = code("invalid", {
  status: 400,
  doc: "Inputs are not what the route reads; each problem says where.",
});
/** The body was cut short, malformed, or too slow: 400. */
export const unreadable: Code<"unreadable"> = code("unreadable", {
  status: 400,
  doc: "The body could not be read as sent: cut short, malformed, or too slow to arrive.",
});
/** The body is longer than the server or the route takes: 413. */
export const tooLarge: Code<"too_large"> = code("too_large", {
  status: 413,
  doc: "The body is longer than the server takes.",
});
/** Another site sent a request that changes something: 403. */
export const crossOrigin: Code<"cross_origin"> = code("cross_origin", {
  status: 403,
  doc: "A browser sent a request that changes something from another site.",
});
/** A WebSocket's address asked for without an upgrade: 426. */
export const upgradeRequired: Code<"upgrade_required"> = code("upgrade_required", {
  status: 426,
  doc: "The address is a WebSocket, answered only to a request that opens one; Upgrade says which.",
});
/** Something the request needed did not come free in time: 503, with `Retry-After`. */
export const busy: Code<"busy"> = code("busy", {
  status: 503,
  doc: "Something the request needed did not come free in time; try again.",
});
/** The server's fault: 500. */
export const internal: Code<"internal"> = code("internal", { status: 500, doc: "The server's fault." });
/** A readiness check failed: 503. */
export const notReady: Code<"not_ready"> = code("not_ready", {
  status: 503,
  doc: "Something the server needs to serve did not answer.",
});
/** The body's `Content-Type` is none the route reads: 415. */
export const unsupportedMediaType: Code<"unsupported_media_type"> = code("unsupported_media_type", {
  status: 415,
  doc: "The body is sent as something the route does not read.",
});
/** Nothing is at this address: 404. */
export const notFound: Code<"not_found"> = code("not_found", { status: 404, doc: "Nothing is here." });
/** The path is answered, but not by this method: 405, with `Allow`. */
export const methodNotAllowed: Code<"method_not_allowed"> = code("method_not_allowed", {
  status: 405,
  doc: "The path is answered, but not by this method; Allow lists those.",
});
/** The method is known neither to the framework nor to a route: 501. */
export const notImplemented: Code<"not_implemented"> = code("not_implemented", {
  status: 501,
  doc: "The method is not one this server implements.",
});

/** The caller asked more often than a `Rate.limit` lets it: 429, with `Retry-After`. */
export const rateLimited: Code<"rate_limited"> = code("rate_limited", {
  status: 429,
  doc: "The caller asked more often than the route allows; Retry-After says when to ask again.",
});

/** The codes any route may answer with undeclared. */
export const frameworkCodes: readonly Code[] = [
  notFound,
  methodNotAllowed,
  unreadable,
  invalid,
  tooLarge,
  busy,
  crossOrigin,
  notImplemented,
  upgradeRequired,
  internal,
];

/** What a client is told when nobody gave a sentence, by code. */
export const sentences: ReadonlyMap<string, string> = new Map([
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
  ["rate_limited", "That was asked too often. Please try again in a moment."],
  ["unsupported_media_type", "That request's body is not in a form this can read."],
]);

/** Codes that a handler or an input may refuse with undeclared. */
export type FrameworkCode = "invalid" | "unreadable" | "too_large" | "busy" | "internal";

/** An expected failure, made with {@link refuse}: returned or thrown, it is the answer. */
export class Refusal<out Name extends string = string> {
  static readonly code: typeof code = code;
  static readonly invalid: Code<"invalid"> = invalid;
  static readonly unreadable: Code<"unreadable"> = unreadable;
  static readonly tooLarge: Code<"too_large"> = tooLarge;
  static readonly crossOrigin: Code<"cross_origin"> = crossOrigin;
  static readonly upgradeRequired: Code<"upgrade_required"> = upgradeRequired;
  static readonly busy: Code<"busy"> = busy;
  static readonly internal: Code<"internal"> = internal;
  static readonly notReady: Code<"not_ready"> = notReady;
  static readonly unsupportedMediaType: Code<"unsupported_media_type"> = unsupportedMediaType;
  static readonly rateLimited: Code<"rate_limited"> = rateLimited;
  static readonly notFound: Code<"not_found"> = notFound;

  readonly code: Code<Name>;
  /** What the client is told. */
  readonly message: string;
  /** For the log alone. */
  readonly detail?: string;
  /** Sent beside the code's challenge. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Listed in the body when there are any; only `invalid` has them. */
  readonly problems: readonly Problem[];
  /** How many problems there are beside those listed. */
  readonly more: number;

  constructor(code: Code<Name>, message: string, options: RefusalOptions) {
    this.code = code;
    this.message = message;
    if (options.detail !== undefined) this.detail = options.detail;
    this.headers = options.headers ?? none;
    this.problems = options.problems ?? none;
    this.more = options.more ?? 0;
  }
}

/** Whether it is a refusal whose code and detail can be told: JavaScript makes one of anything. */
export function isTellable(refusal: unknown): refusal is Refusal {
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

/** What the framework itself may add to a refusal; an application adds the detail alone. */
interface RefusalOptions {
  readonly detail?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly problems?: readonly Problem[];
  readonly more?: number;
}

const none: readonly never[] = [];
const comeAgain = [["retry-after", "1"]] as const;

/**
 * Makes a refusal: returned from a handler or a `Dep.join`, it is the answer.
 *
 * @param code One of the codes the route or the input declares.
 * @param message What the client is told; the code's own sentence by default.
 * @param options `detail` is written to the log and never sent.
 */
export function refuse<const Name extends string>(
  code: Code<Name>,
  message?: string,
  options?: { readonly detail?: string },
): Refusal<Name> {
  const said = message ?? sentences.get(code.name) ?? code.doc;
  // Every `busy` says when to come again (contract 7.2).
  return new Refusal(code, said, code.name === busy.name ? { ...options, headers: comeAgain } : (options ?? {}));
}

/** The one answer that tells the problems of a request: those listed, and how many more there are. */
export function invalidRefusal(problems: readonly Problem[], detail?: string, more = 0): Refusal<"invalid"> {
  const options = detail === undefined ? { problems, more } : { problems, more, detail };
  return new Refusal(invalid, sentences.get("invalid") as string, options);
}

/** A refusal with no more problems listed than may be. */
export function listing(most: number, refusal: Refusal): Refusal {
  const { code, message, detail, headers, problems, more } = refusal;
  if (problems.length <= most) return refusal;
  const listed = { headers, problems: problems.slice(0, most), more: more + problems.length - most };
  return new Refusal(code, message, detail === undefined ? listed : { ...listed, detail });
}

/** An error that knows what it is answered with where nobody handles it; its message goes to the log as the detail. */
export abstract class RefusingError extends Error {
  abstract readonly refusal: Refusal;
}

/** A bug of the application found while its answer is written: a 500 whose detail goes to the log, free of values. */
export class Unwritable extends Error {
  override readonly name: string = "Unwritable";
}
