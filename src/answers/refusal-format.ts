import { needsOptions, needsSchema } from "../arguments.ts";
import * as v from "valibot";
import { isFieldValue, isToken, stripped } from "../http/fields.ts";
import { InvalidAnswerError } from "../refusals.ts";
import type { Code, Problem, Refusal } from "../refusals.ts";
import { named } from "../schema/valibot.ts";
import type { AnyStandard, InputOf, StandardSchema } from "../schema/standard.ts";
import type { AnyShape, ValueOf, Written } from "../schema/valibot.ts";
import { jsonType } from "../exchange/answer.ts";
import type { Answer } from "../exchange/answer.ts";
import { jsonWriterOf } from "./kinds.ts";

/** A refusal as a format writes it. It has no detail, which is only logged. */
export interface RefusalToWrite {
  /** The name of its code: `not_found`. */
  readonly error: string;
  /** What the code means, in the words of its declaration. */
  readonly doc: string;
  /** The status of the response. */
  readonly status: number;
  /** The sentence for the user. */
  readonly message: string;
  /** The validation errors of `invalid`; empty for any other code. */
  readonly problems: readonly Problem[];
  /** How many problems are not listed. */
  readonly more: number;
  /** The request's id, which its response and every log line have. */
  readonly requestId: string;
  /**
   * A sentence in the language of the answer, where the option `languages` has it; otherwise the sentence itself.
   * The other members are translated already.
   */
  readonly translate: (sentence: string) => string;
}

/** How an app writes its refusals. Made with `RefusalFormat.json`, `RefusalFormat.text` or `RefusalFormat.problemDetails`. */
export interface RefusalFormat {
  /** For the framework alone. */
  readonly node: RefusalFormatNode;
}

/** A format, for the framework. Its functions are here, so that an app without a format has no code of them. */
export interface RefusalFormatNode {
  /** The `Content-Type` of every refusal. */
  readonly contentType: string;
  /** The shape of the body; undefined for text. */
  readonly shape: AnyStandard | undefined;
  /** The status that a code is sent with. */
  readonly statusOf: (code: Code) => number;
  /** The parts of a refusal's answer that the format decides. Throws where the body cannot be written. */
  readonly write: (
    refusal: Refusal,
    requestId: string,
    translate?: RefusalToWrite["translate"],
  ) => Pick<Answer, "status" | "contentType" | "body">;
  /** What is wrong with it for the codes of an app. */
  readonly problems: (codes: ReadonlyMap<string, Code>) => readonly string[];
}

/** The options of every format. */
export interface RefusalFormatOptions {
  /**
   * The statuses of codes that differ from the declared ones, by the code's name: `{ invalid: 422 }`. `App.make` refuses a name
   * that no code has, and a status other than 4xx and 5xx.
   */
  readonly statuses?: { readonly [code: string]: number };
}

/** The options of `RefusalFormat.json`. */
export interface JsonFormatOptions<S, Body> extends RefusalFormatOptions {
  /** The shape of the body. */
  readonly shape: S;
  /** Makes the body. What it throws, and a body that the shape cannot write, is a 500 `internal`. */
  readonly write: (refusal: RefusalToWrite) => NoInfer<Body>;
  /** `application/json` unless set. */
  readonly contentType?: string;
}

/**
 * A format that writes every refusal as JSON of one shape. The API document describes that shape.
 *
 * @throws RangeError for an invalid `contentType`, Error for a shape that has no JSON.
 *
 * @example
 * ```ts
 * const refusalFormat = RefusalFormat.json({
 *   shape: v.object({ errors: v.object({ body: v.array(v.string()) }) }),
 *   statuses: { invalid: 422 },
 *   write: ({ message, problems }) => ({
 *     errors: { body: problems.length === 0 ? [message] : problems.map(({ at, message }) => `${at}: ${message}`) },
 *   }),
 * });
 * const app = App.make(routes, { refusalFormat });
 * ```
 */
export function json<S extends StandardSchema>(options: JsonFormatOptions<S, Written<InputOf<S>>>): RefusalFormat;
// The last, because TypeScript 7 reports the errors of the last overload alone.
export function json<S extends AnyShape>(options: JsonFormatOptions<S, Written<ValueOf<S>>>): RefusalFormat;
export function json(options: JsonFormatOptions<AnyStandard, unknown>): RefusalFormat {
  const { shape, write, contentType = jsonType, statuses } = given("json", options);
  needsSchema("RefusalFormat.json: shape", shape);
  const print = jsonWriterOf(shape);
  return formatOf(contentType, statuses, shape, (refusal) => print(write(refusal)));
}

/**
 * A format that writes every refusal as text, such as a page.
 *
 * @throws RangeError for an invalid `contentType`.
 *
 * @example
 * ```ts
 * const refusalFormat = RefusalFormat.text({
 *   contentType: "text/plain; charset=utf-8",
 *   write: ({ message, requestId }) => `${message}\nTell us this number if it happens again: ${requestId}\n`,
 * });
 * ```
 */
export function text(
  options: RefusalFormatOptions & {
    readonly contentType: string;
    /** Makes the body. What it throws is a 500 `internal`. */
    readonly write: (refusal: RefusalToWrite) => string;
  },
): RefusalFormat {
  const { contentType, write, statuses } = given("text", options);
  return formatOf(contentType, statuses, undefined, (refusal) => {
    const body: unknown = write(refusal);
    if (typeof body !== "string") throw new InvalidAnswerError("a refusal whose format wrote no text");
    return body;
  });
}

const problem = /* @__PURE__ */ v.object({
  at: /* @__PURE__ */ v.string(),
  code: /* @__PURE__ */ v.string(),
  message: /* @__PURE__ */ v.string(),
});

/** Made where it is used, so that an app without it has no shape of it. */
function problemDetailsShape() {
  const whole = v.object({
    type: v.string(),
    title: v.string(),
    status: v.pipe(v.number(), v.integer()),
    detail: v.string(),
    error: v.string(),
    problems: v.optional(v.array(problem)),
    more: v.optional(v.pipe(v.number(), v.integer())),
  });
  return named("ProblemDetails", whole);
}

/**
 * Problem details of RFC 9457, `application/problem+json`: `type`, `title`, `status`, and `detail` with the refusal's sentence;
 * and as extension members `error` with the code's name, `problems` and `more`. The typed client reads them.
 *
 * @example
 * ```ts
 * const refusalFormat = RefusalFormat.problemDetails({ type: (code) => `https://orders.example/problems/${code}` });
 * ```
 */
export function problemDetails(
  options: RefusalFormatOptions & {
    /**
     * The `type` of a code, a URI; the `title` is then the code's `doc`. Without it `type` is `about:blank`, and `title` the
     * phrase of the status.
     */
    readonly type?: (code: string) => string;
  } = {},
): RefusalFormat {
  needsOptions("RefusalFormat.problemDetails", options, "statuses type");
  const { type, statuses = {} } = options;
  if (type !== undefined && typeof type !== "function") {
    throw new TypeError("RefusalFormat.problemDetails: type is a function of the code's name");
  }
  return json({
    contentType: "application/problem+json",
    shape: problemDetailsShape(),
    statuses,
    write: ({ error, doc, status, message, problems, more, translate }) => ({
      type: type?.(error) ?? "about:blank",
      title: type === undefined && status in phrases ? translate(phrases[status] as string) : doc,
      status,
      detail: message,
      error,
      ...(problems.length === 0 ? {} : { problems }),
      ...(more === 0 ? {} : { more }),
    }),
  });
}

/** The phrases of statuses (RFC 9110 §15). Without one, the title is what the code means. */
const phrases: { readonly [status: number]: string } = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  407: "Proxy Authentication Required",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  417: "Expectation Failed",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  423: "Locked",
  424: "Failed Dependency",
  425: "Too Early",
  426: "Upgrade Required",
  428: "Precondition Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  451: "Unavailable For Legal Reasons",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  507: "Insufficient Storage",
  511: "Network Authentication Required",
};

const same = (sentence: string): string => sentence;

function formatOf(
  contentType: string,
  statuses: RefusalFormatOptions["statuses"] = {},
  shape: AnyStandard | undefined,
  print: (refusal: RefusalToWrite) => string,
): RefusalFormat {
  const statusOf = ({ name, status }: Code): number => {
    return Object.hasOwn(statuses, name) ? (statuses[name] as number) : status;
  };
  const write: RefusalFormatNode["write"] = ({ code, message, problems, more }, requestId, translate = same) => {
    const status = statusOf(code);
    const doc = translate(code.doc);
    const body = print({ error: code.name, doc, status, message, problems, more, requestId, translate });
    return { status, contentType, body };
  };
  const problems: RefusalFormatNode["problems"] = (codes) =>
    Object.entries(statuses).flatMap(([name, status]) => statusProblems(name, status, codes.get(name)));
  return { node: { contentType, shape, statusOf, write, problems } };
}

function statusProblems(name: string, status: number, code: Code | undefined): readonly string[] {
  if (code === undefined) return [`refusalFormat has a status for ${JSON.stringify(name)}, which is no code`];
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    return [`refusalFormat has the status ${String(status)} for ${name}, where a refusal is 4xx or 5xx`];
  }
  if (status !== 401 || code.challenge !== undefined) return [];
  return [`refusalFormat answers ${name} with 401, whose WWW-Authenticate needs the code's challenge`];
}

/** The options, checked: JavaScript may give any. */
function given<Options extends { readonly contentType?: string; readonly write: unknown }>(
  name: "json" | "text",
  options: Options,
): Options {
  const { contentType, write } = options ?? {};
  if (typeof write !== "function") {
    throw new TypeError(`RefusalFormat.${name}: write is a function that makes the body of a refusal`);
  }
  const isWrong = contentType === undefined ? name === "text" : !isMediaType(contentType);
  if (isWrong) throw new RangeError(`RefusalFormat.${name}: contentType is a media type, like application/json`);
  return options;
}

function isMediaType(text: unknown): boolean {
  if (typeof text !== "string" || !isFieldValue(text)) return false;
  const [type = "", subtype = "", ...more] = stripped(text.replace(/;.*/, "")).split("/");
  return more.length === 0 && isToken(type) && isToken(subtype);
}
