import {
  htmlType,
  isHandshakeOwned,
  isServerOwned,
  isSocket,
  isStream,
  isTakeover,
  jsonType,
  textType,
} from "../exchange/answer.ts";
import type { Answer, AnswerBody, Revise, SocketBody } from "../exchange/answer.ts";
import { lastOfEach, setCookieLine, wrongPart } from "../codecs/cookie.ts";
import type { SetCookie } from "../codecs/cookie.ts";
import { chain, isPending } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { OpenStream } from "../events/open-stream.ts";
import { whyTaken } from "../events/stream.ts";
import type { StreamBody } from "../events/stream.ts";
import { askingForTextKinds } from "../events/text-kinds.ts";
import { isBytes, ownBytes } from "../http/bytes.ts";
import { httpDate, isFieldValue, isToken } from "../http/fields.ts";
import { InvalidAnswerError, isRefusal, overloadedRefusal } from "../refusals.ts";
import type { SecureHeaders } from "../security/secure-headers.ts";
import {
  ConnectionLog,
  StreamLog,
  endSpan,
  endsOfGone,
  logAccess,
  logRefusal,
  logReplaced,
  logUndeclared,
  measureRequest,
} from "./access-log.ts";
import { cancelBody, dropBodies } from "./cancel-body.ts";
import { headBytes } from "./exchange.ts";
import type { OpenedSocket, WireResponse } from "./exchange.ts";
import { failureAnswer, formatted, handlerFailure, internalAnswer } from "./refused.ts";
import type { RequestState } from "./request.ts";

/*
 * What happens to every answer on its way out, in this order: sealed cookies; its revision (a 304, a range, a compressed body);
 * the format of refusals; the check that it can be written; CORS headers; what was not declared; length, head, body; then its
 * log lines, span and metrics, and the response that a listener writes.
 */

/** Makes an answer the response that a listener writes. Never throws or rejects: what cannot be written is a 500. */
export function finish(request: RequestState, answer: Answer): MaybePromise<WireResponse> {
  request.ending.on("chosen");
  try {
    const { cookies } = answer;
    if (cookies.length === 0) return finishSafely(request, answer);
    const once = cookies.length === 1 ? answer : { ...answer, cookies: lastOfEach(cookies) };
    return once.cookies.every(isPlain) ? finishSafely(request, once) : finishSealed(request, once);
  } catch (thrown) {
    return finishSafely(request, failureAnswer(request, thrown));
  }
}

/** The answer with what the handler set. From JavaScript its headers may throw where they are read. */
export function endHandler(request: RequestState, answer: Answer): Answer {
  try {
    const { parts } = request;
    const ended = parts === undefined ? answer : parts.addTo(answer, request.ending.guard?.isReplay === true);
    return ended.refused === undefined ? ended : formatted(request, ended);
  } catch (thrown) {
    return handlerFailure(request, thrown);
  }
}

async function finishSealed(request: RequestState, answer: Answer): Promise<WireResponse> {
  return finishSafely(request, await withSealedCookies(request, answer));
}

function finishSafely(request: RequestState, answer: Answer): MaybePromise<WireResponse> {
  try {
    if (answer.revise === undefined) return responseOf(request, answer, answer);
    const revised = revisedBy(answer.revise, request, answer);
    return isPending(revised) ? finishRevised(request, answer, revised) : responseOf(request, answer, revised);
  } catch (thrown) {
    cancelBody(answer.body);
    return failureResponse(request, thrown);
  }
}

async function finishRevised(
  request: RequestState,
  made: Answer,
  revising: MaybePromise<Answer>,
): Promise<WireResponse> {
  try {
    return responseOf(request, made, await revising);
  } catch (thrown) {
    cancelBody(made.body);
    return failureResponse(request, thrown);
  }
}

/** The response to what was thrown. A refusal may be thrown by the application's clock, which the refusal's `Date` needs. */
function failureResponse(request: RequestState, thrown: unknown): WireResponse {
  try {
    const failed = failureAnswer(request, thrown);
    return responseOf(request, failed, failed);
  } catch (again) {
    const failed = internalAnswer(request, again);
    return responseOf(request, failed, failed);
  }
}

function responseOf(request: RequestState, made: Answer, revised: Answer): WireResponse {
  const checked = writable(request, revised.refused === undefined ? revised : formatted(request, revised));
  const { cors } = request.app;
  const answer = cors === undefined ? checked : cors.withHeaders(request, request.match?.route.route, checked);
  // A route declares the answers that it makes, and not what becomes of them.
  const undeclared = undeclaredBy(request, revised === made ? answer : made);
  const size = sizeOf(request, answer);
  const head = headOf(request, answer, size);
  const { maxHeadBytes } = request.exchange;
  if (maxHeadBytes !== undefined && headBytes(head) > maxHeadBytes) throw headTooLong(maxHeadBytes);
  const body = bodyOf(request, answer);
  // Nothing of the application's that could throw is called below: a line is written once.
  if (request.ending.at.reply === "making")
    record(request, answer, request.method === "HEAD" ? 0 : (size ?? 0), undeclared);
  const response = {
    status: answer.status,
    head,
    body,
    closes: answer.closes || request.reading?.isOverBudget === true,
  };
  const connection = typeof answer.body === "object" ? connectionOf(request, answer.body) : undefined;
  const streams = typeof body === "object" && isStream(body);
  const continues = connection !== undefined || streams;
  if (!streams && request.inside !== undefined) dropBodies(request);
  request.ending.sent(answer, continues);
  const { reading } = request;
  if (continues) {
    const unsent = (): void => dropUnsent(request, body);
    const readsBody = reading?.continuesReading === true;
    return { ...response, ...connection, unsent, ...(readsBody && { readsBody }), ...(undeclared && { undeclared }) };
  }
  if (reading?.isOpen === true && reading.close()) reading.readTooLate();
  return undeclared === undefined ? response : { ...response, undeclared };
}

function headTooLong(max: number): InvalidAnswerError {
  return new InvalidAnswerError(
    `headers of more than ${max} bytes, which this listener cannot send: give fewer headers and cookies, or shorter ones`,
  );
}

/** Writes the log lines of an answer, ends the request's span and counts it. */
function record(request: RequestState, answer: Answer, bytesSent: number, undeclared: string | undefined): void {
  if (undeclared !== undefined) logUndeclared(request, undeclared);
  if (request.inside !== undefined) logReplaced(request, request.inside, answer);
  if (answer.refused?.detail !== undefined) logRefusal(request, answer.refused);
  // Middleware may have answered otherwise.
  if (request.place !== "refused" || answer.refused !== overloadedRefusal) logAccess(request, answer, bytesSent);
  if (request.span !== undefined) endSpan(request, request.span, answer, bytesSent);
  measureRequest(request, answer);
  request.settle();
}

/** Ends what would have followed the head, where the client has gone before. */
function dropUnsent(request: RequestState, body: WireResponse["body"]): void {
  const ends = endsOfGone(request);
  if (isStream(body)) body.end(ends.stream);
  else request.ending.over(ends.request);
}

/** What is sent in the place of an answer. The body that is not sent is ended. */
function revisedBy(revise: Revise, request: RequestState, made: Answer): MaybePromise<Answer> {
  return chain(revise(request, made), (revised) => {
    if (revised.body !== made.body) cancelBody(made.body, revised.body);
    return revised;
  });
}

/** What the connection becomes after a 101. */
function connectionOf(request: RequestState, body: AnswerBody): Pick<WireResponse, "socket" | "takeover"> | undefined {
  if (isSocket(body)) return { socket: openedSocket(request, body) };
  if (!isTakeover(body) || request.method === "HEAD") return undefined;
  return { takeover: { ...body, request: new ConnectionLog(request, "takeover") } };
}

/** A cookie whose value needs no sealing. JavaScript may give no cookie at all: `writable` finds that. */
function isPlain(cookie: SetCookie | null | undefined): boolean {
  return cookie?.seal === undefined;
}

/** The answer with its sealed cookies as they are sent, stamped now. */
async function withSealedCookies(request: RequestState, answer: Answer): Promise<Answer> {
  try {
    const cookies = await Promise.all(
      answer.cookies.map(async (cookie) => {
        return cookie.seal === undefined ? cookie : { ...cookie, value: await sealedValue(cookie.seal, request.now) };
      }),
    );
    return { ...answer, cookies };
  } catch {
    cancelBody(answer.body);
    return failureAnswer(request, new InvalidAnswerError("a cookie that could not be sealed"));
  }
}

async function sealedValue(seal: NonNullable<SetCookie["seal"]>, now: Date): Promise<string> {
  const value: unknown = await seal(now);
  if (typeof value !== "string") throw new TypeError("a cookie is sealed as a text");
  return value;
}

/** The answer if it can be written; otherwise a 500, whose reason is logged. */
function writable(request: RequestState, answer: Answer): Answer {
  const { body } = answer;
  const detail = invalidReason(answer) ?? (typeof body === "object" ? wrongConnection(request, body) : undefined);
  if (detail === undefined) return answer;
  cancelBody(answer.body);
  return failureAnswer(request, new InvalidAnswerError(detail));
}

/**
 * Why an answer cannot be written, for the log and without a value; undefined where it can. JavaScript may give a member any
 * type, which would reach the runtime and throw there, so each is checked.
 */
function invalidReason(answer: Answer): string | undefined {
  const { status, contentType, headers, cookies, body, refused } = answer;
  const wrong = typeof body === "string" || body === undefined ? undefined : wrongBody(body);
  if (wrong !== undefined) return wrong;
  const isFinal = Number.isInteger(status) && status >= 200 && status <= 599;
  const opensSocket = typeof body === "object" && isSocket(body);
  const isUpgrade = opensSocket || (typeof body === "object" && isTakeover(body));
  if (isUpgrade ? status !== 101 : !isFinal) return `${numberOrType(status)}, which is not a final status`;
  if (refused !== undefined && !isRefusal(refused)) return "a refusal whose code or detail is no text";
  if (!isKnownType(contentType) && (contentType === "" || !isFieldValue(contentType)))
    return `a header that cannot be written: "content-type": ${contentType === "" ? "it is empty" : wrongValue(contentType)}`;
  for (const pair of headers) {
    const [name, value] = pair;
    if (!Array.isArray(pair) || typeof name !== "string") return "a header that is no pair of a name and a value";
    if (!isToken(name)) return `a header that cannot be written: ${shownName(name)}`;
    if (!isFieldValue(value)) return `a header that cannot be written: ${shownName(name)}: ${wrongValue(value)}`;
    const isOwned = isServerOwned(name, answer) || (opensSocket && isHandshakeOwned(name));
    if (isOwned) return `a header only the framework writes: ${JSON.stringify(name)}`;
  }
  // `Cookie.make` checks its cookies, but a program can write a cookie as a plain object.
  for (const cookie of cookies) {
    const wrong = wrongPart(cookie);
    if (wrong !== undefined) return `a header that cannot be written: "set-cookie": ${wrong}`;
  }
  return undefined;
}

function wrongValue(value: unknown): string {
  return typeof value === "string"
    ? "its value has a line break, a control character or what is not ASCII: percent-encode it, or leave the header out"
    : "its value is no text";
}

/** A header's name for the log. One that is no token may be anything, such as a text of a client's. */
function shownName(name: string): string {
  return isToken(name) && name.length <= 64 ? JSON.stringify(name) : "(unknown)";
}

function wrongBody(body: Exclude<AnswerBody, undefined>): string | undefined {
  if (isBytes(body)) return undefined;
  if (typeof body === "object" && body !== null) {
    if (isStream(body)) return wrongStream(body);
    if (isSocket(body) && typeof body.runHandler === "function") return undefined;
    if (isTakeover(body) && typeof body.handle === "function" && typeof body.refusedBy === "function") return undefined;
  }
  return "a body that is neither text, bytes nor a stream";
}

function wrongStream({ parts, length }: StreamBody): string | undefined {
  if (length !== undefined && !(Number.isSafeInteger(length) && length >= 0)) {
    return `a stream of ${numberOrType(length)} bytes, which is no length`;
  }
  const isParts =
    parts instanceof ReadableStream ||
    typeof (parts as Partial<StreamBody["parts"]>)?.[Symbol.asyncIterator] === "function";
  if (!isParts) return "a stream that is neither a ReadableStream nor an async iterable";
  return whyTaken(parts);
}

/** A number as text, and the type of any other value. */
function numberOrType(value: unknown): string {
  return typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
}

function isKnownType(contentType: string | undefined): boolean {
  return contentType === undefined || contentType === jsonType || contentType === textType || contentType === htmlType;
}

/** Why the connection cannot become what the answer says. Only a route that checked the handshake opens a WebSocket. */
function wrongConnection(request: RequestState, body: Exclude<AnswerBody, string | undefined>): string | undefined {
  if (isTakeover(body)) return body.refusedBy(request.exchange);
  return isSocket(body) && request.route?.opens === undefined ? "a WebSocket, by a route that opens none" : undefined;
}

/** The length of a body in bytes; undefined where it is made while it is sent. */
function sizeOf(request: RequestState, { status, body, passed }: Answer): number | undefined {
  // What `fetch` got for a HEAD has the length of the body that a GET has, and no body.
  if (body === undefined && passed !== undefined && request.method === "HEAD") return passed.length;
  if (body === undefined || isBodiless(status)) return 0;
  if (typeof body === "string") return request.exchange.byteLength(body);
  if (ArrayBuffer.isView(body)) return body.byteLength;
  return body.kind === "stream" ? body.length : undefined;
}

// RFC 9110 §6.4.1: these statuses have no content, whatever the answer holds.
function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function bodyOf(request: RequestState, { status, body }: Answer): WireResponse["body"] {
  if (request.method === "HEAD" || isBodiless(status)) return cancelBody(body);
  if (typeof body !== "object") return body;
  if (ArrayBuffer.isView(body)) return ownBytes(body);
  return body.kind === "stream" ? openedStream(request, body) : undefined;
}

function openedSocket(
  request: RequestState,
  { runHandler, subprotocolOf, maxMessage, keepAliveMs, maxUnheard, compression }: SocketBody,
): OpenedSocket {
  const subprotocol = subprotocolOf(request);
  return {
    subprotocol,
    maxMessage,
    keepAliveMs,
    maxUnheard,
    compression,
    open: (link) => runHandler(link, new ConnectionLog(request, "socket"), subprotocol),
  };
}

function openedStream(request: RequestState, body: StreamBody): OpenStream {
  const stream = new OpenStream(body, new StreamLog(request));
  if (body.stop !== undefined) {
    request.deadline?.continues(body.stop);
    request.endWithValidity(body.stop);
  }
  return stream;
}

function undeclaredBy(request: RequestState, answer: Answer): string | undefined {
  const { route, inside } = request;
  const code = answer.refused?.code.name;
  // An answer that middleware changed is the application's, and no longer the route's.
  const isRoutes =
    inside === undefined || (inside.made?.status === answer.status && inside.made.refused === answer.refused);
  const declaring = isRoutes ? route : undefined;
  const isDeclared =
    code === undefined ? declaring?.statuses?.has(answer.status) !== false : request.declares(code, isRoutes);
  if (isDeclared) return undefined;
  const where = `${request.method} ${declaring?.route.pattern ?? request.rawPath}`;
  if (code === undefined) return `${where} answered ${answer.status}, which its Returns does not list`;
  const list = declaring === undefined ? "the option codes" : "refuses";
  return `${where} refused with ${code}, which nothing declares: list it in ${list}`;
}

/**
 * An answer's head, in the order it is written: the type, the answer's own, the id, cookies, the date, the length.
 *
 * @param size The bytes of the body; undefined where it is made while it is sent.
 */
function headOf(request: RequestState, answer: Answer, size: number | undefined): readonly string[] {
  const { contentType } = answer;
  const date = dateOf(request, answer);
  if (contentType !== undefined && size !== undefined && isBare(request, answer)) {
    return bareHead(contentType, request.id, date, String(size));
  }
  const { status, headers, cookies } = answer;
  const head =
    contentType === undefined ? [] : ["content-type", size === undefined ? typeOf(request, answer) : contentType];
  for (const [name, value] of headers) head.push(name.toLowerCase(), value);
  if (request.app.secureHeaders !== undefined) addMissing(head, request.app.secureHeaders);
  head.push("x-request-id", request.id);
  for (const cookie of cookies) head.push("set-cookie", setCookieLine(cookie, request.secureCookies));
  if (date !== "") head.push("date", date);
  if (size !== undefined && hasLength(status)) head.push("content-length", String(size));
  if (typeof answer.body === "object" && isTakeover(answer.body))
    head.push("upgrade", answer.body.protocol, "connection", "upgrade");
  return head;
}

// The head of nearly every answer, in one literal: V8 gives an array that is pushed to four times the room.
function bareHead(type: string, id: string, date: string, length: string): readonly string[] {
  if (date === "") return ["content-type", type, "x-request-id", id, "content-length", length];
  return ["content-type", type, "x-request-id", id, "date", date, "content-length", length];
}

/** Whether the head has the framework's own fields alone. */
function isBare({ app }: RequestState, { status, headers, cookies }: Answer): boolean {
  return headers.length === 0 && cookies.length === 0 && app.secureHeaders === undefined && hasLength(status);
}

// RFC 9110 §8.6: a 204 has no Content-Length, and that of a 304 would be the length of another answer.
function hasLength(status: number): boolean {
  return status !== 204 && status !== 304;
}

/** Empty where there is no Date, or the runtime writes it. */
function dateOf(request: RequestState, { status }: Answer): string {
  // A server that failed may have no trustworthy clock (RFC 9110 §6.6.1 leaves the date of a 5xx to it).
  if (status < 200 || status >= 500) return "";
  const { app, exchange } = request;
  if (app.now !== undefined || exchange.now !== undefined) return httpDate(timeOf(request.now));
  return exchange.date ?? httpDate(Date.now());
}

// RFC 9110 §5.6.7: a year has four digits.
const firstMs = /* @__PURE__ */ Date.parse("0000-01-01T00:00:00Z");
const lastMs = /* @__PURE__ */ Date.parse("9999-12-31T23:59:59Z");

/** The application's own clock may return any date. */
function timeOf(now: Date): number {
  const at = now.getTime();
  if (at >= firstMs && at <= lastMs) return at;
  throw new InvalidAnswerError("a date, by an app whose clock says none");
}

function addMissing(head: string[], { headers }: SecureHeaders): void {
  const own = new Set(head.filter((_, i) => i % 2 === 0));
  for (const [name, value] of headers) if (!own.has(name)) head.push(name, value);
}

function typeOf(request: RequestState, { body, contentType = "" }: Answer): string {
  const named = isStream(body) ? body.typeWithTextKinds : undefined;
  if (named === undefined) return contentType;
  return request.lines("accept").some((line) => line.includes(askingForTextKinds)) ? named : contentType;
}
