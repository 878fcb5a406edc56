import { noted } from "./copies.ts";
import { needs, needsFunction, needsOptions, needsTexts } from "../arguments.ts";
import { mediaType } from "../codecs/index.ts";
import { isToken, stripped } from "../http/fields.ts";
import { Problem, Refusal, inOneLine, invalidRefusal, sentenceOf, unsupportedMediaType } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { compileReader } from "../schema/read.ts";
import type { ReadJson } from "../schema/read.ts";
import type { InputOf, StandardSchema, OutputOf, AnyStandard } from "../schema/standard.ts";
import type { JsonOf, AnyShape, ValueOf } from "../schema/valibot.ts";
import { BodyReader, wrongMax } from "./body-source.ts";
import type { Body } from "./body-source.ts";
import type { Dep, DepNode, Joining } from "./dep.ts";
import type { InputRequest } from "./request.ts";
import { bodyNeed } from "./body-reading.ts";

/** The `type/subtype` of a `Content-Type`, in lower case; undefined where it is malformed. */
export function mediaTypeOf(line: string): string | undefined {
  const read = mediaType.parse(stripped(line));
  return read.ok ? `${read.value.type}/${read.value.subtype}` : undefined;
}

/** Whether a `Content-Type` is multipart/form-data, with any parameters. */
export function isMultipart(line: string): boolean {
  return /^multipart\/form-data[\t ]*(?:;|$)/i.test(stripped(line));
}

/** A multipart body without a usable boundary. */
export const noBoundary: Problem = /* @__PURE__ */ new Problem(
  "header.content-type",
  "malformed",
  "This names no boundary.",
);

/** The only `Content-Type` of a request; undefined where it has none or several. */
export function contentTypeOf(request: InputRequest): string | undefined {
  const lines = request.lines("content-type");
  return lines.length === 1 ? lines[0] : undefined;
}

/** The type of a body without `Content-Type` (RFC 9110 §8.3), as `fetch` sends bytes. */
const untyped = "application/octet-stream";

/** A 415 where the body's type is not accepted. */
export function checkContentType(request: InputRequest, accepted: readonly string[]): Refusal | undefined {
  const line = request.lines("content-type").length === 0 ? untyped : contentTypeOf(request);
  return line !== undefined && isTypeOf(accepted, line) ? undefined : unsupported(accepted);
}

/** A 415. The log has the types that the route reads, and not the one that was sent. */
export function unsupported(types: readonly string[]): Refusal<"unsupported_media_type"> {
  const detail = `the route reads ${types.join(" or ")}`;
  return new Refusal(unsupportedMediaType, sentenceOf(unsupportedMediaType), { detail });
}

/** Whether a `Content-Type` matches one of some patterns: `type/subtype`, `type/*` or `type/*+suffix`, without case and parameters. */
export function isTypeOf(patterns: readonly string[], line: string): boolean {
  // Most clients send it as the pattern is, and to parse it takes 0.5 µs.
  if (patterns.includes(line)) return true;
  const type = mediaTypeOf(line);
  return type !== undefined && patterns.some((pattern) => matches(pattern.toLowerCase(), type));
}

/** The invalid patterns among a route's content types, for the checks of `App.make`. */
function wrongContentTypes(types: readonly string[] = []): readonly string[] {
  const wrong = types.filter((type) => !isContentType(type));
  return wrong.map(
    (type) =>
      `accepts the content type ${JSON.stringify(type)}, which is neither type/subtype, type/* nor type/*+suffix`,
  );
}

/** Whether a text is `type/subtype`, `type/*` or `type/*+suffix`. */
export function isContentType(text: string): boolean {
  const [type = "", subtype = "", ...more] = text.split("/");
  if (more.length > 0 || !isToken(type) || type.includes("*")) return false;
  return isToken(subtype) && /^(?:[^*]+|\*|\*\+[^*]+)$/.test(subtype);
}

function matches(pattern: string, type: string): boolean {
  const star = pattern.indexOf("/*");
  if (star === -1) return pattern === type;
  const suffix = pattern.slice(star + 2);
  return type.startsWith(pattern.slice(0, star + 1)) && type.length > star + 1 + suffix.length && type.endsWith(suffix);
}

const at = "body";

/**
 * What a shape reads of a body. A member that reads as `undefined` is left out, so of a shape whose members are all optional, as
 * `v.partial` makes, none is `undefined`: `{ ...note, ...change }` then compiles with `exactOptionalPropertyTypes`.
 */
type ReadOf<S extends AnyShape> = S extends AllOptional ? WithoutUndefined<ValueOf<S>> : ValueOf<S>;
// By its entries: to ask whether `{}` is its value costs the compiler 11 instantiations a route, and this 6.
interface AllOptional {
  readonly entries: { readonly [name: string]: { readonly type: "optional" | "exact_optional" } };
}
// An intersection: in a generic helper it is still assignable to the shape's value.
type WithoutUndefined<A> = A & { readonly [K in keyof A]: Exclude<A[K], undefined> };

/**
 * The whole body as JSON, validated by a shape, or by a schema of another library, which may use promises. An invalid body is
 * a 400 with its problems, up to the app's `maxProblems`. Another `Content-Type` is a 415 before the body is read. No body
 * reads as `{}`.
 *
 * @param options `refusal` answers an invalid body in place of the problems, of which the first 100 are logged: with the names of the
 *   schema, and `(unknown)` for others. `examples`
 *   are bodies for the API document, as they are sent.
 */
export function json<S extends AnyShape>(
  shape: S,
  options?: { readonly examples?: readonly NoInfer<JsonOf<S>>[] },
): Dep<ReadOf<S>, never, { json: JsonOf<S> }>;
export function json<S extends AnyShape, const Name extends string>(
  shape: S,
  options: { readonly refusal: readonly [Code<Name>, string]; readonly examples?: readonly NoInfer<JsonOf<S>>[] },
): Dep<ReadOf<S>, Name, { json: JsonOf<S> }>;
export function json<S extends StandardSchema, const Name extends string = never>(
  schema: S,
  options?: { readonly refusal?: readonly [Code<Name>, string]; readonly examples?: readonly NoInfer<InputOf<S>>[] },
): Dep<OutputOf<S>, Name, { json: InputOf<S> }>;
// For errors: of four overloads a compiler reports the last alone; of three, TypeScript 5.9 reports each.
export function json<S extends AnyShape>(
  shape: S,
  options?: { readonly examples?: readonly NoInfer<JsonOf<S>>[] },
): Dep<ValueOf<S>, never, { json: JsonOf<S> }>;
// No schema reaches it that the others take.
export function json<S, const Name extends string = never>(
  schema: S extends AnyStandard
    ? S
    : "Write a schema, such as v.object({ name: v.string() }): `json` reads a body. A handler returns its value itself.",
  options?: {
    readonly refusal?: readonly [Code<Name>, string];
    readonly examples?: readonly NoInfer<
      S extends AnyShape ? JsonOf<S> : S extends StandardSchema ? InputOf<S> : never
    >[];
  },
): Dep<never, Name, { json: never }>;
export function json(
  shape: AnyStandard,
  options: { readonly refusal?: readonly [Code, string]; readonly examples?: readonly unknown[] } = {},
): Dep<never, never, never> {
  needsOptions("json", options, "refusal examples");
  const { refusal, examples = [] } = options;
  needs(Array.isArray(examples), "json: examples", examples, "a list");
  needs(refusal === undefined || Array.isArray(refusal), "json: refusal", refusal, "a code and its sentence");
  const node: DepNode = {
    from: [],
    codes: refusal === undefined ? [unsupportedMediaType] : [unsupportedMediaType, refusal[0]],
    body: bodyNeed({ as: "json", shape, examples }),
    before: () => checkJsonType,
    compile: () => {
      const reader = compileReader(shape);
      const take = (read: ReadJson<unknown>): unknown => {
        if (read.ok) return read.value;
        const { error, more } = read;
        if (refusal === undefined) return invalidRefusal(error, undefined, more);
        const [code, sentence] = refusal;
        return new Refusal(code, sentence, { detail: inOneLine(error, more) });
      };
      return (request) => {
        const read = reader.readBody(request.text ?? request.bytes, at, request.maxProblems);
        return read instanceof Promise ? read.then(take) : take(read);
      };
    },
  };
  return noted({ node });
}

// An absent `Content-Type` passes: the client may still send JSON.
function checkJsonType(request: InputRequest): Refusal | undefined {
  const lines = request.lines("content-type");
  if (lines.length === 0) return undefined;
  const [line = ""] = lines;
  if (lines.length === 1 && (line === "application/json" || isJson(line))) return undefined;
  return unsupported(["application/json"]);
}

function isJson(line: string): boolean {
  const type = mediaTypeOf(line);
  return type !== undefined && (type === "application/json" || /^application\/.+\+json$/.test(type));
}

/** A body for `fetch`. */
export type BodyToSend = string | Uint8Array | Blob | FormData | URLSearchParams | ReadableStream<Uint8Array>;

/** A client's body: its type is the body's own (a `Blob`, a form) or the header's. */
export interface BodySent {
  /** The body, as `fetch` takes it. */
  body: BodyToSend;
  /** The content type, where the body has none of its own. */
  headers?: { "content-type"?: string | undefined };
}

/** The whole body, up to the app's `maxBody`; empty without a body. */
export const body: Dep<Uint8Array, never, BodySent> = {
  node: { from: [], body: /* @__PURE__ */ bodyNeed({ as: "bytes" }), compile: () => (request) => request.bytes },
};

/**
 * Reads the whole body and parses it. `contentTypes` are `type/subtype`, `type/*` or `type/*+suffix`. Another
 * `Content-Type`, or none, is a 415 before the body is read.
 */
export function ofBody<A = never, C extends string = never, N extends string = never>(
  options: { readonly contentTypes: readonly string[]; readonly refuses?: readonly Code<C>[] },
  parse: (body: Uint8Array) => Joining<A, N, C>,
): Dep<Exclude<A, Problem>, NoInfer<C>, BodySent> {
  needsOptions("Dep.ofBody", options, "contentTypes refuses");
  const { contentTypes, refuses = [] } = options;
  needsTexts("Dep.ofBody: contentTypes", contentTypes);
  needs(Array.isArray(refuses), "Dep.ofBody: refuses", refuses, "a list");
  needsFunction("Dep.ofBody: its block", parse);
  return noted({
    node: {
      from: [],
      codes: [unsupportedMediaType, ...refuses],
      body: bodyNeed({ as: "bytes", contentTypes }),
      check: () => wrongContentTypes(contentTypes),
      before: () => (request) => checkContentType(request, contentTypes),
      compile: () => (request) => parse(request.bytes),
    },
  });
}

/** The options of a streamed body. */
export interface BodyStreamOptions {
  /** The body's limit in bytes; the app's `maxBody` does not apply. */
  readonly max: number;
  /** `type/subtype`, `type/*` or `type/*+suffix`. Any other, or none, is a 415 before the body is read. */
  readonly contentTypes?: readonly string[];
}

/**
 * The body as a stream, never buffered whole. It can be read only while the handler runs: a later read fails, and the unread
 * rest is dropped.
 *
 * @example
 * ```ts
 * const upload = bodyStream({ max: 1 << 30, contentTypes: ["image/*"] });
 * const store = post(Path.of("images"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
 *   let bytes = 0;
 *   for await (const part of upload) bytes += part.byteLength;
 *   return `${bytes} bytes`;
 * });
 * ```
 */
export function bodyStream(options: BodyStreamOptions): Dep<Body, never, BodySent> {
  needsOptions("bodyStream", options, "max contentTypes");
  const { max, contentTypes } = options;
  if (contentTypes !== undefined) needsTexts("bodyStream: contentTypes", contentTypes);
  return {
    node: {
      from: [],
      body: bodyNeed({ as: "stream", max, ...(contentTypes === undefined ? {} : { contentTypes }) }),
      ...(contentTypes === undefined
        ? {}
        : { codes: [unsupportedMediaType], before: () => (request) => checkContentType(request, contentTypes) }),
      check: () => [...wrongMax(max), ...wrongContentTypes(contentTypes)],
      compile: () => (request) => request.openBody((source, holder) => new BodyReader(source, max, holder)),
    },
  };
}
