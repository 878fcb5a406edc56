import { counted } from "../counted.ts";
import type { Succeeded } from "../answers/returns-type.ts";
import { EventReader } from "../events/event-reader.ts";
import type { ReadEvent } from "../events/event-reader.ts";
import { following } from "../following.ts";
import type { Following } from "../following.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import type { Problem } from "../refusals.ts";
import { bodyUntil } from "./body-until.ts";
import type { ClientOptions, Refused } from "./calls.ts";

/** What a call resolves with. */
export type CallResult = Succeeded<number, unknown> | Refused<string, readonly Problem[]>;
export type FetchFunction = (request: Request) => Promise<Response>;
/** The values of JSON lines. */
export type LinesToSend = Iterable<unknown> | AsyncIterable<unknown>;

// Of a line, and of an event.
const maxLength = 1_048_576;
const firstMs = 1000;
const maxWaitMs = 30_000;
// A longer timer would fire at once.
const maxTimerMs = 2 ** 31 - 1;

/**
 * How long to wait before a stream is opened again: the server's `retry`, or a second. Each failure doubles it, up to 30
 * seconds, with jitter so that not all clients reconnect at once.
 */
function waitMs(retryMs: number | undefined, failures: number): number {
  const base = Math.min(retryMs ?? firstMs, maxTimerMs);
  if (failures === 0) return base;
  const longer = Math.min((base || firstMs) * 2 ** failures, maxWaitMs);
  return Math.max(base, longer * (1 - Math.random() / 2));
}

/** Waits, unless the signal aborts before. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, maxTimerMs));
    signal.addEventListener("abort", done);
    // It aborts while the stream is asked for, too.
    if (signal.aborted) done();
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** An event of a typed call. */
interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly value: unknown;
}

/** The call that was answered: what is needed to open its stream again, and its end. */
interface AnsweredCall extends Pick<ClientOptions, "maxLine" | "maxEvent" | "minReconnectMs"> {
  readonly request: Request;
  readonly fetchRequest: FetchFunction;
  readonly signals: readonly AbortSignal[];
  readonly maxBody: number;
  /** The result of a response to the same request, sent again. */
  readonly outcome: (request: Request, response: Response, signal: AbortSignal) => Promise<CallResult>;
}

/**
 * The events of a stream, over any number of connections. It ends when the loop is left, when the signal aborts, and when
 * the server ends it without an id or `retry`.
 */
function received(first: Response, call: AnsweredCall): AsyncIterableIterator<ReceivedEvent, undefined> {
  return stoppable(first, call.signals, (stopping) => eventsOf(first, call, stopping));
}

/** What a generator makes of a response, until the loop is left or a signal aborts. It releases the signals at its end. */
function stoppable<A>(
  first: Response,
  signals: readonly AbortSignal[],
  generate: (stopping: Following) => AsyncGenerator<A, undefined, undefined>,
): AsyncIterableIterator<A, undefined> {
  const stopping = following(signals);
  // The loop may never have started.
  stopping.signal.addEventListener("abort", () => drop(first));
  if (stopping.signal.aborted) drop(first);
  const values = generate(stopping);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => values.next(),
    // A generator's own `return` would wait for the pending value.
    return() {
      stopping.abort(undefined);
      return values.return(undefined);
    },
  };
}

/**
 * The values of JSON lines. Throws where they were cut off, where the time of a signal was over, as they are not all, and at a line
 * that is too long.
 */
async function* linesOf(
  { body }: Response,
  { maxLine = maxLength }: AnsweredCall,
  { signal: stopped, release }: Following,
): AsyncGenerator<unknown, undefined, undefined> {
  const decoder = new TextDecoder();
  const parts = partsOf(body, stopped);
  let begun = "";
  try {
    for (let part = await parts.next(); !stopped.aborted; part = await parts.next()) {
      if (part.done && !part.value) throw new Error("the JSON lines were cut off");
      // The last line may have no line feed.
      const text = part.done ? `${decoder.decode()}\n` : decoder.decode(part.value, { stream: true });
      const [rest = "", ...lines] = text.split("\n");
      begun += rest;
      for (const line of lines) {
        checkLine(begun, maxLine);
        if (/[^ \t\r]/.test(begun)) yield JSON.parse(begun);
        // The loop may have aborted the signal.
        if (stopped.aborted) break;
        begun = line;
      }
      checkLine(begun, maxLine);
      if (part.done) return undefined;
    }
    if ((stopped.reason as Partial<Error> | undefined)?.name === "TimeoutError") throw stopped.reason;
    return undefined;
  } finally {
    release();
    await parts.return(false);
  }
}

function checkLine({ length }: string, maxLine: number): void {
  if (length > maxLine) throw new RangeError(`a line is longer than ${counted(maxLine, "character")}`);
}

async function* eventsOf(
  first: Response,
  call: AnsweredCall,
  stopping: Following,
): AsyncGenerator<ReceivedEvent, undefined, undefined> {
  const { signal: stopped } = stopping;
  // Only a GET may be repeated.
  const isRepeatable = call.request.method === "GET";
  const waiting = { failures: 0, openedAt: performance.now() };
  let response: Response | undefined = first;
  let reader = new EventReader(call.maxEvent);
  try {
    while (response !== undefined) {
      const texts = textKindsOf(response);
      const connection = eventsOfOne(response, reader, stopped);
      let read = await connection.next();
      for (; !read.done; read = await connection.next()) {
        waiting.failures = 0;
        const { name, id, data } = read.value;
        yield { name, id, value: texts?.includes(name) ? data : parsed(data) };
        // The loop may have aborted the signal.
        if (stopped.aborted) return undefined;
      }
      const isWhole = read.value;
      if (stopped.aborted || (isWhole && !(isRepeatable && canResume(reader)))) return undefined;
      if (!isRepeatable) throw new Error("the event stream was cut off");
      // A proxy may end a quiet stream after a while: it had not failed.
      if (performance.now() - waiting.openedAt >= maxWaitMs) waiting.failures = 0;
      response = await reconnect(call, reader, waiting, stopping);
      reader = new EventReader(call.maxEvent, reader);
    }
    return undefined;
  } finally {
    stopping.release();
  }
}

/** Whether to reopen a stream that the server ended: without an id it would start again. */
function canResume({ lastId, retryMs }: EventReader): boolean {
  return Boolean(lastId) || retryMs !== undefined;
}

/** The events of one connection. Returns true if the server ended the stream, false if the connection broke or the server stopped. */
async function* eventsOfOne(
  { body }: Response,
  reader: EventReader,
  stopped: AbortSignal,
): AsyncGenerator<ReadEvent, boolean> {
  const parts = partsOf(body, stopped);
  try {
    for (let part = await parts.next(); ; part = await parts.next()) {
      if (part.done) return part.value && !reader.isStopping;
      yield* reader.feed(part.value);
    }
  } finally {
    await parts.return(false);
  }
}

/** The parts of a body. Returns true at its end, false if it broke. */
async function* partsOf(body: Response["body"], stopped: AbortSignal): AsyncGenerator<Uint8Array, boolean> {
  const bytes = body?.getReader();
  const cancel = (): void => {
    bytes?.cancel().catch(() => {});
  };
  stopped.addEventListener("abort", cancel);
  if (stopped.aborted) cancel();
  try {
    for (;;) {
      const part = await bytes?.read().catch(() => undefined);
      if (part === undefined || part.done) return part !== undefined;
      yield part.value;
    }
  } finally {
    stopped.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Opens the stream again, with retries. Resolves with undefined if it has ended for good. */
async function reconnect(
  { request, fetchRequest, outcome, minReconnectMs = firstMs }: AnsweredCall,
  { lastId, retryMs }: EventReader,
  waiting: { failures: number; openedAt: number },
  stopping: Following,
): Promise<Response | undefined> {
  const { signal: stopped } = stopping;
  const headers = new Headers(request.headers);
  // An EventSource also sends the bytes of its UTF-8.
  if (lastId) headers.set("last-event-id", String.fromCharCode(...new TextEncoder().encode(lastId)));
  let leastMs = 0;
  for (;;) {
    const restMs = Math.ceil(waiting.openedAt + minReconnectMs - performance.now());
    await wait(Math.max(leastMs, restMs, waitMs(retryMs, waiting.failures++)), stopped);
    if (stopped.aborted) return undefined;
    waiting.openedAt = performance.now();
    const again = new Request(request, { headers, signal: stopped });
    const response = await fetchRequest(again).catch(() => undefined);
    if (response?.ok && isEventStream(response)) return response;
    // HTML, "Server-sent events": 204 tells the client to stop.
    if (response?.status === 204) return undefined;
    if (response !== undefined && response.status < 500 && response.status !== 429) {
      const cause = await outcome(again, response, stopped);
      const reason = cause.ok ? "the response is not an event stream" : cause.error;
      throw new Error(`the event stream cannot resume: ${reason}`, { cause });
    }
    leastMs = response ? retryAfterMs(response.headers, Date.now(), maxTimerMs) : 0;
    if (response) drop(response);
  }
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream[\t ]*(;|$)/i.test(contentTypeIn(response));
}

/** The event kinds that the stream's `Content-Type` lists as text; undefined if it has no list. */
function textKindsOf(response: Response): readonly string[] | undefined {
  return /;text-kinds="([^"]*)"/.exec(contentTypeIn(response))?.[1]?.split(",").map(decodeURIComponent);
}

/** Parses JSON. A server may not list its text kinds, so anything else is text. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

function contentTypeIn({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

function drop({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** Adds a form or lines to a request. */
export function withBody(
  request: Request,
  fields: [name: string, value: string | Blob][] | undefined,
  lines: LinesToSend = [],
): Request {
  return fields === undefined ? withLines(request, lines) : withForm(request, fields);
}

/** Adds a form to a request: multipart if it has a file, otherwise URL-encoded. */
function withForm(request: Request, fields: [name: string, value: string | Blob][]): Request {
  if (!fields.some(([, value]) => value instanceof Blob))
    return new Request(request, { body: new URLSearchParams(fields as [string, string][]) });
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return new Request(request, { body });
}

/** Adds JSON lines to a request. A stream is sent as it is made, for which not every platform's `fetch` has a way. */
function withLines(request: Request, values: LinesToSend): Request {
  const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;
  const body = Symbol.asyncIterator in values ? encoded(values, lineOf) : Array.from(values, lineOf).join("");
  const headers = new Headers(request.headers);
  if (!headers.has("content-type")) headers.set("content-type", "application/x-ndjson");
  // A constant, as the DOM's types lack `duplex`.
  const init = { body: body as string, headers, duplex: "half" as const };
  return new Request(request, init);
}

function encoded(values: AsyncIterable<unknown>, lineOf: (value: unknown) => string): ReadableStream<Uint8Array> {
  const iterator = values[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(lineOf(value)));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A response whose body fails once a signal aborts, and past a size. */
export function endingBy(signals: readonly AbortSignal[], response: Response, maxBody?: number): Response {
  return bodyUntil(response, following(signals), maxBody);
}

/** The value of a body, by its `Content-Type`. */
export async function valueOf(response: Response, call: AnsweredCall): Promise<unknown> {
  const { signals, maxBody } = call;
  if (isEventStream(response)) return received(response, call);
  if (/^application\/(x-ndjson|jsonl)[\t ]*(;|$)/i.test(contentTypeIn(response))) {
    return stoppable(response, signals, (stopping) => linesOf(response, call, stopping));
  }
  if (/^text\//i.test(contentTypeIn(response))) return endingBy(signals, response, maxBody).text();
  return unread(response, signals);
}

/** A response whose body is for the caller to read. */
export function unread(response: Response, signals: readonly AbortSignal[]): Response {
  return signals[0] ? endingBy(signals, response) : response;
}
