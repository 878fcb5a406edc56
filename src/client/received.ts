import { EventReader } from "../streams/event-reader.ts";
import type { ReadEvent } from "../streams/event-reader.ts";
import type { Sent } from "./request.ts";
import { isEventStream, outcomeOf, typeOf } from "./outcome.ts";
import { wait, waitMs } from "./waiting.ts";

/** An event as it is handed on. */
interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly value: unknown;
}

type SentHeaders = Sent["headers"];
type GoOn = (lastId: string | undefined) => Promise<Response>;

/**
 * The events of a stream, over as many connections as it takes. It ends when its reader leaves, when its signal aborts,
 * and where the server ended it without a word on how to go on: no id, and no `retry`.
 *
 * @param ask Asks for it again with other headers; undefined where asking again would do something again.
 * @param left Aborts with `leaving`, and with the call's own signal; so does what the stream was asked with.
 */
export function received(
  first: Response,
  headers: SentHeaders,
  ask: ((headers: SentHeaders) => Promise<Response>) | undefined,
  leaving: AbortController,
  left: AbortSignal,
): AsyncIterableIterator<ReceivedEvent, undefined> {
  // Nobody may ever have asked for an event.
  left.addEventListener("abort", () => drop(first));
  const goOn = ask && ((lastId: string | undefined) => ask(after(lastId, headers)));
  const events = eventsOf(first, goOn, left);
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

/** As an EventSource sends it: the bytes of its UTF-8. */
function after(lastId: string | undefined, headers: SentHeaders): SentHeaders {
  return lastId ? { ...headers, "last-event-id": String.fromCharCode(...new TextEncoder().encode(lastId)) } : headers;
}

async function* eventsOf(
  first: Response,
  goOn: GoOn | undefined,
  left: AbortSignal,
): AsyncGenerator<ReceivedEvent, undefined, undefined> {
  const waiting = { failures: 0 };
  let response: Response | undefined = first;
  let reader = new EventReader();
  while (response !== undefined) {
    const texts = textKindsOf(typeOf(response));
    const connection = eventsOfOne(response, reader, left);
    let read = await connection.next();
    for (; !read.done; read = await connection.next()) {
      waiting.failures = 0;
      const { name, id, data } = read.value;
      yield { name, id, value: texts?.includes(name) ? data : parsed(data) };
    }
    const isWhole = read.value;
    if (left.aborted || (isWhole && !(goOn && canGoOn(reader)))) return undefined;
    if (goOn === undefined) throw new Error("the event stream was cut off");
    response = await goneOn(goOn, reader, waiting, left);
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
  const cancel = () => void bytes?.cancel().catch(() => {});
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
  goOn: GoOn,
  { lastId, retryMs }: EventReader,
  waiting: { failures: number },
  left: AbortSignal,
): Promise<Response | undefined> {
  for (;;) {
    await wait(waitMs(retryMs, waiting.failures++), left);
    if (left.aborted) return undefined;
    const response = await goOn(lastId).catch(() => undefined);
    if (response?.ok && isEventStream(response)) return response;
    // HTML, "Server-sent events": this is how a server says that there is no more.
    if (response?.status === 204) return undefined;
    if (response !== undefined && response.status < 500 && response.status !== 429) {
      const outcome = await outcomeOf(
        () => response,
        async () => undefined,
      );
      throw new Error(`the event stream does not go on: ${outcome.ok ? "what answers is none" : outcome.error}`, {
        cause: outcome,
      });
    }
    if (response) drop(response);
  }
}

/** The kinds that a stream's type says are text; undefined where it says nothing of them. */
function textKindsOf(type: string): readonly string[] | undefined {
  return /;text-kinds="([^"]*)"/.exec(type)?.[1]?.split(",").map(decodeURIComponent);
}

/** JSON; of a server that does not say which kinds are text, what is no JSON is text. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

function drop({ body }: Response): void {
  body?.cancel().catch(() => {});
}
