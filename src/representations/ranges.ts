/** Parts of a representation (RFC 9110 §14). */
import type { Answer, AnswerBody, RevisedRequest } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import type { AnswerOptions } from "../answers/makers.ts";
import { byteRanges } from "../codecs/conditions.ts";
import type { ByteRange } from "../codecs/conditions.ts";
import { isObject, needs, needsOptions, needsText } from "../arguments.ts";
import { isBytes } from "../http/bytes.ts";
import { contentDisposition } from "../http/disposition.ts";
import { stripped } from "../http/fields.ts";
import { iteratorOf } from "../node-stream.ts";
import { Refusal, InvalidAnswerError, none } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { conditionally, versionIn, withVersionHeaders } from "./conditional.ts";
import { isSameRepresentation, versionOf } from "./preconditions.ts";
import type { Validators, Version } from "./preconditions.ts";

/** No byte of the content is in the ranges that the request names: 416, with `Content-Range: bytes *` and the length. */
export const rangeNotSatisfiable: Code<"range_not_satisfiable"> = Refusal.code("range_not_satisfiable", {
  status: 416,
  doc: "No byte is in the ranges that Range names; Content-Range says how many there are.",
});

/** Content that can be read from any byte on. */
export interface RangedSource {
  /** Bytes. */
  readonly length: number;
  /**
   * Opens the bytes from `first` to `last`, both included. It is called when they are sent, once for each range. What it opens
   * is closed by `return` of its iterator, or by `cancel`, also where the client leaves.
   */
  readonly read: (first: number, last: number) => ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** The options of an answer with ranges: its validators let a client continue a download of the same version. */
export interface RangedOptions extends Omit<AnswerOptions, "status">, Validators {
  /** `application/octet-stream` unless set. */
  readonly contentType?: string;
  /** Lets a browser save it as a file of that name, of any characters: as of {@link Answer.make}. */
  readonly download?: string;
}

/**
 * A 200 of which a client may ask for parts by `Range`: 206 with one part, or with several as `multipart/byteranges`, and 416
 * where no byte is in them. Conditions come first, as of {@link Conditional.answer}, and `If-Range` last.
 *
 * Parts that overlap, or are near each other, are sent as one. More than 50 parts are answered with the whole.
 *
 * @throws Error for a length, a tag or a date that no header can have.
 *
 * @example
 * ```ts
 * const video = get(Path.of("video"), { returns: Returns.response }, async () => {
 *   const { size, mtime } = await stat("video.mp4");
 *   const read = (start: number, end: number) => createReadStream("video.mp4", { start, end });
 *   return Conditional.ranged({ length: size, read }, { contentType: "video/mp4", lastModified: mtime });
 * });
 * ```
 */
export function ranged(content: Uint8Array | RangedSource, options: RangedOptions = {}): Answer {
  needsOptions("Conditional.ranged", options, "contentType download headers cookies etag lastModified");
  const source = isBytes(content) ? content : sourceOf(content);
  const version = versionOf(options, "Conditional.ranged: options");
  const { contentType = "application/octet-stream", download, headers, cookies = none } = options;
  const whole = rangeBody(source, { first: 0, last: lengthOf(source) - 1 });
  const answer: Answer = {
    status: 200,
    contentType,
    headers: [["accept-ranges", "bytes"], ...namedBy(download), ...(headers ?? [])],
    cookies,
    body: whole,
    closes: false,
  };
  const versioned = withVersionHeaders(answer, version);
  return {
    ...versioned,
    revise: (request, sent) => {
      // Others may have given it validators.
      const current = sent.headers === versioned.headers ? version : versionIn(sent);
      const revised = conditionally(request, sent, current);
      // Middleware may have put another body in its place.
      return revised === sent && sent.body === whole ? partly(request, sent, source, current) : revised;
    },
  };
}

function namedBy(download: string | undefined): Answer["headers"] {
  if (download === undefined) return none;
  needsText("Conditional.ranged: download", download);
  return [["content-disposition", contentDisposition(download)]];
}

function sourceOf(content: unknown): RangedSource {
  needs(isObject(content), "Conditional.ranged: content", content, "bytes, or an object with `length` and `read`");
  const { length, read } = content as { readonly length?: unknown; readonly read?: unknown };
  needs(Number.isSafeInteger(length) && (length as number) >= 0, "Conditional.ranged: length", length, "bytes");
  needs(typeof read === "function", "Conditional.ranged: read", read, "a function");
  return content as RangedSource;
}

function lengthOf(source: Uint8Array | RangedSource): number {
  return isBytes(source) ? source.byteLength : source.length;
}

/** A range of content that exists: both ends are included. */
interface Extent {
  readonly first: number;
  readonly last: number;
}

/** What is sent of a 200: the whole, the parts that `Range` names, or a 416. */
function partly(request: RevisedRequest, answer: Answer, source: Uint8Array | RangedSource, version: Version): Answer {
  const length = lengthOf(source);
  const wanted = rangesOf(request);
  if (wanted === undefined || length === 0 || answer.status !== 200 || !isSameRepresentation(request, version)) {
    return answer;
  }
  const parts = mergeExtents(wanted.flatMap((range) => partOf(range, length)));
  if (parts.length > maxParts) return answer;
  const [first] = parts;
  if (first === undefined) return notSatisfiable(length);
  return parts.length === 1 ? onePart(answer, source, first) : severalParts(answer, source, parts);
}

/** The ranges of bytes that a GET wants; undefined where it wants the whole, and for what it cannot want (§14.2). */
function rangesOf(request: RevisedRequest): readonly ByteRange[] | undefined {
  const lines = request.method === "GET" ? request.lines("range") : none;
  const [line] = lines;
  if (line === undefined || lines.length > 1) return undefined;
  const read = byteRanges.parse(stripped(line));
  return read.ok ? read.value.ranges : undefined;
}

function partOf(range: ByteRange, length: number): readonly Extent[] {
  const first = "suffix" in range ? Math.max(0, length - range.suffix) : range.first;
  const last = "suffix" in range ? length - 1 : Math.min(range.last ?? length - 1, length - 1);
  return first <= last ? [{ first, last }] : [];
}

const maxParts = 50;
/** Fewer bytes between two parts are sent with them: the head of a part takes about as many. */
const nearBytes = 80;

/**
 * The parts, those that overlap or are near each other as one, in the order of the client (RFC 9110 §15.3.7.2).
 * So nothing is sent twice: a request of a few bytes cannot make the server send a file many times.
 */
function mergeExtents(parts: readonly Extent[]): readonly Extent[] {
  const ordered = parts.map((part, place) => ({ ...part, place })).toSorted((one, other) => one.first - other.first);
  const joined: { first: number; last: number; place: number }[] = [];
  for (const part of ordered) {
    const before = joined.at(-1);
    if (before === undefined || part.first - before.last > nearBytes) {
      joined.push(part);
    } else {
      before.last = Math.max(before.last, part.last);
      before.place = Math.min(before.place, part.place);
    }
  }
  return joined.toSorted((one, other) => one.place - other.place);
}

function notSatisfiable(length: number): Answer {
  const headers = [
    ["content-range", `bytes */${length}`],
    ["accept-ranges", "bytes"],
  ] as const;
  return refusalAnswer(new Refusal(rangeNotSatisfiable, "That part of it does not exist.", { headers }));
}

function onePart(answer: Answer, source: Uint8Array | RangedSource, part: Extent): Answer {
  const headers = [["content-range", contentRange(part, lengthOf(source))] as const, ...answer.headers];
  return withoutRevision({ ...answer, status: 206, headers, body: rangeBody(source, part) });
}

function severalParts(answer: Answer, source: Uint8Array | RangedSource, parts: readonly Extent[]): Answer {
  const boundary = crypto.randomUUID();
  const type = answer.contentType ?? "application/octet-stream";
  const total = lengthOf(source);
  const heads = parts.map(
    (part) => `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${contentRange(part, total)}\r\n\r\n`,
  );
  const end = `\r\n--${boundary}--\r\n`;
  const length = [...heads, end].reduce((sum, text) => sum + text.length, 0) + partsLength(parts);
  const texts = { heads, end };
  const written = { [Symbol.asyncIterator]: () => new MultipartRanges(source, parts, texts) };
  const body: AnswerBody = { kind: "stream", parts: written, length };
  return withoutRevision({ ...answer, status: 206, contentType: `multipart/byteranges; boundary=${boundary}`, body });
}

function withoutRevision({ status, contentType, headers, cookies, body, closes }: Answer): Answer {
  return { status, ...(contentType === undefined ? {} : { contentType }), headers, cookies, body, closes };
}

function partsLength(parts: readonly Extent[]): number {
  return parts.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

function contentRange({ first, last }: Extent, length: number): string {
  return `bytes ${first}-${last}/${length}`;
}

/** The bytes of a part. A source is opened when they are sent. */
function rangeBody(source: Uint8Array | RangedSource, part: Extent): AnswerBody {
  if (isBytes(source)) return source.subarray(part.first, part.last + 1);
  const parts = { [Symbol.asyncIterator]: () => opened(source, part) };
  return { kind: "stream", parts, length: part.last - part.first + 1 };
}

function opened(source: RangedSource, { first, last }: Extent): AsyncIterator<Uint8Array> {
  return first > last ? noBytes() : iteratorOf(source.read(first, last) as AsyncIterable<Uint8Array>);
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const encoder = /* @__PURE__ */ new TextEncoder();

interface RangeTexts {
  /** One for each part. */
  readonly heads: readonly string[];
  readonly end: string;
}

/** The body of a `multipart/byteranges`: each part after its head. No generator: its `return` would wait for a pending `next`. */
class MultipartRanges implements AsyncIterator<Uint8Array> {
  readonly #source: Uint8Array | RangedSource;
  readonly #parts: readonly Extent[];
  readonly #texts: RangeTexts;
  #next = 0;
  #current: AsyncIterator<Uint8Array> | undefined = undefined;
  #left = 0;

  constructor(source: Uint8Array | RangedSource, parts: readonly Extent[], texts: RangeTexts) {
    this.#source = source;
    this.#parts = parts;
    this.#texts = texts;
  }

  /** The bytes of a part are counted, since the head of the next one follows. */
  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#current !== undefined) {
      const { done, value } = await this.#current.next();
      this.#left -= done === true ? 0 : value.byteLength;
      if (done === true ? this.#left !== 0 : this.#left < 0) {
        throw new InvalidAnswerError("a range of fewer or more bytes than its source should have");
      }
      if (done !== true) return { done: false, value };
      this.#current = undefined;
    }
    if (this.#next > this.#parts.length) return { done: true, value: undefined };
    const index = this.#next++;
    const part = this.#parts[index];
    if (part === undefined) return { done: false, value: encoder.encode(this.#texts.end) };
    this.#left = part.last - part.first + 1;
    this.#current = isBytes(this.#source) ? sliceOf(this.#source, part) : opened(this.#source, part);
    return { done: false, value: encoder.encode(this.#texts.heads[index]) };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    await this.#current?.return?.();
    return { done: true, value: undefined };
  }
}

async function* sliceOf(bytes: Uint8Array, { first, last }: Extent): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(first, last + 1);
}
