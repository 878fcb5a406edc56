import { isStream } from "../exchange/answer.ts";
import type { Answer, AnswerBody } from "../exchange/answer.ts";
import { BegunParts } from "../answers/response-body.ts";
import { readParts, take } from "../events/stream.ts";
import type { Parts, StreamBody } from "../events/stream.ts";
import { isObject } from "../arguments.ts";
import { decode, decodeBase64url, encodeBase64url } from "../http/bytes.ts";
import { joined } from "../inputs/body-source.ts";
import { InvalidAnswerError, Refusal } from "../refusals.ts";

/** What is kept of an answer that is too long, or has no end: that there was one. */
const onlySent = "null";

/**
 * The answer, whose body is bytes where it was a stream. A stream of more than `maxBytes` is another stream of the same bytes.
 * Rejects with what the stream threw, and where it had fewer or more bytes than its length.
 */
export async function readBody(answer: Answer, maxBytes: number): Promise<Answer> {
  const { body } = answer;
  // Events have no end that could be waited for.
  if (!isStream(body) || body.begin !== undefined) return answer;
  return { ...answer, body: await readStream(body, maxBytes) };
}

/**
 * The text that a store keeps of an answer whose body was read: its status, its headers and its body. Cookies are secrets of the one
 * who gets the answer, and are not kept. `Date` and `X-Request-Id` are those of the request that gets it.
 */
export function keptText({ status, contentType, headers, refused, body }: Answer, maxBytes: number): string {
  if (!isKept(body, maxBytes)) return onlySent;
  return JSON.stringify({
    status,
    ...(contentType === undefined ? {} : { contentType }),
    headers,
    ...(refused === undefined ? {} : { refused: refused.code.name, message: refused.message }),
    ...bodyText(body),
  });
}

/** Whether it is no stream and no connection, and no longer than the bound. */
function isKept(body: AnswerBody, maxBytes: number): body is string | Uint8Array | undefined {
  if (body === undefined) return true;
  if (typeof body === "string") return body.length <= maxBytes;
  return ArrayBuffer.isView(body) && body.byteLength <= maxBytes;
}

/** The answer of a kept text; undefined where it was too long, or is no answer. */
export function answerFromText(text: string): Answer | undefined {
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

async function readStream(body: StreamBody, maxBytes: number): Promise<AnswerBody> {
  const parts = readParts(body, take(body.parts));
  const read: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    read.push(part);
    bytes += part.byteLength;
    if (bytes <= maxBytes) continue;
    const abandon = (): void => {
      // It never rejects.
      parts.cancel().catch(() => {});
    };
    const framed = body.length === undefined ? {} : { length: body.length };
    return { kind: "stream", parts: new BegunParts(iteratorOf(parts), read, undefined), ...framed, abandon };
  }
  if (body.length !== undefined && body.length !== bytes)
    throw new InvalidAnswerError("a stream of another length than it was given");
  return joined(read, bytes);
}

/** No generator: its `return` would wait for a pending part, and close nothing before the first one is asked for. */
function iteratorOf(parts: Parts): AsyncIterator<Uint8Array> {
  return {
    next: async () => {
      const value = await parts.next();
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    return: async () => {
      await parts.cancel();
      return { done: true, value: undefined };
    },
  };
}
