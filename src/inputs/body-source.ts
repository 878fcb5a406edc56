import { isBytes } from "../codecs/bytes.ts";
import { inBackground } from "../logging/background.ts";

/** Why a body could not be had. The detail is for the log. */
export interface BodyFailure {
  readonly kind: "too_large" | "unreadable" | "busy";
  readonly detail: string;
}

/** Why the parts of a body could not be had: `malformed` where it is no multipart form. */
export interface MultipartFailure {
  readonly kind: BodyFailure["kind"] | "malformed";
  readonly detail: string;
}

/** A body as a listener hands it over: nothing is read, and no `100 Continue` sent, before it is asked for. */
export interface BodySource {
  /** What `Content-Length` says; undefined where the body is chunked. */
  readonly length: number | undefined;
  /** The next bytes, or undefined at the end. What goes wrong is a failure: it does not reject. */
  read(): Promise<Uint8Array | BodyFailure | undefined>;
  /** Reads the whole body for a receiver, up to a number of bytes. */
  whole(limit: number, receiver: BodyReceiver): void;
}

/** Whoever a body is read whole for. */
export interface BodyReceiver {
  /** Whether there is room for the bytes that arrived. */
  take(bytes: number): boolean;
  /** Called once, with the body or why it could not be had. Does not throw. */
  done(read: Uint8Array | BodyFailure): void;
}

/** What a runtime says of a broken body differs on each, and tells a client nothing. */
export const endedEarly: BodyFailure = { kind: "unreadable", detail: "the body ended early" };
const notBytes: BodyFailure = { kind: "unreadable", detail: "the body has a part that is no bytes" };
export const tooLarge: BodyFailure = { kind: "too_large", detail: "the body is longer than the limit" };
export const noRoom: BodyFailure = {
  kind: "busy",
  detail: "the bodies held at once, or those of its client, are at their limit",
};

export function isFailure(read: Uint8Array | BodyFailure | undefined): read is BodyFailure {
  return read !== undefined && !ArrayBuffer.isView(read);
}

/** What came of a body's stream: a stream that an application makes may have anything for a part. */
export function partOf({
  done,
  value,
}: {
  readonly done: boolean;
  readonly value?: unknown;
}): Uint8Array | BodyFailure | undefined {
  if (done) return undefined;
  return isBytes(value) ? value : notBytes;
}

/** Reads a body whole from its parts, for listeners with no quicker way. */
export function gather(read: BodySource["read"], limit: number, receiver: BodyReceiver): void {
  inBackground(
    gathered(read, limit, receiver).then(
      (whole) => receiver.done(whole),
      () => receiver.done(endedEarly),
    ),
  );
}

async function gathered(
  read: BodySource["read"],
  limit: number,
  receiver: BodyReceiver,
): Promise<Uint8Array | BodyFailure> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await read(); part !== undefined; part = await read()) {
    if (isFailure(part)) return part;
    length += part.byteLength;
    if (length > limit) return tooLarge;
    if (!receiver.take(part.byteLength)) return noRoom;
    parts.push(part);
  }
  return joined(parts, length);
}

export function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
