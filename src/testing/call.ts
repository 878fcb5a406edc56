import { isStream } from "../exchange/answer.ts";
import { make } from "../app/app.ts";
import type { App, AppOptions } from "../app/app.ts";
import { isEventStream } from "../app/exchange.ts";
import type { Exchange, WireResponse } from "../app/exchange.ts";
import { EventReader } from "../events/event-reader.ts";
import type { ReadEvent } from "../events/event-reader.ts";
import type { OpenStream } from "../events/open-stream.ts";
import { following } from "../following.ts";
import type { Following } from "../following.ts";
import { byteLength, decode } from "../http/bytes.ts";
import { bodyTooLarge, noRoom } from "../inputs/body-source.ts";
import type { BodyReceiver, BodySource } from "../inputs/body-source.ts";
import {
  isListOf,
  isObject,
  needs,
  needsApp,
  needsFunction,
  needsObject,
  needsOptions,
  needsText,
} from "../arguments.ts";
import type { Awaitable } from "../inputs/dep.ts";
import type { PeerCertificate } from "../inputs/peer-certificate.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Route } from "../routing/route.ts";

/** An app under test, without a server. */
export interface TestApp {
  /** The app itself. */
  readonly app: App;
  /** The app's clock, if it was made with one. */
  readonly now?: (() => Date) | undefined;
}

/** A response with its whole body. */
export interface TestAnswer {
  /** The status code. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The body as text, decoded as UTF-8. */
  readonly body: string;
  /** Parses the body. */
  json(): unknown;
  /** Parses each line of a body of JSON lines. */
  lines(): readonly unknown[];
}

/** Reads a response to its end, or until its client goes. */
export async function answeredBy(sent: WireResponse, gone: AbortSignal): Promise<TestAnswer> {
  const headers = headersIn(sent);
  // The other protocol is not spoken after the 101.
  if (sent.socket !== undefined || sent.takeover !== undefined) sent.unsent?.();
  const text = await bodyText(sent.body, gone);
  const json = (): unknown => JSON.parse(text);
  const lines = (): readonly unknown[] => text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return { status: sent.status, headers, body: text, json, lines };
}

/** The headers of a response. */
export function headersIn({ head }: WireResponse): Headers {
  const headers = new Headers();
  for (let i = 0; i < head.length; i += 2) headers.append(head[i] as string, head[i + 1] as string);
  return headers;
}

/** Throws if the application did something that its route does not declare. */
function failOnUndeclared(deed: string | undefined): void {
  if (deed !== undefined) throw new Error(`Test.call: ${deed}`);
}

/** Throws if an answer is undeclared. What would have followed its head is ended. */
export function failOnAnswer({ undeclared, unsent }: WireResponse): void {
  if (undeclared !== undefined) unsent?.();
  failOnUndeclared(undeclared);
}

async function bodyText(body: WireResponse["body"], gone: AbortSignal): Promise<string> {
  if (body === undefined) return "";
  if (typeof body === "string") return body;
  const decoder = new TextDecoder();
  if (!isStream(body)) return decoder.decode(body);
  let text = "";
  await readBody(body, following([gone]), (part) => {
    text += decoder.decode(part, { stream: true });
  });
  return text + decoder.decode();
}

/**
 * Hands over the parts of a body until its client goes: by its signal, which aborts also where `take` returns `"stop"` or throws.
 * What the stream raises is thrown, and an error where it has fewer or more bytes than its length.
 */
async function readBody(
  body: OpenStream,
  going: Following,
  take: (part: Uint8Array) => Awaitable<void | "stop">,
): Promise<void> {
  const leave = (): void => body.end("client gone");
  const { signal: gone } = going;
  if (gone.aborted) leave();
  gone.addEventListener("abort", leave);
  // What `take` throws is not the producer's.
  let raised: { readonly thrown: unknown } | undefined;
  const { how, thrown } = await body.sendTo(async (part) => {
    try {
      return (await take(part)) !== "stop";
    } catch (thrown) {
      raised = { thrown };
      return false;
    }
  });
  gone.removeEventListener("abort", leave);
  if (how !== "finished") going.abort(undefined);
  going.release();
  if (raised !== undefined) throw raised.thrown;
  if (how === "failed") throw thrown;
  if (how !== "short" && how !== "long") return;
  throw new Error(`Test.call: its stream sent ${how === "short" ? "less" : "more"} than the length it was given`);
}

/** What `fetch` can send, besides text and bytes. */
type FetchBody = FormData | URLSearchParams | Blob | ArrayBuffer | ReadableStream<Uint8Array>;
type CallBody = string | Uint8Array | FetchBody | object;

interface EncodedBody {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

/** Encodes a body, with the `Content-Type` that a client would send; text and bytes have none. */
async function encodeBody(body: CallBody | undefined): Promise<EncodedBody | undefined> {
  if (body === undefined) return undefined;
  if (typeof body === "string") return { bytes: new TextEncoder().encode(body), contentType: undefined };
  if (body instanceof Uint8Array) return { bytes: body, contentType: undefined };
  if (isFetchBody(body)) return encodeAsFetch(body);
  return { bytes: new TextEncoder().encode(JSON.stringify(body)), contentType: "application/json" };
}

function isFetchBody(body: object): body is FetchBody {
  return [FormData, URLSearchParams, Blob, ArrayBuffer, ReadableStream].some((kind) => body instanceof kind);
}

async function encodeAsFetch(body: FetchBody): Promise<EncodedBody> {
  const encoded = new Response(body);
  const contentType = encoded.headers.get("content-type") ?? undefined;
  return { bytes: new Uint8Array(await encoded.arrayBuffer()), contentType };
}

/** The options of a call. */
export interface TestCallOptions {
  /** A list may repeat a header. */
  readonly headers?: Iterable<readonly [name: string, value: string]> | { readonly [name: string]: string } | undefined;
  /** Text and bytes are sent unchanged, a `Blob` with its type, `URLSearchParams` and `FormData` as forms, anything else as JSON. */
  readonly body?: CallBody | undefined;
  /** The client's address: `127.0.0.1` unless set. */
  readonly peer?: string | undefined;
  /** The certificate that the client shows: none unless set. */
  readonly peerCertificate?: PeerCertificate | undefined;
  /** The time of the request, instead of the app's clock. */
  readonly now?: Date | undefined;
  /** Abort it to disconnect the client. */
  readonly gone?: AbortSignal | undefined;
}

/** An exchange for tests: target and header lines are not normalised. */
export class CallExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly peer: string;
  readonly peerCertificate: PeerCertificate | undefined;
  readonly gone: AbortSignal;
  readonly now?: Date;
  readonly body: BodySource | undefined;
  readonly canUpgrade: boolean;
  readonly canTakeOver: boolean;
  readonly isTest = true;
  /** The first undeclared thing that the application did while its response was sent. */
  undeclaredDeed: string | undefined = undefined;
  readonly #lines: readonly (readonly [name: string, value: string])[];

  constructor(method: string, target: string, options: TestCallOptions, body: EncodedBody | undefined) {
    this.method = method;
    this.target = target;
    this.peer = options.peer ?? "127.0.0.1";
    this.peerCertificate = options.peerCertificate;
    if (options.now !== undefined) this.now = options.now;
    this.gone = options.gone ?? new AbortController().signal;
    this.body = body === undefined ? undefined : new GivenBody(body.bytes);
    // RFC 9110 §7.8: a body would have to be read before the protocol changes.
    this.canUpgrade = body === undefined || body.bytes.byteLength === 0;
    this.canTakeOver = this.canUpgrade && (method === "GET" || method === "HEAD");
    this.#lines = headerLines(options.headers ?? [], body);
  }

  undeclared(deed: string): void {
    this.undeclaredDeed ??= deed;
  }

  lines(name: string): readonly string[] {
    return this.#lines.filter(([given]) => given === name).map(([, value]) => value);
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#lines;
  }

  byteLength(text: string): number {
    return byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    return decode(bytes);
  }
}

function headerLines(
  given: NonNullable<TestCallOptions["headers"]>,
  body: EncodedBody | undefined,
): readonly (readonly [name: string, value: string])[] {
  const pairs = Symbol.iterator in given ? [...given] : Object.entries(given);
  const lines = pairs.map(([name, value]) => [name.toLowerCase(), value] as const);
  const has = (name: string): boolean => lines.some(([given]) => given === name);
  if (!has("host")) lines.push(["host", "localhost"]);
  if (body?.contentType !== undefined && !has("content-type")) lines.push(["content-type", body.contentType]);
  return lines;
}

const pieceBytes = 65_536;

/** A body that arrives in pieces, as from a network: what reads a stream holds one of them, and not the whole. */
class GivenBody implements BodySource {
  readonly length: number;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.byteLength;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#at >= this.length) return undefined;
    const from = this.#at;
    this.#at += pieceBytes;
    return this.#bytes.subarray(from, this.#at);
  }

  whole(limit: number, receiver: BodyReceiver): void {
    // Asynchronous, like a body from a network.
    queueMicrotask(() => {
      if (this.length > limit) receiver.done(bodyTooLarge);
      else receiver.done(receiver.take(this.length) ? this.#bytes : noRoom);
    });
  }
}

/**
 * Makes an app for tests. Its calls write no access line, nor the line of a stream or a socket that ended, unless the program
 * takes lines (`Log.setup({ out })`) or sets a level for `framework.http`.
 *
 * @throws DeclarationError as `App.make` does.
 */
export function app(routes: readonly Route[], options?: AppOptions): TestApp {
  return { app: make(routes, options), now: options?.now };
}

/** How long a call waits for what its request acquired to be released. */
export const settleMs = 60_000;

/**
 * Sends a request to an app. Method and target are used exactly as given.
 *
 * @throws Error if the application answers with an undeclared code or status. That is a bug: a server logs it.
 */
export async function call(
  tested: TestApp,
  method: string,
  target: string,
  options: TestCallOptions = {},
): Promise<TestAnswer> {
  checkCall("Test.call", tested, target, options);
  needsText("Test.call: its method", method);
  const { app } = tested;
  const body = await encodeBody(options.body);
  const exchange = new CallExchange(method, target, options, body);
  const sent = await app.answer(exchange);
  failOnAnswer(sent);
  const answering = answeredBy(sent, exchange.gone);
  // What its stream raises is thrown once what the request acquired is released, too.
  await Promise.allSettled([answering]);
  await app.settled(settleMs);
  const answered = await answering;
  failOnUndeclared(exchange.undeclaredDeed);
  return answered;
}

/** Receives each event that has data, so neither a comment nor a `retry`; return `"stop"` to disconnect. */
export type Receive = (event: Omit<ReadEvent, "retryMs">) => Awaitable<void | "stop">;

/**
 * Reads an event stream until it ends or `receive` returns `"stop"`. The error is a response that is not an event stream.
 *
 * @throws Error if the application answers or sends something undeclared; and what its producer throws.
 */
export async function events(
  tested: TestApp,
  target: string,
  receive: Receive,
  options: TestCallOptions = {},
): Promise<Result<void, TestAnswer>> {
  return followEvents(tested, target, receive, options, () => {});
}

/** `events`; `onHead` gets the headers of every answer, before its first event. */
export async function followEvents(
  tested: TestApp,
  target: string,
  receive: Receive,
  options: TestCallOptions,
  onHead: (headers: Headers) => void,
): Promise<Result<void, TestAnswer>> {
  checkCall("Test.events", tested, target, options);
  needsFunction("Test.events: its function", receive);
  const { app } = tested;
  const going = following([options.gone]);
  const headers = [["accept", "text/event-stream"] as const, ...headersOf(options)];
  const exchange = new CallExchange("GET", target, { ...options, headers, gone: going.signal }, undefined);
  try {
    const sent = await app.answer(exchange);
    failOnAnswer(sent);
    onHead(headersIn(sent));
    if (!isStream(sent.body) || !isEventStream(sent)) return error(await answeredBy(sent, going.signal));
    await readBody(sent.body, going, eventsTo(receive, exchange));
  } finally {
    going.release();
    await app.settled(settleMs);
  }
  failOnUndeclared(exchange.undeclaredDeed);
  return ok();
}

/** Looks at what only JavaScript gets wrong in the arguments of a call. */
export function checkCall(at: string, tested: TestApp, target: unknown, options: TestCallOptions): void {
  needsObject(`${at}: its app`, tested);
  needsApp(`${at}: its app`, tested.app);
  needsText(`${at}: its target`, target);
  needsOptions(at, options, "headers body peer peerCertificate now gone");
  const { headers = [] } = options;
  const isPairs = isObject(headers) && (!Array.isArray(headers) || isListOf(headers, Array.isArray));
  needs(isPairs, `${at}: headers`, headers, "headers by name, or pairs");
}

/** Hands the events of a body's parts to `receive`. */
function eventsTo(receive: Receive, exchange: CallExchange): (part: Uint8Array) => Promise<void | "stop"> {
  const reader = new EventReader();
  return async (part) => {
    for (const { name, id, data } of reader.feed(part)) {
      failOnUndeclared(exchange.undeclaredDeed);
      if ((await receive({ name, id, data })) === "stop") return "stop";
    }
    return undefined;
  };
}

export function headersOf({ headers = [] }: TestCallOptions): readonly (readonly [name: string, value: string])[] {
  return Symbol.iterator in headers ? [...headers] : Object.entries(headers);
}
