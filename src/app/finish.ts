import { isSocket, isStream, isTakeover } from "../answers/answer.ts";
import type { Answer, AnswerBody, SocketBody } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/build.ts";
import { invalidReason } from "../answers/invalid-answer.ts";
import { setCookieLine } from "../codecs/cookie.ts";
import type { SetCookie } from "../codecs/cookie.ts";
import type { MaybePromise } from "../deferred.ts";
import { isTaken, take } from "../events/stream.ts";
import type { StreamBody } from "../events/stream.ts";
import { askingForTextKinds } from "../events/text-kinds.ts";
import { ownBytes } from "../http/bytes.ts";
import { httpDate } from "../http/fields.ts";
import { Refusal, Unwritable, listing } from "../refusals.ts";
import type { SecureHeaders } from "../security/secure-headers.ts";
import {
  endSpan,
  logAccess,
  logFault,
  logRaise,
  logRefusal,
  logReplaced,
  logUndeclared,
  measureRequest,
} from "./access-log.ts";
import type { OpenedSocket, WireResponse } from "./exchange.ts";
import { internalRefusal, refusalOf } from "./failures.ts";
import type { RequestState } from "./request.ts";
import { ConnectionLog, StreamLog } from "./stream-log.ts";

/**
 * An answer's head, in the order it is written: the type, the answer's own, the id, cookies, the date, the length.
 *
 * @param size The bytes of the body; undefined where it is made while it is sent.
 */
function headOf(asked: RequestState, answer: Answer, size: number | undefined): readonly string[] {
  const { contentType } = answer;
  const date = dateOf(asked, answer);
  if (contentType !== undefined && size !== undefined && isBare(asked, answer)) {
    return ordinaryHead(contentType, asked.id, date, String(size));
  }
  const { status, headers, cookies } = answer;
  const head =
    contentType === undefined ? [] : ["content-type", size === undefined ? typeOf(asked, answer) : contentType];
  for (const [name, value] of headers) head.push(name.toLowerCase(), value);
  if (asked.app.secureHeaders !== undefined) addMissing(head, asked.app.secureHeaders);
  head.push("x-request-id", asked.id);
  for (const cookie of cookies) head.push("set-cookie", setCookieLine(cookie, asked.secure));
  if (date !== "") head.push("date", date);
  if (size !== undefined && hasLength(status)) head.push("content-length", String(size));
  if (isTakeover(answer.body)) head.push("upgrade", answer.body.protocol, "connection", "upgrade");
  return head;
}

// Nearly every answer's. Made at once: for a list that is added to, V8 makes room for four times as much.
function ordinaryHead(type: string, id: string, date: string, length: string): readonly string[] {
  if (date === "") return ["content-type", type, "x-request-id", id, "content-length", length];
  return ["content-type", type, "x-request-id", id, "date", date, "content-length", length];
}

/** Whether nothing is told beside what the framework tells. */
function isBare({ app }: RequestState, { status, headers, cookies }: Answer): boolean {
  return headers.length === 0 && cookies.length === 0 && app.secureHeaders === undefined && hasLength(status);
}

// RFC 9110 §8.6 keeps it from the one; of the other it would be another answer's.
function hasLength(status: number): boolean {
  return status !== 204 && status !== 304;
}

/** Empty where none is told, or by the runtime. */
function dateOf(asked: RequestState, { status }: Answer): string {
  // A server that failed may have no trustworthy clock (RFC 9110 §6.6.1 leaves the date of a 5xx to it).
  if (status < 200 || status >= 500) return "";
  const { app, exchange } = asked;
  if (app.now !== undefined || exchange.now !== undefined) return httpDate(timeOf(asked.now));
  return exchange.date ?? httpDate(Date.now());
}

// RFC 9110 §5.6.7: a year has four digits.
const firstMs = Date.parse("0000-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59Z");

/** The application's own clock may say anything. */
function timeOf(now: Date): number {
  const at = now.getTime();
  if (at >= firstMs && at <= lastMs) return at;
  throw new Unwritable("a date, by an app whose clock says none");
}

function addMissing(head: string[], { headers }: SecureHeaders): void {
  const own = new Set(head.filter((_, i) => i % 2 === 0));
  for (const [name, value] of headers) if (!own.has(name)) head.push(name, value);
}

function typeOf(asked: RequestState, { body, contentType = "" }: Answer): string {
  const named = isStream(body) ? body.typeWithTextKinds : undefined;
  if (named === undefined) return contentType;
  return asked.lines("accept").some((line) => line.includes(askingForTextKinds)) ? named : contentType;
}

/** Sends what a request is answered with, or hands it to the middleware around. The handler can add nothing any more. */
export function reply(asked: RequestState, made: Answer): MaybePromise<WireResponse> {
  const answer = withSet(asked, made);
  asked.finish();
  return asked.inside === undefined ? send(asked, answer) : asked.inside.take(answer);
}

/** Makes an answer ready to be written: checked, complete, logged. Neither throws nor rejects: what cannot be is a 500. */
export function send(asked: RequestState, answer: Answer): MaybePromise<WireResponse> {
  asked.isSent = true;
  try {
    if (answer.cookies.length === 0 || answer.cookies.every(isPlain)) return ready(asked, answer);
  } catch (thrown) {
    return ready(asked, failureAnswer(asked, thrown));
  }
  return sealed(asked, answer).then((answer) => ready(asked, answer));
}

// JavaScript may set what is no cookie at all: that is found where the answer is checked.
function isPlain(cookie: SetCookie | null | undefined): boolean {
  return cookie?.seal === undefined;
}

/** What is answered where something raised, which the log is told. Never throws. */
export function failureAnswer(asked: RequestState, thrown: unknown): Answer {
  const refusal = refusalOf(thrown);
  logRaise(asked, refusal, thrown);
  try {
    // Its detail is told with the raise.
    const told = refusal.detail === undefined || refusal === thrown ? refusal : withoutDetail(refusal);
    return refusalAnswer(listing(asked.maxProblems, told));
  } catch (unwritten) {
    // A refusal of the application's own, with members that are none: of no code, or that JSON cannot write.
    const internal = internalRefusal(undefined);
    logRaise(asked, internal, unwritten);
    return refusalAnswer(internal);
  }
}

function withoutDetail({ code, message, headers, problems, more }: Refusal): Refusal {
  return new Refusal(code, message, { headers, problems, more });
}

/** The answer with its sealed cookies as they are sent, stamped now. */
async function sealed(asked: RequestState, answer: Answer): Promise<Answer> {
  try {
    const cookies = await Promise.all(
      answer.cookies.map(async (cookie) => {
        return cookie.seal === undefined ? cookie : { ...cookie, value: await sealedValue(cookie.seal, asked.now) };
      }),
    );
    return { ...answer, cookies };
  } catch {
    unsent(answer.body);
    return failureAnswer(asked, new Unwritable("a cookie that could not be sealed"));
  }
}

async function sealedValue(seal: NonNullable<SetCookie["seal"]>, now: Date): Promise<string> {
  const value: unknown = await seal(now);
  if (typeof value !== "string") throw new TypeError("a cookie is sealed as a text");
  return value;
}

function ready(asked: RequestState, complete: Answer): WireResponse {
  try {
    return made(asked, complete);
  } catch (thrown) {
    return made(asked, failureAnswer(asked, thrown));
  }
}

function made(asked: RequestState, complete: Answer): WireResponse {
  const answer = shared(asked, guarded(asked, complete));
  const undeclared = undeclaredBy(asked, answer);
  const size = sizeOf(asked, answer);
  const head = headOf(asked, answer, size);
  const body = bodyOf(asked, answer);
  // Behind here is nothing of the application's that could throw: a line is written once.
  if (undeclared !== undefined) logUndeclared(asked, undeclared);
  if (asked.inside !== undefined) logReplaced(asked, asked.inside, answer);
  if (answer.refused?.detail !== undefined) logRefusal(asked, answer.refused);
  const bytesSent = asked.method === "HEAD" ? 0 : (size ?? 0);
  logAccess(asked, answer, bytesSent);
  observe(asked, answer, bytesSent);
  asked.settle();
  const sent = { status: answer.status, head, body, closes: answer.closes || asked.isOverBudget };
  if (isSocket(answer.body)) return { ...sent, socket: opened(asked, answer.body) };
  if (isTakeover(answer.body) && asked.method !== "HEAD")
    return { ...sent, takeover: { ...answer.body, request: new ConnectionLog(asked, "takeover") } };
  return undeclared === undefined ? sent : { ...sent, undeclared };
}

// Spans and figures go to what the application has registered, which may throw: its request is answered all the same.
function observe(asked: RequestState, answer: Answer, bytesSent: number): void {
  try {
    if (asked.span !== undefined) endSpan(asked, asked.span, answer, bytesSent);
    measureRequest(asked, answer);
  } catch (thrown) {
    logFault(asked, "a tracer or a meter", thrown);
  }
}

/** The answer of a route that is shared with other sites, with what lets their pages read it. */
function shared(asked: RequestState, answer: Answer): Answer {
  const { cors } = asked.app;
  return cors?.covers(asked.match?.route.route) === true ? cors.policy.told(asked, answer) : answer;
}

// What a handler set goes with an answer, and never with a refusal (contract 4.3).
function withSet(asked: RequestState, answer: Answer): Answer {
  const { setHeaders, setCookies } = asked;
  if (answer.refused !== undefined || (setHeaders.length === 0 && setCookies.length === 0)) return answer;
  return { ...answer, headers: [...answer.headers, ...setHeaders], cookies: [...answer.cookies, ...setCookies] };
}

function guarded(asked: RequestState, answer: Answer): Answer {
  const detail = invalidReason(answer) ?? wrongConnection(asked, answer.body);
  if (detail === undefined) return answer;
  // What keeps it from being sent may be that it is no body.
  if (typeof answer.body === "object" && answer.body !== null) unsent(answer.body);
  return failureAnswer(asked, new Unwritable(detail));
}

/** Why a connection is not to become what the answer says. A socket is opened only behind its route's handshake. */
function wrongConnection(asked: RequestState, body: AnswerBody): string | undefined {
  if (isTakeover(body)) return body.refusedBy(asked.exchange);
  return isSocket(body) && asked.route?.opens === undefined ? "a WebSocket, by a route that opens none" : undefined;
}

/** The bytes of a body; undefined where it is made while it is sent. */
function sizeOf(asked: RequestState, { status, body }: Answer): number | undefined {
  if (body === undefined || isBodiless(status)) return 0;
  if (typeof body === "string") return asked.exchange.byteLength(body);
  if (isSocket(body) || isTakeover(body)) return undefined;
  return isStream(body) ? body.length : body.byteLength;
}

// RFC 9110 §6.4.1: these have no content, whatever the answer holds.
function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function bodyOf(asked: RequestState, { status, body }: Answer): WireResponse["body"] {
  if (asked.method === "HEAD" || isBodiless(status)) return unsent(body);
  if (isSocket(body) || isTakeover(body)) return undefined;
  if (typeof body !== "object") return body;
  return isStream(body) ? begun(asked, body) : ownBytes(body);
}

function opened(asked: RequestState, { speak, ...setting }: SocketBody): OpenedSocket {
  return { ...setting, open: (link) => speak(link, new ConnectionLog(asked, "socket")) };
}

function begun(asked: RequestState, body: StreamBody): StreamBody {
  const request = new StreamLog(asked);
  if (body.begin === undefined) return { ...body, iterator: take(body.parts), request };
  body.begin(request);
  return { ...body, request };
}

// A stream that nobody will read is told so; one of the application's own has not begun, and another answer's goes on.
export function unsent(body: AnswerBody): undefined {
  if (!isStream(body) || !(body.parts instanceof ReadableStream) || isTaken(body.parts)) return;
  body.parts.cancel().catch(() => {});
}

function undeclaredBy(asked: RequestState, answer: Answer): string | undefined {
  const { route, inside } = asked;
  const code = answer.refused?.code.name;
  // What middleware made of an answer is the application's, and no longer the route's.
  const isRoutes =
    inside === undefined || (inside.made?.status === answer.status && inside.made.refused === answer.refused);
  const where = (isRoutes ? route?.route.pattern : undefined) ?? asked.path;
  if (code !== undefined) {
    return asked.declares(code, isRoutes) ? undefined : `${where} refused with ${code}, which nothing declares`;
  }
  const listed = isRoutes ? route?.statuses : undefined;
  if (listed === undefined || listed.has(answer.status)) return undefined;
  return `${where} answered ${answer.status}, which it does not list`;
}
