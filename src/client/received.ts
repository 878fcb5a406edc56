import { EventReader } from "../events/event-reader.ts";
import type { ReadEvent } from "../events/event-reader.ts";
import type { FetchFunction, outcomeOf } from "./of.ts";

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
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
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

/** What is needed to open the stream again. */
interface Opening {
  readonly request: Request;
  readonly fetchRequest: FetchFunction;
  readonly outcome: typeof outcomeOf;
}

/**
 * The events of a stream, over any number of connections. It ends when the loop is left, when the signal aborts, and when
 * the server ends it without an id or `retry`.
 */
function received(
  first: Response,
  request: Request,
  fetchRequest: FetchFunction,
  outcome: typeof outcomeOf,
): AsyncIterableIterator<ReceivedEvent, undefined> {
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  // The loop may never have started.
  stopped.addEventListener("abort", () => drop(first));
  request.signal.addEventListener("abort", () => stopping.abort());
  if (request.signal.aborted) stopping.abort();
  const events = eventsOf(first, { request, fetchRequest, outcome }, stopped);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => events.next(),
    // A generator's own `return` would wait for the pending event.
    return() {
      stopping.abort();
      return events.return(undefined);
    },
  };
}

async function* eventsOf(
  first: Response,
  opening: Opening,
  stopped: AbortSignal,
): AsyncGenerator<ReceivedEvent, undefined, undefined> {
  // Only a GET may be repeated.
  const isRepeatable = opening.request.method === "GET";
  const waiting = { failures: 0 };
  let response: Response | undefined = first;
  let reader = new EventReader();
  while (response !== undefined) {
    const texts = textKindsOf(response);
    const connection = eventsOfOne(response, reader, stopped);
    let read = await connection.next();
    for (; !read.done; read = await connection.next()) {
      waiting.failures = 0;
      const { name, id, data } = read.value;
      yield { name, id, value: texts?.includes(name) ? data : parsed(data) };
    }
    const isWhole = read.value;
    if (stopped.aborted || (isWhole && !(isRepeatable && canResume(reader)))) return undefined;
    if (!isRepeatable) throw new Error("the event stream was cut off");
    response = await reconnect(opening, reader, waiting, stopped);
    reader = new EventReader(undefined, reader);
  }
  return undefined;
}

/** Whether to reopen a stream that the server ended: without an id it would start again. */
function canResume({ lastId, retryMs }: EventReader): boolean {
  return Boolean(lastId) || retryMs !== undefined;
}

/** The events of one connection. Returns true if the server ended it, false if it broke. */
async function* eventsOfOne(
  { body }: Response,
  reader: EventReader,
  stopped: AbortSignal,
): AsyncGenerator<ReadEvent, boolean> {
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
      yield* reader.feed(part.value);
    }
  } finally {
    stopped.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Opens the stream again, with retries. Resolves with undefined if it has ended for good. */
async function reconnect(
  { request, fetchRequest, outcome }: Opening,
  { lastId, retryMs }: EventReader,
  waiting: { failures: number },
  stopped: AbortSignal,
): Promise<Response | undefined> {
  const headers = new Headers(request.headers);
  // An EventSource also sends the bytes of its UTF-8.
  if (lastId) headers.set("last-event-id", String.fromCharCode(...new TextEncoder().encode(lastId)));
  for (;;) {
    await wait(waitMs(retryMs, waiting.failures++), stopped);
    if (stopped.aborted) return undefined;
    const again = new Request(request, { headers, signal: stopped });
    const response = await fetchRequest(again).catch(() => undefined);
    if (response?.ok && isEventStream(response)) return response;
    // HTML, "Server-sent events": 204 tells the client to stop.
    if (response?.status === 204) return undefined;
    if (response !== undefined && response.status < 500 && response.status !== 429) {
      const cause = await outcome(again, async () => response);
      const reason = cause.ok ? "the response is not an event stream" : cause.error;
      throw new Error(`the event stream cannot resume: ${reason}`, { cause });
    }
    if (response) drop(response);
  }
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(typeOf(response));
}

/** The event kinds that the stream's `Content-Type` lists as text; undefined if it has no list. */
function textKindsOf(response: Response): readonly string[] | undefined {
  return /;text-kinds="([^"]*)"/.exec(typeOf(response))?.[1]?.split(",").map(decodeURIComponent);
}

/** Parses JSON. A server may not list its text kinds, so anything else is text. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

function typeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

function drop({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** Adds a form to a request: multipart if it has a file, otherwise URL-encoded. */
export function withForm(request: Request, fields: [name: string, value: string | Blob][]): Request {
  if (!fields.some(([, value]) => value instanceof Blob))
    return new Request(request, { body: new URLSearchParams(fields as [string, string][]) });
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return new Request(request, { body });
}

/** The value of a body, by its `Content-Type`. */
export async function valueOf(
  response: Response,
  request: Request,
  fetchRequest: FetchFunction,
  outcome: typeof outcomeOf,
): Promise<unknown> {
  if (isEventStream(response)) return received(response, request, fetchRequest, outcome);
  return /^text\//i.test(typeOf(response)) ? response.text() : response;
}
