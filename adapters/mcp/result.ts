/** The answer of a route as the result of its tool. Results are members of a JSON object, as text. */
import { isStream } from "../../src/doors/answers.ts";
import { isEventStream } from "../../src/app/exchange.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import type { InnerCalls } from "../../src/app/inner-call.ts";
import { andThen } from "../../src/doors/base.ts";
import { EventReader } from "../../src/doors/events.ts";
import type { ReadEvent, OpenStream } from "../../src/doors/events.ts";
import { isRecord } from "../../src/arguments.ts";
import { byteLength, encodeBase64, stripped } from "../../src/doors/http.ts";
import { joined } from "../../src/doors/inputs.ts";
import { resultMember } from "../../src/openapi/tool-schemas.ts";
import { internal, refuse, tooLarge } from "../../src/refusals.ts";
import type { Refusal } from "../../src/refusals.ts";
import type { CompiledTool } from "./tool.ts";

/** How much of an answer is read. */
export interface BodyReadOptions {
  /** The most bytes of an answer. */
  readonly maxAnswer: number;
  /** Aborts where the call is cancelled: what is left of a stream is then not read. */
  readonly gone: () => AbortSignal;
}

/** What a result is made for. */
export interface ResultOptions extends BodyReadOptions {
  /** Whether middleware may have answered in place of the route, and with anything. */
  readonly hasMiddleware: boolean;
  /** A refusal of the framework's own, in the format and the language of those of routes. */
  readonly writeRefusal: WriteRefusal;
  /** Receives each event of a stream, which the result then does not have. */
  readonly onEvent?: ((event: ReadEvent, count: number) => Promise<void>) | undefined;
}

export type WriteRefusal = InnerCalls["refusal"];

/** The members of a result of a tool: at once, unless the answer is a stream. */
export function toolResult(
  tool: CompiledTool,
  target: string,
  sent: WireResponse,
  options: ResultOptions,
): string | Promise<string> {
  const result = readResult(tool, target, sent, options);
  return typeof result === "string" ? result : result.catch((thrown: unknown) => brokenResult(thrown, options));
}

/** As where a route throws before it answers. */
function brokenResult(thrown: unknown, { writeRefusal }: ResultOptions): string {
  if (thrown instanceof BrokenStream) return failure(writeRefusal, refuse(internal));
  throw thrown;
}

function readResult(
  tool: CompiledTool,
  target: string,
  sent: WireResponse,
  options: ResultOptions,
): string | Promise<string> {
  const type = answerTypeOf(sent);
  if (isStream(sent.body) && isEventStream(sent) && !isCoded(sent)) return eventsResult(sent.body, options);
  const { hasMiddleware, writeRefusal } = options;
  const head = { target, sent, type, hasMiddleware };
  return andThen(readBody(sent.body, options), (read) =>
    read === undefined ? tooLong(writeRefusal) : resultOf(tool, head, read),
  );
}

/** An answer of a route, except its body. */
interface AnswerHead {
  readonly target: string;
  readonly sent: WireResponse;
  readonly type: string;
  readonly hasMiddleware: boolean;
}

function resultOf(
  tool: CompiledTool,
  { target, sent, type, hasMiddleware }: AnswerHead,
  read: string | Uint8Array,
): string {
  if (sent.status >= 400) return refusalResult(tool, read, type, target);
  const hasSchema = tool.schemas.output !== undefined;
  const isStructured = hasSchema && jsonTypes.test(type);
  // No line is a list of none.
  if (read.length === 0 && !(isStructured && tool.isLines)) return textResult(emptyText(sent), hasSchema);
  if (isStructured) return structuredResult(tool, textOf(read), hasMiddleware);
  // Clients throw for a success without structured content where there is a schema for it.
  return `"content":[${contentOf(read, type, target)}]${hasSchema ? ',"isError":true' : ""}`;
}

function headerOf({ head }: WireResponse, name: string): string | undefined {
  for (let i = 0; i < head.length; i += 2) if (head[i] === name) return head[i + 1];
  return undefined;
}

/** The type of an answer as it is read. With a content coding it is bytes: no coding is removed here. */
export function answerTypeOf(sent: WireResponse): string {
  return isCoded(sent) ? "application/octet-stream" : (headerOf(sent, "content-type") ?? "");
}

function isCoded(sent: WireResponse): boolean {
  return (headerOf(sent, "content-encoding") ?? "identity").toLowerCase() !== "identity";
}

/** A result with one text. */
function textResult(text: string, isError = false): string {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}]${isError ? ',"isError":true' : ""}`;
}

/** A refusal of our own, as those of a route are. */
export function failure(write: WriteRefusal, refusal: Refusal): string {
  const { body, contentType = "" } = write(refusal);
  const read = typeof body === "string" || body instanceof Uint8Array ? body : "";
  return `"content":[${contentOf(read, contentType, "/")}],"isError":true`;
}

function tooLong(write: WriteRefusal): string {
  return failure(write, refuse(tooLarge, "The answer is longer than a tool may give."));
}

/** The text of JSON is taken as it is: parsed and written again, a whole number past 2^53 would lose digits. */
function structuredResult({ schemas, isLines }: CompiledTool, text: string, hasMiddleware: boolean): string {
  const json = isLines
    ? `[${text
        .split("\n")
        .filter((line) => line !== "")
        .join(",")}]`
    : text;
  // The route's own JSON is not parsed: 60 µs for an answer of 7 kB.
  if (hasMiddleware && !fits(json, schemas.isWrapped)) return textResult(text, true);
  // Standard input and output end a message at a line feed. In JSON one stands only between values, as a space may.
  const line = hasMiddleware ? json.replaceAll(/[\r\n]/g, " ") : json;
  const structured = schemas.isWrapped ? `{"${resultMember}":${line}}` : line;
  return `${textResult(json)},"structuredContent":${structured}`;
}

function fits(json: string, isWrapped: boolean): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return isWrapped || isRecord(value);
  } catch {
    return false;
  }
}

/** A refusal, whose problems name the tool's members. In a format of the app's own it stays as it is. */
function refusalResult({ maker }: CompiledTool, read: string | Uint8Array, type: string, target: string): string {
  if (!type.startsWith("application/json")) return `"content":[${contentOf(read, type, target)}],"isError":true`;
  const text = textOf(read);
  let refusal: unknown;
  try {
    refusal = JSON.parse(text);
  } catch {
    return textResult(text, true);
  }
  if (!isRecord(refusal) || !Array.isArray(refusal["problems"])) return textResult(text, true);
  const problems = refusal["problems"].map((problem: unknown) =>
    isRecord(problem) && typeof problem["at"] === "string" ? { ...problem, at: maker.placeOf(problem["at"]) } : problem,
  );
  return textResult(JSON.stringify({ ...refusal, problems }), true);
}

function emptyText(sent: WireResponse): string {
  const location = headerOf(sent, "location");
  return location === undefined ? `Done: status ${sent.status}, no content.` : `Status ${sent.status}, see ${location}`;
}

const textTypes = /^text\/|^application\/(?:[\w.+-]+\+)?(?:json|xml|javascript|x-ndjson)\b/i;

const jsonTypes = /^application\/(?:[\w.+-]+\+)?(?:json|x-ndjson)\b/i;

/** A body as a block of content. */
function contentOf(read: string | Uint8Array, type: string, target: string): string {
  const mimeType = mediaTypeOf(type);
  if (typeof read === "string" || textTypes.test(type)) {
    return `{"type":"text","text":${JSON.stringify(textOf(read))}}`;
  }
  const kind = /^(image|audio)\//.exec(mimeType)?.[1];
  if (kind !== undefined) return JSON.stringify({ type: kind, data: encodeBase64(read), mimeType });
  return JSON.stringify({ type: "resource", resource: { uri: uriOf(target), ...blobOf(read, mimeType) } });
}

export function blobOf(read: Uint8Array, mimeType: string): object {
  return { ...(mimeType === "" ? {} : { mimeType }), blob: encodeBase64(read) };
}

/** A path of the app as a URI. */
function uriOf(target: string): string {
  return `app://${target}`;
}

/** A content type without its parameters. */
export function mediaTypeOf(type: string): string {
  return stripped(type.split(";")[0] as string);
}

export function isTextType(type: string): boolean {
  return textTypes.test(type);
}

const decoder = new TextDecoder();

export function textOf(read: string | Uint8Array): string {
  return typeof read === "string" ? read : decoder.decode(read);
}

type Read = string | Uint8Array | undefined;

/** Reads a body to its end; undefined where it is longer, or the call is cancelled: the client then ignores the answer. */
export function readBody(body: WireResponse["body"], options: BodyReadOptions): Read | Promise<Read> {
  if (isStream(body)) return readWhole(body, options);
  return body !== undefined && isLonger(body, options.maxAnswer) ? undefined : (body ?? "");
}

/** Whether it has more bytes. A unit of a text is three at most. */
function isLonger(body: string | Uint8Array, most: number): boolean {
  if (body.length > most || body.length * 3 <= most) return body.length > most;
  return typeof body === "string" && byteLength(body) > most;
}

async function readWhole(body: OpenStream, { maxAnswer, gone }: BodyReadOptions): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const isWhole = await readStream(body, gone(), async (part) => {
    parts.push(part);
    length += part.byteLength;
    return length <= maxAnswer;
  });
  return isWhole ? joined(parts, length) : undefined;
}

/** A route's stream threw, or had fewer or more bytes than its length. The reason is in the route's own log line. */
export class BrokenStream extends Error {}

/**
 * Reads a streamed body while `take` says so and the call is not cancelled. Answers whether its end was reached.
 *
 * @throws BrokenStream where the stream throws, or its length is another.
 */
async function readStream(
  body: OpenStream,
  gone: AbortSignal,
  take: (part: Uint8Array) => Promise<boolean>,
): Promise<boolean> {
  // The stream may wait for long, and not look at `clientGone`.
  const leave = (): void => body.end("client gone");
  if (gone.aborted) leave();
  gone.addEventListener("abort", leave);
  const { how } = await body.sendTo(take);
  gone.removeEventListener("abort", leave);
  if (how === "finished" || how === "client gone") return how === "finished";
  throw new BrokenStream();
}

/** The events of a stream: a list of them once it ends, or each as it comes. What is past the limit ends the stream. */
async function eventsResult(body: OpenStream, options: ResultOptions): Promise<string> {
  const { maxAnswer, gone, onEvent, writeRefusal } = options;
  const reader = new EventReader(maxAnswer);
  const events: string[] = [];
  let [count, length, isTooLong] = [0, 0, false];
  const isWhole = await readStream(body, gone(), async (part) => {
    length += part.byteLength;
    const read = eventsIn(reader, part);
    isTooLong = read === undefined;
    for (const event of read ?? []) {
      count++;
      if (onEvent === undefined) events.push(eventOf(event));
      else await onEvent(event, count);
    }
    return !isTooLong && (onEvent !== undefined || length <= maxAnswer);
  });
  if (onEvent !== undefined && isTooLong) return tooLong(writeRefusal);
  if (onEvent !== undefined) return textResult(JSON.stringify({ events: count }));
  return textResult(`{"events":[${events.join(",")}]${isWhole ? "" : ',"isCut":true'}}`);
}

/** The events that a part completes; undefined where one is longer than the reader takes. */
function eventsIn(reader: EventReader, part: Uint8Array): readonly ReadEvent[] | undefined {
  try {
    return reader.feed(part);
  } catch {
    return undefined;
  }
}

/** An event as JSON. Data that is JSON is taken as it is: parsed and written again, a whole number past 2^53 would lose digits. */
export function eventOf({ name, id, data }: ReadEvent): string {
  const head = JSON.stringify({ event: name, ...(id === undefined ? {} : { id }) }).slice(0, -1);
  return `${head},"data":${isJson(data) ? data : JSON.stringify(data)}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
