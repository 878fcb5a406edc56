import type { OpenStream, StreamEnd } from "../../src/doors/events.ts";
import { inBackground } from "../../src/doors/logging.ts";
import type { WorkerExchange } from "./exchange.ts";

type BodyPipe = TransformStream<Uint8Array, Uint8Array>;
type Writer = WritableStreamDefaultWriter<Uint8Array>;

// Exist only in workerd.
declare const IdentityTransformStream: new () => BodyPipe;
declare const FixedLengthStream: new (length: number) => BodyPipe;

/**
 * The pipe of a streamed body. A write to it fails once the client has gone, whereas a stream that the runtime pulls from is
 * only not pulled again. Only this pipe keeps a `Content-Length`.
 */
export function pathFor({ length }: OpenStream): BodyPipe {
  return length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
}

/**
 * How long the source of a stream may run after its client left. Cloudflare gives as much (`waitUntil`); workerd alone would
 * keep the request for as long as it takes.
 */
const cleanupMs = 30_000;

/** Sends a body as it is made, at most one part ahead of the client. Resolves once its source has ended. */
export async function stream(
  exchange: WorkerExchange,
  body: OpenStream,
  writable: BodyPipe["writable"],
): Promise<void> {
  const { gone } = exchange;
  const { native } = body;
  // The runtime reports only a reset, and only while nothing is being written; the next write shows any other departure.
  const leave = (): void => body.end("client gone");
  gone.addEventListener("abort", leave, { once: true });
  await (native === undefined
    ? writing(exchange, body, writable.getWriter(), leave)
    : piping(exchange, body, native, writable));
  // The runtime drops a request's work that nothing keeps: a `finally`, or the rollback of a transaction.
  await atMost(cleanupMs, body.stop());
}

/** Shows the client that a body is incomplete. The runtime logs the reason, so it has no details. */
function cut(exchange: WorkerExchange, how: StreamEnd, end: Pick<Writer, "abort">): void {
  if (how !== "finished") inBackground(succeeds(end.abort(new Error("the stream was cut"))));
  if (how === "client gone") exchange.left();
}

// The runtime's error for a client that left. A native source has the same error for its own connection.
const lost = "Network connection lost.";

/**
 * Pipes a platform's stream: the runtime then sends its own streams without running this code. If a stream breaks its
 * length, the runtime logs it.
 */
async function piping(
  exchange: WorkerExchange,
  body: OpenStream,
  parts: ReadableStream<Uint8Array>,
  writable: BodyPipe["writable"],
): Promise<void> {
  // workerd's `pipeTo` does not await the source's `cancel`, so that is called after it.
  const piped = body.run(() => parts.pipeTo(writable, { preventAbort: true, preventCancel: true }));
  const ended = new Promise<void>((resolve) => {
    body.sentBy({
      ended: (how) => {
        cut(exchange, how, writable);
        resolve();
      },
    });
  });
  body.writtenBy({
    cancel: async () => {
      // `pipeTo` holds the source until that gives a part that cannot be sent: it ignores a signal until then.
      await succeeds(piped);
      await succeeds(body.run(() => parts.cancel()));
    },
  });
  if (exchange.gone.aborted) body.end("client gone");
  piped.then(
    () => body.end("finished"),
    (thrown: unknown) => {
      const isLost = thrown instanceof Error && thrown.message === lost;
      if (isLost) body.end("client gone");
      else body.end("failed", thrown);
    },
  );
  await ended;
}

async function writing(exchange: WorkerExchange, body: OpenStream, writer: Writer, leave: () => void): Promise<void> {
  body.sentBy({ ended: (how) => cut(exchange, how, writer) });
  if (exchange.gone.aborted) leave();
  // A part may take long or never arrive: the source is cancelled if the client leaves meanwhile.
  writer.closed.catch(leave);
  await body.sendTo(
    (part) => succeeds(writer.write(part)),
    () => succeeds(writer.close()),
  );
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
