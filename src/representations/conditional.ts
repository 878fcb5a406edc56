/** The namespace `Conditional`: conditional requests (RFC 9110 §13). */
import { jsonType } from "../exchange/answer.ts";
import type { Answer, RevisedRequest } from "../exchange/answer.ts";
import { chain } from "../deferred.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { entityTag, httpDate } from "../codecs/conditions.ts";
import type { EntityTag } from "../codecs/conditions.ts";
import { isObject, isRoutes, needs } from "../arguments.ts";
import type { Dep } from "../inputs/dep.ts";
import type { InputRequest } from "../inputs/request.ts";
import { Refusal } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import type { Route } from "../routing/route.ts";
import { evaluate, versionOf } from "./preconditions.ts";
import type { Validators, Version } from "./preconditions.ts";

export type { Validators } from "./preconditions.ts";

/** The version of the resource is not the one that the request names: 412. A route that uses `Conditional.precondition` lists it. */
export const preconditionFailed: Code<"precondition_failed"> = Refusal.code("precondition_failed", {
  status: 412,
  doc: "The resource has changed since the caller read it; If-Match and its kin said which version was meant.",
});

/** The request names no version of the resource: 428 (RFC 6585 §3). */
export const preconditionRequired: Code<"precondition_required"> = Refusal.code("precondition_required", {
  status: 428,
  doc: "The request must say which version it is meant for, by If-Match.",
});

const hasChanged = "This has changed since it was read. Read it again, and then repeat the request.";
const versionNeeded = "This needs If-Match with the ETag of the version that was read.";

/**
 * The same answer with an `ETag`, a `Last-Modified`, or both. A GET or HEAD whose conditions say that the client has this
 * version already is answered 304, and one that wants another version 412.
 *
 * Only a 200 has conditions: any other answer just gets the headers.
 *
 * @param validators `etag` is the text between the quotes of a strong tag, or `{ tag, weak: true }`.
 * @throws Error for a tag or a date that no header can have.
 *
 * @example
 * ```ts
 * const feed = get(Path.of("feed.xml"), { inputs: { news }, returns: Returns.response }, ({ news }) =>
 *   Conditional.answer(Answer.make(xmlOf(news), { contentType: "application/rss+xml" }), { lastModified: news.changedAt }),
 * );
 * ```
 */
export function answer(answer: Answer, validators: Validators): Answer {
  const isAnswer = isObject(answer) && Array.isArray(answer.headers);
  needs(isAnswer, "Conditional.answer: its answer", answer, "made by Answer");
  return withVersion(answer, versionOf(validators, "Conditional.answer: validators"));
}

/**
 * A function that gives the response an `ETag`, a `Last-Modified`, or both, as `Conditional.answer` does. It is for a route that
 * returns values and not an `Answer`; a refusal has neither header. Called twice, the last call counts.
 *
 * @example
 * ```ts
 * const show = get(
 *   Path.of("orders", id),
 *   { inputs: { id: param(id), validators: Conditional.validators }, returns: Returns.json(Order) },
 *   async ({ id, validators }) => {
 *     const order = await find(id);
 *     validators({ etag: String(order.version) });
 *     return order;
 *   },
 * );
 * ```
 */
export const validators: Dep<(validators: Validators) => void> = {
  node: {
    from: [],
    needs: ["if-none-match", "if-modified-since"].map((name) => ({ in: "header", name })),
    validates: preconditionFailed,
    compile: () => (request: InputRequest) => (given: Validators) => {
      const version = versionOf(given, "Conditional.validators: its validators");
      request.changeAnswer((answer: Answer) => withVersion(answer, version));
    },
  },
};

/** The text of an `If-Match` or the like, which a typed client may send. */
interface ConditionWire {
  readonly headers?: {
    readonly "if-match"?: string | undefined;
    readonly "if-none-match"?: string | undefined;
    readonly "if-unmodified-since"?: string | undefined;
  };
}

const conditions = ["if-match", "if-none-match", "if-unmodified-since"];

/** Compares the request's conditions with the version that exists; undefined says that nothing exists. */
export type Precondition = (current: Validators | undefined) => Refusal<"precondition_failed"> | undefined;

/**
 * The conditions of a request that changes something: `If-Match`, `If-None-Match` and `If-Unmodified-Since`. The handler calls
 * it with the version that exists, before it writes, and returns the refusal if there is one: a 412 `precondition_failed`.
 * Without a condition every version is right.
 *
 * Between the call and the write another request may write: compare the version in the statement, too
 * (`update … where id = $1 and version = $2`).
 *
 * @example
 * ```ts
 * const change = patch(
 *   Path.of("orders", id),
 *   {
 *     inputs: { id: param(id), precondition: Conditional.precondition, change: json(Change) },
 *     returns: Returns.json(Order),
 *     refuses: [Conditional.preconditionFailed],
 *   },
 *   async ({ id, precondition, change }) => {
 *     const order = await find(id);
 *     return precondition({ etag: String(order.version) }) ?? save({ ...order, ...change });
 *   },
 * );
 * ```
 */
export const precondition: Dep<Precondition, "precondition_failed", ConditionWire> = {
  node: {
    from: [],
    needs: conditions.map((name) => ({ in: "header", name })),
    codes: [preconditionFailed],
    compile: () => preconditionOf,
  },
};

/**
 * As `Conditional.precondition`, for a route whose resource may not be written unseen: a request without `If-Match`,
 * `If-None-Match` and `If-Unmodified-Since` is a 428 `precondition_required` before the handler runs.
 */
export const requiredPrecondition: Dep<Precondition, "precondition_failed" | "precondition_required", ConditionWire> = {
  node: {
    from: [],
    needs: conditions.map((name) => ({ in: "header", name })),
    codes: [preconditionFailed, preconditionRequired],
    compile: () => (request: InputRequest) =>
      conditions.some((name) => request.lines(name.toLowerCase()).length > 0)
        ? preconditionOf(request)
        : new Refusal(preconditionRequired, versionNeeded, {}),
  },
};

function preconditionOf(request: InputRequest): Precondition {
  return (current) => {
    const version = current === undefined ? undefined : versionOf(current, "Conditional.precondition: its version");
    return evaluate(request, version) === "failed" ? new Refusal(preconditionFailed, hasChanged, {}) : undefined;
  };
}

/**
 * Makes the same routes, whose JSON answers to GET have a weak `ETag` made of their text, and a 304 for a client that has it
 * already. It saves the transfer, and none of the work. An answer that has an `ETag` keeps its own.
 *
 * The tag is a hash of 64 bits with the length: it tells versions apart, and is no protection against a forger.
 *
 * @example
 * ```ts
 * await serve(Conditional.tagJson([list, show, place]), { port: 8080 });
 * ```
 */
export function tagJson<const R extends readonly Route[]>(routes: R): R {
  needs(isRoutes(routes), "Conditional.tagJson: routes", routes, "a list of routes");
  return routes.map((route) => {
    const { node } = route.returns;
    if (route.method !== "GET" || node.kind !== "json") return route;
    const compile = (): ((returned: unknown) => Answer) => {
      const make = node.compile();
      return (returned) => tagged(make(returned));
    };
    return { ...route, returns: { node: { ...node, compile, validates: preconditionFailed } } };
  }) as readonly Route[] as R;
}

function tagged(made: Answer): Answer {
  const { status, contentType, headers, cookies, body, closes } = made;
  if (status !== 200 || contentType !== jsonType || typeof body !== "string") return made;
  return { status, contentType, headers, cookies, body, closes, revise: tagAndCompare };
}

/** Once the headers that the handler set are known. */
function tagAndCompare(request: RevisedRequest, answer: Answer): Answer {
  if (answer.headers.some(([name]) => name.toLowerCase() === "etag") || typeof answer.body !== "string") return answer;
  const etag = { tag: contentHash(answer.body), weak: true };
  return conditionally(request, withVersionHeaders(answer, { etag, lastModified: undefined }), {
    etag,
    lastModified: lastModifiedOf(answer),
  });
}

/** The date that the handler gave by itself. */
function lastModifiedOf(answer: Answer): number | undefined {
  const field = fieldOf(answer, "last-modified");
  const date = field === undefined ? undefined : httpDate.parse(field);
  return date?.ok === true ? date.value.getTime() : undefined;
}

function entityTagOf(answer: Answer): EntityTag | undefined {
  const field = fieldOf(answer, "etag");
  const tag = field === undefined ? undefined : entityTag.parse(field);
  return tag?.ok === true ? tag.value : undefined;
}

function fieldOf({ headers }: Answer, name: string): string | undefined {
  return headers.find((header) => header[0].toLowerCase() === name)?.[1];
}

/** The version that a client sees in an answer's headers. */
export function versionIn(answer: Answer): Version {
  return { etag: entityTagOf(answer), lastModified: lastModifiedOf(answer) };
}

function withVersion(answer: Answer, given: Version): Answer {
  const { revise } = answer;
  const versioned = withVersionHeaders(answer, given);
  // The answer may have the other validator already.
  const version = given.etag === undefined || given.lastModified === undefined ? versionIn(versioned) : given;
  return {
    ...versioned,
    revise: (request, sent) => {
      const revised = revise === undefined ? sent : revise(request, sent);
      return chain(revised, (revised) => conditionally(request, revised, version));
    },
  };
}

/** The answer with its validators as headers, in the place of those that it has. */
export function withVersionHeaders(answer: Answer, { etag, lastModified }: Version): Answer {
  const headers = answer.headers.filter(([name]) => !isReplaced(name.toLowerCase(), etag, lastModified));
  if (etag !== undefined) headers.push(["etag", entityTag.print(etag)]);
  if (lastModified !== undefined) headers.push(["last-modified", httpDate.print(new Date(lastModified))]);
  return { ...answer, headers };
}

function isReplaced(name: string, etag: unknown, lastModified: unknown): boolean {
  return (name === "etag" && etag !== undefined) || (name === "last-modified" && lastModified !== undefined);
}

/** What is sent in place of a 200, once the request's conditions are known. */
export function conditionally(request: RevisedRequest, answer: Answer, version: Version): Answer {
  if (answer.status !== 200 || (request.method !== "GET" && request.method !== "HEAD")) return answer;
  const outcome = evaluate(request, version);
  if (outcome === "met") return answer;
  return outcome === "not modified"
    ? notModified(answer)
    : refusalAnswer(new Refusal(preconditionFailed, hasChanged, {}));
}

/** The fields of a 200 that describe its content; a 304 has none of them (RFC 9110 §15.4.5). */
const ofContent: ReadonlySet<string> = new Set([
  "accept-ranges",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-range",
]);

/** The 304 of a 200 (RFC 9110 §15.4.5): it has `Last-Modified` only without an `ETag`. */
function notModified({ headers, cookies, body, closes }: Answer): Answer {
  let kept = keptHeaders.get(headers);
  if (kept === undefined) keptHeaders.set(headers, (kept = headersOfNotModified(headers)));
  // The body is not sent; who makes the response ends it.
  return { status: 304, headers: kept, cookies, body, closes };
}

/** A file has one answer for many requests: what its 304 has is found once. */
const keptHeaders = /* @__PURE__ */ new WeakMap<Answer["headers"], Answer["headers"]>();

function headersOfNotModified(headers: Answer["headers"]): Answer["headers"] {
  const hasTag = headers.some(([name]) => name.toLowerCase() === "etag");
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !ofContent.has(lower) && !(hasTag && lower === "last-modified");
  });
}

/**
 * A hash of 64 bits with the length, in base 36, for a weak entity tag. Two multiplications a character, 1 ns: a digest of the
 * platform's would need the bytes and, but on Node, a promise. It does not withstand one who looks for two texts of one hash.
 */
export function contentHash(text: string): string {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 2_654_435_761);
    high = Math.imul(high ^ unit, 1_597_334_677);
  }
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  return `${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}.${text.length.toString(36)}`;
}
