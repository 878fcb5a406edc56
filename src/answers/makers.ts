import type { SetCookie } from "../codecs/cookie.ts";
import { isPage } from "../html/page.ts";
import type { Html } from "../html/html.ts";
import { isObject, needs, needsObject, needsOptions, needsSchema, needsText } from "../arguments.ts";
import { contentDisposition } from "../http/disposition.ts";
import { encodeNonAscii } from "../http/target.ts";
import { awaitErrors } from "../node-stream.ts";
import { InvalidAnswerError, isRefusal, none } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import type { InputOf, StandardSchema, AnyStandard } from "../schema/standard.ts";
import type { AnyShape, ValueOf, Written } from "../schema/valibot.ts";
import type { Producer } from "../events/event-stream.ts";
import { htmlType, jsonType, textType } from "../exchange/answer.ts";
import type { Answer, AnswerBody, TakenConnection } from "../exchange/answer.ts";
import { checkKeepAlive, eventsAnswer, pageBody, takeoverBody, jsonWriterOf } from "./kinds.ts";

/** The options of any answer. */
export interface AnswerOptions {
  /** 200 to 599. */
  readonly status?: number;
  /** Headers to send; a name may be given several times. A header that the framework sets is a 500. */
  readonly headers?: Iterable<readonly [name: string, value: string]>;
  /** Cookies to set, made by `Cookie.make` or `Cookie.clear`. */
  readonly cookies?: readonly SetCookie[];
}

/**
 * Text or bytes of any type; `text/plain; charset=utf-8` and 200 by default.
 *
 * @param options `download` lets a browser save it as a file of that name, of any characters: `Content-Disposition: attachment`
 *   with the part after the last slash (RFC 6266, RFC 8187).
 *
 * @example
 * ```ts
 * Answer.make(csv, { contentType: "text/csv; charset=utf-8", download: "Übersicht.csv" });
 * ```
 */
export function make(
  body: string | Uint8Array,
  options: AnswerOptions & { readonly contentType?: string; readonly download?: string } = {},
): Answer {
  needsObject("Answer.make: options", options);
  const { contentType = textType, download } = options;
  const answer = buildAnswer("Answer.make", 200, definedBody(body), contentType, options, textNames);
  return download === undefined ? answer : asDownload("Answer.make", download, answer);
}

function asDownload(maker: string, name: string, answer: Answer): Answer {
  needsText(`${maker}: download`, name);
  return { ...answer, headers: [["content-disposition", contentDisposition(name)], ...answer.headers] };
}

/** An HTML page, as of the tag `html` or as text that is HTML already; `text/html; charset=utf-8` and 200 by default. */
export function html(page: string | Html, options: AnswerOptions = {}): Answer {
  const body = isPage(page) ? pageBody(page) : definedBody(page);
  return buildAnswer("Answer.html", 200, body, htmlType, options);
}

/**
 * A value as JSON, written by its shape: a member that the shape does not name is never sent. A schema of another library
 * validates the value, its input, and its output is sent.
 */
export function json<S extends StandardSchema>(
  schema: S,
  value: NoInfer<Written<InputOf<S>>>,
  options?: AnswerOptions,
): Answer;
// The last, because TypeScript 7 reports the errors of the last overload alone.
export function json<S extends AnyShape>(
  shape: S,
  value: NoInfer<Written<ValueOf<S>>>,
  options?: AnswerOptions,
): Answer;
export function json(shape: AnyStandard, value: unknown, options: AnswerOptions = {}): Answer {
  needsSchema("Answer.json: its shape", shape);
  return buildAnswer("Answer.json", 200, jsonWriterOf(shape)(value), jsonType, options);
}

/** No body; 204 by default. */
export function empty(options: AnswerOptions = {}): Answer {
  return buildAnswer("Answer.empty", 204, undefined, undefined, options);
}

/** A redirect; 302 by default (RFC 9110 §15.4). What of its location is white space or not ASCII is percent-encoded. */
export function redirect(location: string, options: AnswerOptions = {}): Answer {
  needsText("Answer.redirect: its location", location);
  const answer = buildAnswer("Answer.redirect", 302, undefined, undefined, options);
  return { ...answer, headers: [["location", encodeNonAscii(location)], ...answer.headers] };
}

/**
 * A body that is sent while it is made; `application/octet-stream` by default. `length` becomes `Content-Length`: a longer body
 * is cut, and a shorter one ends the connection. `download` is as of `Answer.make`.
 */
export function stream(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  options: AnswerOptions & { readonly contentType?: string; readonly length?: number; readonly download?: string } = {},
): Answer {
  needs(isObject(body), "Answer.stream: its body", body, "a stream");
  needsObject("Answer.stream: options", options);
  const parts = body as AsyncIterable<Uint8Array>;
  awaitErrors(parts);
  const framed = options.length === undefined ? {} : { length: options.length };
  const { contentType = "application/octet-stream", download } = options;
  const sent = { kind: "stream", parts, ...framed } as const;
  const answer = buildAnswer("Answer.stream", 200, sent, contentType, options, streamNames);
  return download === undefined ? answer : asDownload("Answer.stream", download, answer);
}

/** A stream of events as of `Returns.events`, without a check of their kinds. */
export function events<K>(
  producer: Producer<K>,
  options: Omit<AnswerOptions, "status"> & { readonly keepAliveMs?: number } = {},
): Answer {
  needsOptions("Answer.events", options, "headers cookies keepAliveMs");
  checkKeepAlive(options.keepAliveMs);
  const answer = eventsAnswer(producer, undefined, options.keepAliveMs);
  const headers = [...answer.headers, ...(options.headers ?? [])];
  return { ...answer, headers, cookies: options.cookies ?? none };
}

/**
 * A 101, after which the application's own protocol runs on the connection (RFC 9110 §7.8). Only `usher-http/node` does this,
 * on any runtime that has `node:http`. The client must offer the protocol in `Upgrade` with `Connection: upgrade`, over
 * HTTP/1.1, in a GET without a body; for any other request it is a 500. A HEAD gets the head alone.
 *
 * The connection ends when `handle` is done: everything written is sent, and the client has a second to end its side.
 *
 * @param protocol A name, with an optional version: `irc/6.9`.
 * @throws RangeError for an invalid name.
 *
 * @example
 * ```ts
 * get(Path.of("lines"), { returns: Returns.response }, () =>
 *   Answer.takeover("lines", async ({ readable, writable, stopping }) => {
 *     await readable.pipeTo(writable, { signal: stopping });
 *   }),
 * );
 * ```
 */
export function takeover(
  protocol: string,
  handle: (connection: TakenConnection) => Promise<void>,
  options: Omit<AnswerOptions, "status"> = {},
): Answer {
  return buildAnswer("Answer.takeover", 101, takeoverBody(protocol, handle), undefined, options);
}

/** The answer of a refusal: the status of its code, and `{ error, message, problems?, more? }`. */
export function refusal(refusal: Refusal): Answer {
  needs(isRefusal(refusal), "Answer.refusal: it", refusal, "made by refuse");
  const { code, message, problems, more, challenge: own = code.challenge } = refusal;
  const body = {
    error: code.name,
    message,
    ...(problems.length === 0 ? {} : { problems }),
    ...(more === 0 ? {} : { more }),
  };
  const challenge = own === undefined ? none : [["www-authenticate", own] as const];
  const headers = refusal.headers.length === 0 ? challenge : [...challenge, ...refusal.headers];
  return {
    status: code.status,
    contentType: jsonType,
    headers,
    cookies: none,
    body: JSON.stringify(body),
    closes: false,
    refused: refusal,
  };
}

/** The same answer, after which the connection closes, on a runtime where an application can close it. */
export function closeConnection(answer: Answer): Answer {
  needsObject("Answer.closeConnection: its answer", answer);
  return { ...answer, closes: true };
}

// `undefined` would make an answer without a body.
function definedBody<Body>(body: Body): Body {
  if (body === undefined) throw new InvalidAnswerError("an answer built of undefined, where a body is to be");
  return body;
}

const textNames = "status headers cookies contentType download";
const streamNames = "status headers cookies contentType length download";

function buildAnswer(
  maker: string,
  status: number,
  body: AnswerBody,
  contentType: string | undefined,
  options: AnswerOptions,
  names = "status headers cookies",
): Answer {
  needsOptions(maker, options, names);
  const { headers, cookies = none } = options;
  const isPairs = headers === undefined || (isObject(headers) && Symbol.iterator in headers);
  needs(isPairs, `${maker}: headers`, headers, "pairs of a name and a value");
  needs(Array.isArray(cookies), `${maker}: cookies`, cookies, "a list");
  return {
    status: options.status ?? status,
    ...(contentType === undefined ? {} : { contentType }),
    headers: headers === undefined ? none : [...headers],
    cookies,
    body,
    closes: false,
  };
}

export type { Answer } from "../exchange/answer.ts";
export { pass } from "./pass.ts";
export type { UndiciResponse } from "./pass.ts";
