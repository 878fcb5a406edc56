import { readParts } from "../../src/events/stream.ts";
import type { Parts, StreamBody, StreamEnd } from "../../src/events/stream.ts";
import type { WorkerExchange } from "./exchange.ts";

type BodyPipe = TransformStream<Uint8Array, Uint8Array>;
type Writer = WritableStreamDefaultWriter<Uint8Array>;

/** How a stream ended, and the error, if any. */
interface Ended {
  readonly how: StreamEnd;
  readonly thrown?: unknown;
}

const clientLeft: Ended = { how: "client gone" };

// Exist only in workerd.
declare const IdentityTransformStream: new () => BodyPipe;
declare const FixedLengthStream: new (length: number) => BodyPipe;

/**
 * The pipe of a streamed body. A write to it fails once the client has gone, whereas a stream that the runtime pulls from is
 * only not pulled again. Only this pipe keeps a `Content-Length`.
 */
export function pathFor({ length }: StreamBody): BodyPipe {
  return length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
}

/**
 * How long the source of a stream may run after its client left. Cloudflare gives as much (`waitUntil`); workerd alone would
 * keep the request for as long as it takes.
 */
const cleanupMs = 30_000;

/** Sends a body. */
interface WorkerSender {
  readonly send: () => Promise<Ended>;
  /** Cancels the source. Resolves once it has ended. */
  readonly cancel: () => Promise<void>;
}

/** Sends a body as it is made, at most one part ahead of the client. Resolves once its source has ended. */
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
  request?.producing(cancelled);
  // The abort shows the client that the body is incomplete. The runtime logs the reason, so it has no details.
  if (how !== "finished") await succeeds(writable.abort(new Error("the stream was cut")));
  if (how === "client gone") exchange.left();
  request?.ended(how, thrown);
  // The runtime drops a request's work that nothing keeps: a `finally`, or the rollback of a transaction.
  await atMost(cleanupMs, cancelled);
}

/**
 * Resolves once the runtime reports that the client left. It reports only a reset, and only while nothing is being written;
 * the next write shows any other departure.
 */
function leaving(gone: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    const leave = (): void => resolve(clientLeft);
    if (gone.aborted) leave();
    else gone.addEventListener("abort", leave, { once: true });
  });
}

// The runtime's error for a client that left. A native source has the same error for its own connection.
const lost = "Network connection lost.";

/**
 * Pipes a platform's stream: the runtime then sends its own streams without running this code. If a stream breaks its
 * length, the runtime logs it.
 */
function piping(parts: ReadableStream<Uint8Array>, writable: BodyPipe["writable"], gone: AbortSignal): WorkerSender {
  let piped: Promise<boolean> | undefined;
  return {
    send: () => {
      // workerd's `pipeTo` does not await the source's `cancel`, so that is called after it.
      const piping = parts.pipeTo(writable, { preventAbort: true, preventCancel: true });
      piped = succeeds(piping);
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
      // `pipeTo` holds the source until that gives a part that cannot be sent: it ignores a signal until then.
      await piped;
      await succeeds(parts.cancel());
    },
  };
}

function writing(body: StreamBody, writable: BodyPipe["writable"], gone: AbortSignal): WorkerSender {
  let made: Parts | undefined;
  return {
    send: async () => {
      const parts = (made = readParts(body));
      const writer = writable.getWriter();
      // A part may take long or never arrive: the source is cancelled if the client leaves meanwhile.
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
    if (taken.byteLength > 0 && !(await succeeds(writer.write(taken)))) return "client gone";
    if (part.byteLength > left) return "long";
    left -= part.byteLength;
  }
  if (length !== undefined && left > 0) return "short";
  return (await succeeds(writer.close())) ? "finished" : "client gone";
}

function succeeds(done: Promise<void>): Promise<boolean> {
  return done.then(
    () => true,
    () => false,
  );
}

/** Waits for a promise, at most `ms`. */
async function atMost(ms: number, done: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([done, late]);
  clearTimeout(timer);
}
