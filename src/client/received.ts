import { EventReader } from "../events/event-reader.ts";
import type { ReadEvent } from "../events/event-reader.ts";
import type { Ask, outcomeOf } from "./of.ts";

const firstMs = 1000;
const maxWaitMs = 30_000;
// No timer takes a longer time: it would end at once.
const mostOfTimerMs = 2 ** 31 - 1;

/**
 * How long to wait before a stream is asked for again: what the server asked for, or a second; after each failure twice as
 * long, up to 30 seconds, and not all clients of a server at once.
 */
function waitMs(retryMs: number | undefined, failures: number): number {
  const asked = Math.min(retryMs ?? firstMs, mostOfTimerMs);
  if (failures === 0) return asked;
  const longer = Math.min((asked || firstMs) * 2 ** failures, maxWaitMs);
  return Math.max(asked, longer * (1 - Math.random() / 2));
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

/** An event as it is handed on. */
interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly value: unknown;
}

/** What opens a stream, each time. */
interface Opening {
  readonly request: Request;
  readonly ask: Ask;
  readonly outcome: typeof outcomeOf;
}

/**
 * The events of a stream, over as many connections as it takes. It ends when its reader leaves, when its signal aborts,
 * and where the server ended it without a word on how to go on: no id, and no `retry`.
 */
function received(
  first: Response,
  request: Request,
  ask: Ask,
  outcome: typeof outcomeOf,
): AsyncIterableIterator<ReceivedEvent, undefined> {
  const leaving = new AbortController();
  const { signal: left } = leaving;
  // Nobody may ever have asked for an event.
  left.addEventListener("abort", () => drop(first));
  request.signal.addEventListener("abort", () => leaving.abort());
  if (request.signal.aborted) leaving.abort();
  const events = eventsOf(first, { request, ask, outcome }, left);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => events.next(),
    // By itself a generator would first wait for the event it waits for.
    return() {
      leaving.abort();
      return events.return(undefined);
    },
  };
}

async function* eventsOf(
  first: Response,
  opening: Opening,
  left: AbortSignal,
): AsyncGenerator<ReceivedEvent, undefined, undefined> {
  // Asking again for what was no GET would do something again.
  const isRepeatable = opening.request.method === "GET";
  const waiting = { failures: 0 };
  let response: Response | undefined = first;
  let reader = new EventReader();
  while (response !== undefined) {
    const texts = textKindsOf(response);
    const connection = eventsOfOne(response, reader, left);
    let read = await connection.next();
    for (; !read.done; read = await connection.next()) {
      waiting.failures = 0;
      const { name, id, data } = read.value;
      yield { name, id, value: texts?.includes(name) ? data : parsed(data) };
    }
    const isWhole = read.value;
    if (left.aborted || (isWhole && !(isRepeatable && canGoOn(reader)))) return undefined;
    if (!isRepeatable) throw new Error("the event stream was cut off");
    response = await goneOn(opening, reader, waiting, left);
    reader = new EventReader(undefined, reader);
  }
  return undefined;
}

/** Whether a stream that its server ended is asked for again: without an id it would begin anew. */
function canGoOn({ lastId, retryMs }: EventReader): boolean {
  return Boolean(lastId) || retryMs !== undefined;
}

/** The events of one connection, and then whether the server ended it itself. */
async function* eventsOfOne(
  { body }: Response,
  reader: EventReader,
  left: AbortSignal,
): AsyncGenerator<ReadEvent, boolean> {
  const bytes = body?.getReader();
  const cancel = (): void => {
    bytes?.cancel().catch(() => {});
  };
  left.addEventListener("abort", cancel);
  if (left.aborted) cancel();
  try {
    for (;;) {
      const part = await bytes?.read().catch(() => undefined);
      if (part === undefined || part.done) return part !== undefined;
      yield* reader.feed(part.value);
    }
  } finally {
    left.removeEventListener("abort", cancel);
    cancel();
  }
}

/** The stream of the next connection, however often it must be asked for; undefined where it has ended for good. */
async function goneOn(
  { request, ask, outcome }: Opening,
  { lastId, retryMs }: EventReader,
  waiting: { failures: number },
  left: AbortSignal,
): Promise<Response | undefined> {
  const headers = new Headers(request.headers);
  // As an EventSource sends it: the bytes of its UTF-8.
  if (lastId) headers.set("last-event-id", String.fromCharCode(...new TextEncoder().encode(lastId)));
  for (;;) {
    await wait(waitMs(retryMs, waiting.failures++), left);
    if (left.aborted) return undefined;
    const again = new Request(request, { headers, signal: left });
    const response = await ask(again).catch(() => undefined);
    if (response?.ok && isEventStream(response)) return response;
    // HTML, "Server-sent events": this is how a server says that there is no more.
    if (response?.status === 204) return undefined;
    if (response !== undefined && response.status < 500 && response.status !== 429) {
      const cause = await outcome(again, async () => response);
      throw new Error(`the event stream does not go on: ${cause.ok ? "what answers is none" : cause.error}`, { cause });
    }
    if (response) drop(response);
  }
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(typeOf(response));
}

/** The kinds that a stream's type says are text; undefined where it says nothing of them. */
function textKindsOf(response: Response): readonly string[] | undefined {
  return /;text-kinds="([^"]*)"/.exec(typeOf(response))?.[1]?.split(",").map(decodeURIComponent);
}

/** JSON; of a server that does not say which kinds are text, what is no JSON is text. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

/** The content type; empty where there is none. */
function typeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

function drop({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** What a call sends and gets that is no JSON. A bundler makes a chunk of this: what every call runs is handed to it. */

/** A request with a form: in parts where a file is in it, and otherwise as a form without an `enctype` is sent. */
export function formed(request: Request, fields: [name: string, value: string | Blob][]): Request {
  if (!fields.some(([, value]) => value instanceof Blob))
    return new Request(request, { body: new URLSearchParams(fields as [string, string][]) });
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return new Request(request, { body });
}

/** What a body is by its type. */
export async function valueOf(
  response: Response,
  request: Request,
  ask: Ask,
  outcome: typeof outcomeOf,
): Promise<unknown> {
  if (isEventStream(response)) return received(response, request, ask, outcome);
  return /^text\//i.test(typeOf(response)) ? response.text() : response;
}
