/** The namespace `Compress`. */
import { isStream } from "../../src/doors/answers.ts";
import type { Answer, AnswerBody, RevisedRequest } from "../../src/doors/answers.ts";
import type { Middleware } from "../../src/doors/apps.ts";
import { preferredCoding } from "../../src/doors/codecs.ts";
import { isListOf, needs, needsOptions, needsTexts } from "../../src/arguments.ts";
import { chain } from "../../src/doors/base.ts";
import type { MaybePromise } from "../../src/doors/base.ts";
import { fieldValue, lists } from "../../src/doors/http.ts";
import { isTypeOf } from "../../src/doors/inputs.ts";
import { key } from "../../src/doors/routing.ts";
import type { MetaKey } from "../../src/doors/routing.ts";
import { compressBytes, compressLater, compressStream, encodings, longBytes } from "./codings.ts";
import type { Coding } from "./codings.ts";
import { turns } from "./turns.ts";

/** The options of `Compress.make`. */
export interface CompressOptions {
  /** A shorter body is sent as it is: 1024 bytes by default. */
  readonly minBytes?: number;
  /** 1, fast, to 9, small, for gzip: 6 by default. Brotli and zstd use a level of about the same cost. */
  readonly level?: number;
  /**
   * The types that are compressed: `text/html`, every subtype `text/*`, or a suffix `application/*+json`. By default text, JSON,
   * XML, JavaScript and SVG.
   */
  readonly types?: readonly string[];
  /** What is offered, the preferred one first where a client likes several equally: `["gzip", "br", "zstd"]` by default. */
  readonly encodings?: readonly Coding[];
}

/** Whether a route's answers are never compressed, as where they have a secret next to what a caller sent (BREACH). */
export const never: MetaKey<boolean> = key("never compressed");

const defaultTypes = [
  "text/*",
  "application/json",
  "application/*+json",
  "application/x-ndjson",
  "application/xml",
  "application/*+xml",
  "application/javascript",
  "image/svg+xml",
];

/**
 * Middleware that compresses answers by `Accept-Encoding` (RFC 9110 §12.5.3), with `Vary` and an `ETag` of its own for each
 * coding. It leaves alone what is short, compressed, a part of something, or marked `no-transform`. A stream is compressed by gzip
 * as it is made: a client can read each part, and each event, when it arrives.
 *
 * @throws Error for an option out of range.
 *
 * @example
 * ```ts
 * await serve(routes, { port: 8080, middleware: [Compress.make()] });
 * ```
 */
export function make(options: CompressOptions = {}): Middleware {
  const settings = settingsOf(options);
  return async (request, next) => {
    const answer = await next();
    if (request.route?.meta.find(never) === true) return answer;
    const { revise } = answer;
    return { ...answer, revise: (request, sent) => compressed(request, sent, revise, settings) };
  };
}

interface Settings {
  readonly minBytes: number;
  readonly level: number;
  readonly types: readonly string[];
  readonly encodings: readonly Coding[];
}

function settingsOf(options: CompressOptions): Settings {
  needsOptions("Compress.make", options, "minBytes level types encodings");
  const { minBytes = 1024, level = 6, types = defaultTypes, encodings: offered = encodings } = options;
  needs(Number.isSafeInteger(minBytes) && minBytes >= 0, "Compress.make: minBytes", minBytes, "a number of bytes");
  needs(
    Number.isInteger(level) && level >= 1 && level <= 9,
    "Compress.make: level",
    level,
    "a whole number from 1 to 9",
  );
  needsTexts("Compress.make: types", types);
  const known = isListOf(offered, (one) => ["gzip", "br", "zstd"].includes(one as string));
  needs(known, "Compress.make: encodings", offered, 'a list of "gzip", "br" and "zstd"');
  // A runtime may lack zstd.
  return {
    minBytes,
    level,
    types,
    encodings: offered.filter((one) => encodings.includes(one)),
  };
}

/** The answer as it is sent: conditions and ranges first, then its coding. */
function compressed(
  request: RevisedRequest,
  answer: Answer,
  revise: Answer["revise"],
  settings: Settings,
): MaybePromise<Answer> {
  if (answer.status === 304)
    return chain(revise?.(request, answer) ?? answer, (revised) => withTagOfClient(request, revised));
  if (!isTypeOf(settings.types, answer.contentType ?? "")) return revise?.(request, answer) ?? answer;
  if (isHeadOfPassed(request, answer))
    return chain(revise?.(request, answer) ?? answer, (revised) => headOfPassed(request, revised, settings));
  if (hasOwnCoding(answer)) return revise?.(request, answer) ?? answer;
  // A stream's state is kept as long as its client stays: gzip's is 4 KiB, and brotli's is megabytes.
  const offered = isStream(answer.body) ? settings.encodings.filter((one) => one === "gzip") : settings.encodings;
  const coding = preferredCoding(fieldValue(request.lines("accept-encoding")), offered);
  const revising = revise?.(coding === undefined ? request : withoutCoding(request, coding), answer) ?? answer;
  return chain(revising, (revised) => inCoding(request, answer, revised, coding, settings));
}

function inCoding(
  request: RevisedRequest,
  answer: Answer,
  revised: Answer,
  coding: Coding | undefined,
  settings: Settings,
): MaybePromise<Answer> {
  const varying = withVary(revised);
  if (coding === undefined || !isLongEnough(answer.body, settings.minBytes)) return varying;
  if (revised.status === 304) return withCodingsTag(varying, coding);
  if (revised.status === 206 || revised.status === 204 || revised.body === undefined) return varying;
  // A refusal in its place is short.
  return revised.body === answer.body ? encoded(request, varying, coding, settings.level) : varying;
}

/** Whether other code answered a HEAD, by a head alone. */
function isHeadOfPassed(request: RevisedRequest, { status, headers, body, passed }: Answer): boolean {
  const mayHaveBody = status !== 204 && status !== 206;
  return request.method === "HEAD" && body === undefined && passed !== undefined && mayHaveBody && !isCoded(headers);
}

/**
 * Whether its GET is compressed depends on how the body comes: a whole one is, and one of a given length that comes in parts is not. So
 * the head has nothing that may be of the other one: neither the length nor the tag (RFC 9110 §9.3.2).
 */
function headOfPassed(request: RevisedRequest, answer: Answer, settings: Settings): Answer {
  const varying = withVary(answer);
  const { length = settings.minBytes } = answer.passed ?? {};
  const coding = preferredCoding(fieldValue(request.lines("accept-encoding")), settings.encodings);
  if (answer.status === 304 || coding === undefined || length < settings.minBytes) return varying;
  const headers = varying.headers.filter(([name]) => !["etag", "accept-ranges"].includes(name.toLowerCase()));
  return { ...varying, headers, passed: { length: undefined } };
}

/** What says that this is compressed already, or that it must stay as it is. */
function hasOwnCoding({ status, headers, body }: Answer): boolean {
  if (status === 206 || status === 204 || status === 304 || body === undefined) return true;
  if (typeof body === "object" && !isStream(body) && !ArrayBuffer.isView(body)) return true;
  // A length says that the bytes are those of a file.
  if (isStream(body) && body.length !== undefined) return true;
  return isCoded(headers);
}

function isCoded(headers: Answer["headers"]): boolean {
  return headers.some(([name, value]) => {
    const lower = name.toLowerCase();
    return lower === "content-encoding" || (lower === "cache-control" && lists([value], "no-transform"));
  });
}

function isLongEnough(body: AnswerBody, minBytes: number): boolean {
  if (typeof body === "string") return body.length >= minBytes || Buffer.byteLength(body) >= minBytes;
  return ArrayBuffer.isView(body) ? body.byteLength >= minBytes : true;
}

/** The fields of conditions that have entity tags. `If-Range` stays: no part of the plain body continues a compressed one. */
const withTags: ReadonlySet<string> = new Set(["if-match", "if-none-match"]);

/** The request, whose conditions name the tags of the plain body. */
function withoutCoding(request: RevisedRequest, coding: Coding): RevisedRequest {
  return {
    method: request.method,
    now: request.now,
    network: request.network,
    get gone() {
      return request.gone;
    },
    lines: (name) => {
      const lines = request.lines(name);
      return withTags.has(name) ? lines.map((line) => line.replaceAll(`-${coding}"`, '"')) : lines;
    },
  };
}

/** A 304 of other code, with the tag of the response that the client has: RFC 9111 §4.3.4 updates no response of another tag. */
function withTagOfClient(request: RevisedRequest, answer: Answer): Answer {
  const listed = fieldValue(request.lines("if-none-match")) ?? "";
  const etag = answer.headers.find(([name]) => name.toLowerCase() === "etag")?.[1];
  if (etag === undefined || listed.includes(etag)) return answer;
  const coding = encodings.find((coding) => listed.includes(etag.replace(/"$/, `-${coding}"`)));
  return coding === undefined ? answer : withCodingsTag(answer, coding);
}

function withCodingsTag(answer: Answer, coding: Coding): Answer {
  const headers = answer.headers.map(([name, value]) => {
    return name.toLowerCase() === "etag"
      ? ([name, value.replace(/"$/, `-${coding}"`)] as const)
      : ([name, value] as const);
  });
  return { ...answer, headers };
}

/** `Vary` with `Accept-Encoding`, once. */
function withVary(answer: Answer): Answer {
  const field = answer.headers.find(([name]) => name.toLowerCase() === "vary");
  if (field !== undefined && (lists([field[1]], "accept-encoding") || lists([field[1]], "*"))) return answer;
  const others = answer.headers.filter((header) => header !== field);
  const names = field === undefined ? "Accept-Encoding" : `${field[1]}, Accept-Encoding`;
  return { ...answer, headers: [...others, ["vary", names]] };
}

function encoded(request: RevisedRequest, answer: Answer, coding: Coding, level: number): MaybePromise<Answer> {
  const { body } = answer;
  const tagged = withCodingsTag(answer, coding);
  // Its parts would be parts of the plain body.
  const headers = tagged.headers.filter(([name]) => name.toLowerCase() !== "accept-ranges");
  headers.push(["content-encoding", coding]);
  if (isStream(body)) return { ...tagged, headers, body: compressStream(body, level, request.network) };
  const bytes = typeof body === "string" ? Buffer.from(body) : (body as Uint8Array);
  if (bytes.byteLength <= longBytes) return { ...tagged, headers, body: compressBytes(bytes, coding, level) };
  const { gone, network = "" } = request;
  const compressing = turns.run(network, true, () => compressLater(bytes, coding, level, gone));
  // Where too many wait, it is sent as it is: that costs bytes, and no time.
  return compressing.then((body) => (body === undefined ? answer : { ...tagged, headers, body }));
}
