import { wrongPart } from "../codecs/cookie.ts";
import { isTaken } from "../events/stream.ts";
import type { StreamBody } from "../events/stream.ts";
import { isBytes } from "../http/bytes.ts";
import { isToken } from "../http/fields.ts";
import { isTellable } from "../refusals.ts";
import { htmlType, isSocket, isStream, isTakeover, jsonType, textType } from "./answer.ts";
import type { Answer, AnswerBody } from "./answer.ts";

// What only the framework writes: the framing of a message, and what it derives from the declaration.
const serverOwned: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "content-type",
  "set-cookie",
  "date",
  "x-request-id",
]);

/**
 * What keeps an answer from being written, in words for the log that quote no value; undefined where nothing does. Of what
 * JavaScript puts in the place of an answer's members nothing is taken on trust: it would reach the runtime, and throw there.
 */
export function invalidReason(answer: Answer): string | undefined {
  const { status, contentType, headers, cookies, body, refused } = answer;
  const wrong = typeof body === "string" || body === undefined ? undefined : wrongBody(body);
  if (wrong !== undefined) return wrong;
  const isFinal = Number.isInteger(status) && status >= 200 && status <= 599;
  const isUpgrade = isConnection(body);
  if (isUpgrade ? status !== 101 : !isFinal) return `${numberOr(status)}, which is not a final status`;
  if (refused !== undefined && !isTellable(refused)) return "a refusal whose code or detail is no text";
  if (!isOurs(contentType) && !isFieldValue(contentType)) return 'a header that cannot be written: "content-type"';
  for (const pair of headers) {
    const [name, value] = pair;
    if (!Array.isArray(pair) || typeof name !== "string") return "a header that is no pair of a name and a value";
    if (!isToken(name) || !isFieldValue(value)) return `a header that cannot be written: ${JSON.stringify(name)}`;
    if (isServerOwned(name, status)) return `a header only the framework writes: ${JSON.stringify(name)}`;
  }
  // Cookie.make lets nothing else through, but a cookie is a value that anyone may write down.
  for (const cookie of cookies) {
    const wrong = wrongPart(cookie);
    if (wrong !== undefined) return `a header that cannot be written: "set-cookie": ${wrong}`;
  }
  return undefined;
}

/** Whether it is another protocol that is spoken on the connection. */
function isConnection(body: AnswerBody): boolean {
  return isSocket(body) || isTakeover(body);
}

function wrongBody(body: Exclude<AnswerBody, undefined>): string | undefined {
  if (isBytes(body)) return undefined;
  if (typeof body === "object" && body !== null) {
    if (isStream(body)) return wrongStream(body);
    if (isSocket(body) && typeof body.speak === "function") return undefined;
    if (isTakeover(body) && typeof body.handle === "function" && typeof body.refusedBy === "function") return undefined;
  }
  return "a body that is neither text, bytes nor a stream";
}

function wrongStream({ parts, length }: StreamBody): string | undefined {
  if (length !== undefined && !(Number.isSafeInteger(length) && length >= 0)) {
    return `a stream of ${numberOr(length)} bytes, which is no length`;
  }
  const isParts =
    parts instanceof ReadableStream ||
    typeof (parts as Partial<StreamBody["parts"]>)?.[Symbol.asyncIterator] === "function";
  if (!isParts) return "a stream that is neither a ReadableStream nor an async iterable";
  return isTaken(parts) ? "a stream that is read already" : undefined;
}

/** A number as it is, and of any other value its type alone. */
function numberOr(value: unknown): string {
  return typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
}

function isOurs(contentType: string | undefined): contentType is undefined {
  return contentType === undefined || contentType === jsonType || contentType === textType || contentType === htmlType;
}

// A 426 says in Upgrade what it would answer (RFC 9110 §15.5.22).
export function isServerOwned(name: string, status: number): boolean {
  const lower = name.toLowerCase();
  return serverOwned.has(lower) && !(lower === "upgrade" && status === 426);
}

/**
 * Visible ASCII, blanks and tabs: narrower than RFC 9110 §5.5, whose other bytes runtimes disagree on. One of them
 * takes the whole process down for a control character here.
 */
export function isFieldValue(value: unknown): boolean {
  return typeof value === "string" && /^[\t\x20-\x7e]*$/.test(value);
}
