import { isObject, isRecord, needs } from "../arguments.ts";
import { connectionFields } from "../http/connection-fields.ts";
import type { StreamBody } from "../events/stream.ts";
import { contentLengthOf, fieldsOf, itemsOf } from "../http/fields.ts";
import { awaitErrors, isNodeStream, letGo, readEnd } from "../node-stream.ts";
import { isWorkers } from "../runtime.ts";
import { InvalidAnswerError, none } from "../refusals.ts";
import type { Answer } from "../exchange/answer.ts";
import { bodyOfParts, responseBody } from "./response-body.ts";

/** Fields of a proxy's own connection, and those that the framework writes itself. */
const notPassed: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "proxy-authenticate",
  "proxy-authentication-info",
  "date",
  "x-request-id",
]);

/**
 * What `request` of the package `undici` resolves with: a response whose body is a stream of Node's. On Node it costs less than `fetch`.
 */
export interface UndiciResponse {
  /** From 200 to 599. */
  readonly statusCode: number;
  /** A list has a line for each of its items. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** It is read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * A `Response` of other code as the answer: of `fetch`, of a library, of another app's handler; or what `request` of the package
 * `undici` resolves with. Its status, its headers and each `Set-Cookie` line stay; its body is sent as it arrives, and is cancelled if
 * the client leaves.
 *
 * What is left out: the fields of one connection (RFC 9110 §7.6.1) and those that `Connection` names, `Date` and `X-Request-Id`, which
 * are the app's own. Of a body that `fetch` has decoded, also `Content-Encoding` and `Content-Length`; its strong `ETag` becomes weak,
 * as it names the encoded bytes. A copy of such a response, `new Response(fetched.body, fetched)`, says `gzip` of bytes that are not:
 * pass on the fetched response itself.
 *
 * @throws InvalidAnswerError For what is no response, for one whose body is read already or being read, and for a 101.
 * @example
 * ```ts
 * const feed = get(Path.of("feed"), { returns: Returns.response }, async () =>
 *   Answer.pass(await fetch("https://news.example/feed.xml")),
 * );
 * ```
 */
export function pass(response: Response | UndiciResponse): Answer {
  if (isUndiciResponse(response)) {
    const { statusCode: status, headers, body } = response;
    checkUnread(isNodeStream(body) && body.readableDidRead, false);
    checkStatus(status, body);
    awaitErrors(body);
    const hasBody = status !== 204 && status !== 205 && status !== 304;
    // Its end is to be read all the same: then the connection is free for the next request.
    if (!hasBody) readEnd(body);
    const bodyOf: PassedBody = (_contentType, length) => bodyOfParts(body, length);
    return passedAnswer(status, undiciLines(headers), false, hasBody ? bodyOf : undefined);
  }
  needs(isResponse(response), "Answer.pass: it", response, "a Response");
  const { status, body, headers } = response;
  checkUnread(response.bodyUsed, body?.locked === true);
  checkStatus(status, body);
  const bodyOf: PassedBody = (contentType, length) => responseBody(response, contentType, length);
  return passedAnswer(status, fieldLines(headers), wasDecoded(response), body === null ? undefined : bodyOf);
}

function checkUnread(isRead: boolean, isLocked: boolean): void {
  if (isRead) throw new InvalidAnswerError("a Response whose body is read already");
  if (isLocked) throw new InvalidAnswerError("a Response whose body other code reads");
}

/** Closes the body of a 101: no answer has it. */
function checkStatus(status: number, body: object | null): void {
  if (status !== 101) return;
  if (body !== null) letGo(body);
  throw new InvalidAnswerError(
    "a Response of status 101: only a route with Returns.websocket or Answer.takeover changes the protocol",
  );
}

type PassedBody = (contentType: string | undefined, length: number | undefined) => StreamBody;

/** @param isDecoded Whether the headers still say how the body was encoded, though it is no more. */
function passedAnswer(
  status: number,
  lines: readonly (readonly [name: string, value: string])[],
  isDecoded: boolean,
  bodyOf: PassedBody | undefined,
): Answer {
  const isOfConnection = connectionFields(lines.filter(([name]) => name === "connection").map(([, value]) => value));
  const headers: (readonly [string, string])[] = [];
  let contentType: string | undefined;
  const lengths: string[] = [];
  for (const line of lines) {
    const [name, value] = line;
    if (notPassed.has(name) || isOfConnection(name)) continue;
    // An empty one says no more than none, and an answer of the app's own may not have it.
    if (name === "content-type") contentType = value === "" ? undefined : value;
    else if (name === "content-length") lengths.push(value);
    else if (name === "etag" && isDecoded && value.startsWith('"')) headers.push([name, `W/${value}`]);
    else if (name !== "content-encoding" || !isDecoded) headers.push(line);
  }
  const length = isDecoded ? undefined : contentLengthOf(lengths.join(", "));
  return {
    status,
    ...(contentType === undefined ? {} : { contentType }),
    headers,
    cookies: none,
    body: bodyOf?.(contentType, length),
    closes: false,
    passed: { length },
  };
}

/** The lines of a `Response`, their names in lower case: those of a package's own may be as they were written. */
function fieldLines(headers: Headers): readonly (readonly [string, string])[] {
  const lines: (readonly [string, string])[] = [];
  for (const [sent, value] of fieldsOf(headers)) {
    const name = sent.toLowerCase();
    if (name !== "set-cookie") lines.push([name, value]);
  }
  // Not every runtime's iteration keeps the lines apart.
  for (const line of headers.getSetCookie()) lines.push(["set-cookie", line]);
  return lines;
}

function undiciLines(headers: UndiciResponse["headers"]): readonly (readonly [string, string])[] {
  const lines: (readonly [string, string])[] = [];
  for (const [sent, value] of Object.entries(headers)) {
    const name = sent.toLowerCase();
    if (Array.isArray(value)) for (const one of value as readonly string[]) lines.push([name, one]);
    // JavaScript may give a number: the check of the answer says so.
    else if (value !== undefined && value !== null) lines.push([name, value as string]);
  }
  return lines;
}

function isUndiciResponse(value: unknown): value is UndiciResponse {
  if (!isObject(value) || value instanceof Response) return false;
  const { statusCode, headers, body } = value;
  return Number.isInteger(statusCode) && isRecord(headers) && isObject(body) && Symbol.asyncIterator in body;
}

// Another copy of the class is as good: a package of `fetch` has its own, and so has another realm.
export function isResponse(value: unknown): value is Response {
  if (value instanceof Response) return true;
  if (!isObject(value)) return false;
  const { status, headers, body } = value;
  if (typeof status !== "number" || !isObject(headers) || typeof headers["getSetCookie"] !== "function") return false;
  return body === null || (isObject(body) && typeof body["getReader"] === "function");
}

/**
 * Whether the body has been decoded, though the headers still say how it was encoded. Only what `fetch` got has an address. Each runtime
 * decodes other codings: a test reads all of them on each.
 */
function wasDecoded(response: Response): boolean {
  const value = response.headers.get("content-encoding");
  if (value === null || response.url === "" || response.url === undefined) return false;
  // workerd compares them as text, and decodes no `GZIP`.
  if (isWorkers()) return value === "gzip" || value === "br";
  const codings = itemsOf([value]).map((coding) => coding.toLowerCase());
  const { isList, decodes } = decoding();
  return (isList || codings.length === 1) && codings.every((coding) => decodes.includes(coding));
}

/** What `fetch` of this runtime decodes, and whether it decodes one coding over another. */
function decoding(): { readonly isList: boolean; readonly decodes: readonly string[] } {
  if ("Bun" in globalThis) return { isList: false, decodes: ["gzip", "x-gzip", "deflate", "br", "zstd"] };
  if ("Deno" in globalThis) return { isList: false, decodes: ["gzip", "br"] };
  const { process } = globalThis as { readonly process?: { readonly versions?: { readonly undici?: string } } };
  const major = Number.parseInt(process?.versions?.undici ?? "", 10);
  return { isList: true, decodes: ["gzip", "x-gzip", "deflate", "br", ...(major >= 7 ? ["zstd"] : [])] };
}
