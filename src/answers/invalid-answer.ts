import { wrongPart } from "../codecs/cookie.ts";
import { isTaken } from "../events/stream.ts";
import type { StreamBody } from "../events/stream.ts";
import { isBytes } from "../http/bytes.ts";
import { isToken } from "../http/fields.ts";
import { isTellable } from "../refusals.ts";
import { htmlType, isSocket, isStream, isTakeover, jsonType, textType } from "./answer.ts";
import type { Answer, AnswerBody } from "./answer.ts";

// Headers that only the framework writes: those that frame a message, and those that it derives from the declaration.
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
 * Why an answer cannot be written, for the log and without a value; undefined where it can. JavaScript may give a member any
 * type, which would reach the runtime and throw there, so each is checked.
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
  // `Cookie.make` checks its cookies, but a program can write a cookie as a plain object.
  for (const cookie of cookies) {
    const wrong = wrongPart(cookie);
    if (wrong !== undefined) return `a header that cannot be written: "set-cookie": ${wrong}`;
  }
  return undefined;
}

/** Whether the connection leaves HTTP. */
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

/** A number as text, and the type of any other value. */
function numberOr(value: unknown): string {
  return typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
}

function isOurs(contentType: string | undefined): contentType is undefined {
  return contentType === undefined || contentType === jsonType || contentType === textType || contentType === htmlType;
}

// A 426 names in `Upgrade` the protocol that it requires (RFC 9110 §15.5.22).
export function isServerOwned(name: string, status: number): boolean {
  const lower = name.toLowerCase();
  return serverOwned.has(lower) && !(lower === "upgrade" && status === 426);
}

/**
 * Visible ASCII, spaces and tabs: less than RFC 9110 §5.5 allows, since runtimes differ on other bytes. One runtime ends the
 * process for a control character here.
 */
export function isFieldValue(value: unknown): boolean {
  return typeof value === "string" && /^[\t\x20-\x7e]*$/.test(value);
}
