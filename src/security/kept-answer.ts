import { isStream } from "../answers/answer.ts";
import type { Answer, AnswerBody } from "../answers/answer.ts";
import { readParts, take } from "../events/stream.ts";
import type { Parts, StreamBody } from "../events/stream.ts";
import { isObject } from "../given.ts";
import { decode, decodeBase64url, encodeBase64url } from "../http/bytes.ts";
import { joined } from "../inputs/body-source.ts";
import { Refusal } from "../refusals.ts";

/** An answer to be sent, and the text that a store keeps of it. */
export interface Keepable {
  readonly answer: Answer;
  readonly text: string;
}

/** What is kept of an answer that is too long, or has no end: that there was one. */
const onlySent = "null";

/**
 * The text of an answer: its status, its headers and its body. Cookies are secrets of the one who gets the answer, and are not kept.
 * `Date` and `X-Request-Id` are those of the request that gets it. A body that is a stream is read for it.
 */
export async function keepable(answer: Answer, maxBytes: number): Promise<Keepable> {
  const read = await wholeBody(answer.body, maxBytes);
  const whole = read.body === answer.body ? answer : { ...answer, body: read.body };
  if (!read.isWhole) return { answer: whole, text: onlySent };
  const { status, contentType, headers, refused } = whole;
  const text = JSON.stringify({
    status,
    ...(contentType === undefined ? {} : { contentType }),
    headers,
    ...(refused === undefined ? {} : { refused: refused.code.name, message: refused.message }),
    ...bodyText(whole.body as string | Uint8Array | undefined),
  });
  return { answer: whole, text };
}

/** The answer of a kept text; undefined where it was too long, or is no answer. */
export function answerOf(text: string): Answer | undefined {
  try {
    const kept: unknown = JSON.parse(text);
    return isObject(kept) && Array.isArray(kept["headers"]) ? readAnswer(kept as unknown as KeptAnswer) : undefined;
  } catch {
    return undefined;
  }
}

/** The mark of an answer that was kept; Stripe's name for it. */
const replayed = ["idempotent-replayed", "true"] as const;

interface KeptAnswer {
  readonly status: number;
  readonly contentType?: string;
  readonly headers: Answer["headers"];
  readonly refused?: string;
  readonly message?: string;
  readonly body?: string;
  readonly bytes?: string;
}

function readAnswer({ status, contentType, headers, refused, message = "", body, bytes }: KeptAnswer): Answer {
  return {
    status,
    ...(contentType === undefined ? {} : { contentType }),
    headers: [...headers, replayed],
    cookies: [],
    body: body ?? (bytes === undefined ? undefined : decodeBase64url(bytes)),
    closes: false,
    // For the log line and the codes that the route declares: its body is written already.
    ...(refused === undefined ? {} : { refused: new Refusal({ name: refused, status, doc: message }, message, {}) }),
  };
}

function bodyText(body: string | Uint8Array | undefined): { readonly body?: string; readonly bytes?: string } {
  if (body === undefined) return {};
  const text = typeof body === "string" ? body : decode(body);
  return text === undefined ? { bytes: encodeBase64url(body as Uint8Array) } : { body: text };
}

interface KeptBody {
  readonly body: AnswerBody;
  /** Whether it is no longer than the bound. */
  readonly isWhole: boolean;
}

async function wholeBody(body: AnswerBody, maxBytes: number): Promise<KeptBody> {
  if (body === undefined) return { body, isWhole: true };
  if (typeof body === "string") return { body, isWhole: body.length <= maxBytes };
  if (ArrayBuffer.isView(body)) return { body, isWhole: body.byteLength <= maxBytes };
  // Events have no end that could be waited for, and a connection has no bytes.
  if (!isStream(body) || body.begin !== undefined) return { body, isWhole: false };
  return readStream(body, maxBytes);
}

async function readStream(body: StreamBody, maxBytes: number): Promise<KeptBody> {
  const iterator = take(body.parts);
  const parts = readParts(iterator === undefined ? body : { ...body, iterator });
  const read: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    read.push(part);
    bytes += part.byteLength;
    if (bytes > maxBytes) return { body: { kind: "stream", parts: followed(read, parts) }, isWhole: false };
  }
  return { body: joined(read, bytes), isWhole: true };
}

/** The parts that are read, and those that follow. */
async function* followed(read: readonly Uint8Array[], parts: Parts): AsyncGenerator<Uint8Array> {
  try {
    yield* read;
    for (let part = await parts.next(); part !== undefined; part = await parts.next()) yield part;
  } finally {
    await parts.cancel();
  }
}
