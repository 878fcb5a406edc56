import { readParts } from "../../src/events/stream.ts";
import type { Parts, StreamBody, StreamEnd } from "../../src/events/stream.ts";
import type { WorkerExchange } from "./exchange.ts";

type BodyPipe = TransformStream<Uint8Array, Uint8Array>;
type Writer = WritableStreamDefaultWriter<Uint8Array>;

/** How the sending of a stream ended, and with what was raised, where something was. */
interface Ended {
  readonly how: StreamEnd;
  readonly thrown?: unknown;
}

const clientLeft: Ended = { how: "client gone" };

// The runtime's own, which no other has.
declare const IdentityTransformStream: new () => BodyPipe;
declare const FixedLengthStream: new (length: number) => BodyPipe;

/**
 * What a streamed body is written to and sent from. A write to it fails once the client has gone, where a stream that
 * the runtime pulls from is only never pulled again; and it alone keeps a `content-length`.
 */
export function pathFor({ length }: StreamBody): BodyPipe {
  return length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
}

/**
 * How long what makes a stream may go on after its client left. Cloudflare gives as much (`waitUntil`); workerd by itself
 * would keep the request for as long as it lasts.
 */
const tidyingMs = 30_000;

/** What sends a body. */
interface WorkerSender {
  readonly send: () => Promise<Ended>;
  /** Tells what makes the parts that nobody reads any further. Resolves once it has ended. */
  readonly cancel: () => Promise<void>;
}

/** Sends a body as it is made, never further ahead of the client than a part. Resolves once what makes it has ended. */
export async function stream(
  exchange: WorkerExchange,
  body: StreamBody,
  writable: BodyPipe["writable"],
): Promise<void> {
  const { parts, request } = body;
  const run = <A>(work: () => A): A => (request === undefined ? work() : request.run(work));
  const { gone } = exchange;
  const sender = parts instanceof ReadableStream ? piping(parts, writable, gone) : writing(body, writable, gone);
  const { how, thrown } = await run(sender.send).catch((thrown: unknown): Ended => ({ how: "failed", thrown }));
  const cancelled = run(sender.cancel);
  // The client is told that this was not all. The runtime logs the reason, so it says nothing.
  if (how !== "finished") await happens(writable.abort(new Error("the stream was cut")));
  if (how === "client gone") exchange.left();
  request?.ended(how, thrown);
  // The runtime drops what a request still does once nothing keeps it: a `finally`, or a transaction that is rolled back.
  await atMost(tidyingMs, cancelled);
}

/**
 * Resolves once the runtime tells that the client left. It tells of a reset, and of that too only where nothing was being
 * written; of any other departure the next write does.
 */
function leaving(gone: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    const leave = (): void => resolve(clientLeft);
    if (gone.aborted) leave();
    else gone.addEventListener("abort", leave, { once: true });
  });
}

// The runtime's words for a client that went. A native source says the same of its own connection.
const lost = "Network connection lost.";

/**
 * Hands a platform's stream to the platform: one of the runtime's own is then sent without this code running, and of
 * one that does not keep to its length the runtime's own log tells.
 */
function piping(parts: ReadableStream<Uint8Array>, writable: BodyPipe["writable"], gone: AbortSignal): WorkerSender {
  let piped: Promise<boolean> | undefined;
  return {
    send: () => {
      // workerd's `pipeTo` does not wait for what the source's `cancel` does, so that is called once it is over.
      const piping = parts.pipeTo(writable, { preventAbort: true, preventCancel: true });
      piped = happens(piping);
      const sent = piping.then(
        (): Ended => ({ how: "finished" }),
        (thrown: unknown): Ended => {
          const isLost = thrown instanceof Error && thrown.message === lost;
          return isLost ? clientLeft : { how: "failed", thrown };
        },
      );
      return Promise.race([sent, leaving(gone)]);
    },
    cancel: async () => {
      // It has the source until that gives a part which cannot be sent: it passes over a signal till then.
      await piped;
      await happens(parts.cancel());
    },
  };
}

function writing(body: StreamBody, writable: BodyPipe["writable"], gone: AbortSignal): WorkerSender {
  let made: Parts | undefined;
  return {
    send: async () => {
      const parts = (made = readParts(body));
      const writer = writable.getWriter();
      // A part may be long in coming, or never come: what makes it is told of a client that left meanwhile.
      const closed = new Promise<Ended>((resolve) => {
        writer.closed.catch(() => resolve(clientLeft));
      });
      const written = writeParts(parts, writer, body.length).then((how): Ended => ({ how }));
      try {
        return await Promise.race([written, closed, leaving(gone)]);
      } finally {
        writer.releaseLock();
      }
    },
    cancel: async () => made?.cancel(),
  };
}

async function writeParts(parts: Parts, writer: Writer, length: number | undefined): Promise<StreamEnd> {
  let left = length ?? Number.POSITIVE_INFINITY;
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    const taken = part.subarray(0, left);
    if (taken.byteLength > 0 && !(await happens(writer.write(taken)))) return "client gone";
    if (part.byteLength > left) return "long";
    left -= part.byteLength;
  }
  if (length !== undefined && left > 0) return "short";
  return (await happens(writer.close())) ? "finished" : "client gone";
}

function happens(done: Promise<void>): Promise<boolean> {
  return done.then(
    () => true,
    () => false,
  );
}

/** Waits for it, and no longer than that. */
async function atMost(ms: number, done: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([done, late]);
  clearTimeout(timer);
}
