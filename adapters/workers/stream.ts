import type { StreamBody, StreamEnd } from "../../src/answers/answer.ts";
import { readParts } from "../../src/answers/parts.ts";
import type { Parts } from "../../src/answers/parts.ts";
import type { WorkerExchange } from "./exchange.ts";

type Path = TransformStream<Uint8Array, Uint8Array>;
type Writer = WritableStreamDefaultWriter<Uint8Array>;

/** How the sending of a stream ended, and with what was raised, where something was. */
interface Ended {
  readonly how: StreamEnd;
  readonly thrown?: unknown;
}

// The runtime's own, which no other has.
declare const IdentityTransformStream: new () => Path;
declare const FixedLengthStream: new (length: number) => Path;

/**
 * What a streamed body is written to and sent from. A write to it fails once the client has gone, where a stream that
 * the runtime pulls from is only never pulled again; and it alone keeps a `content-length`.
 */
export function pathFor({ length }: StreamBody): Path {
  return length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
}

/** Sends a body as it is made, never further ahead of the client than a part. */
export async function stream(exchange: WorkerExchange, body: StreamBody, writable: Path["writable"]): Promise<void> {
  const { parts, request } = body;
  const send = (): Promise<Ended> => (parts instanceof ReadableStream ? pipe(parts, writable) : write(body, writable));
  const sending = request === undefined ? send() : request.run(send);
  const { how, thrown } = await sending.catch((thrown: unknown): Ended => ({ how: "failed", thrown }));
  // The client is told that this was not all. The runtime logs the reason, so it says nothing.
  if (how !== "finished") await happens(writable.abort(new Error("the stream was cut")));
  if (how === "client gone") exchange.left();
  request?.ended(how, thrown);
}

// The runtime's words for a client that went. A native source says the same of its own connection.
const lost = "Network connection lost.";

/**
 * Hands a platform's stream to the platform: one of the runtime's own is then sent without this code running, and of
 * one that does not keep to its length the runtime's own log tells.
 */
async function pipe(parts: ReadableStream<Uint8Array>, writable: Path["writable"]): Promise<Ended> {
  try {
    await parts.pipeTo(writable, { preventAbort: true });
    return { how: "finished" };
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message === lost) return { how: "client gone" };
    return { how: "failed", thrown };
  }
}

async function write(body: StreamBody, writable: Path["writable"]): Promise<Ended> {
  const parts = readParts(body);
  const writer = writable.getWriter();
  // What makes the parts is told at once, and not when it has made the next one.
  writer.closed.catch(parts.cancel);
  try {
    return { how: await writeParts(parts, writer, body.length) };
  } finally {
    parts.cancel();
    writer.releaseLock();
  }
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
