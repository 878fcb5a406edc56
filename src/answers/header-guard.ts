import { isToken } from "../codecs/word.ts";
import { setCookieLine } from "../cookies/cookie.ts";
import { isSocket, isStream, isTakeover } from "./answer.ts";
import type { Answer, StreamBody } from "./answer.ts";
import { htmlType, jsonType, textType } from "./content-types.ts";

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

/** What keeps an answer from being written, in words for the log; undefined where nothing does. */
export function unwritable(answer: Answer): string | undefined {
  const { status, contentType, headers, cookies } = answer;
  const isFinal = Number.isInteger(status) && status >= 200 && status <= 599;
  const isUpgrade = status === 101 && (isSocket(answer.body) || isTakeover(answer.body));
  if (!isFinal && !isUpgrade) return `${status}, which is not a final status`;
  const stream = isStream(answer.body) ? wrongStream(answer.body) : undefined;
  if (stream !== undefined) return stream;
  if (!isOurs(contentType) && !isFieldValue(contentType)) return 'a header that cannot be written: "content-type"';
  for (const [name, value] of headers) {
    if (!isToken(name) || !isFieldValue(value)) return `a header that cannot be written: ${JSON.stringify(name)}`;
    if (isServerOwned(name, status)) return `a header only the framework writes: ${JSON.stringify(name)}`;
  }
  // Cookie.make lets nothing else through, but a cookie is a value that anyone may write down.
  for (const cookie of cookies) {
    if (!isFieldValue(setCookieLine(cookie, true))) return 'a header that cannot be written: "set-cookie"';
  }
  return undefined;
}

function wrongStream({ parts, length }: StreamBody): string | undefined {
  if (length !== undefined && !(Number.isSafeInteger(length) && length >= 0)) {
    return `a stream of ${length} bytes, which is no length`;
  }
  const isParts =
    parts instanceof ReadableStream ||
    typeof (parts as Partial<StreamBody["parts"]>)?.[Symbol.asyncIterator] === "function";
  return isParts ? undefined : "a stream that is neither a ReadableStream nor an async iterable";
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
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}
