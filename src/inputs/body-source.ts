import { isBytes } from "../http/bytes.ts";
import { inBackground } from "../logging/raised.ts";
import { Problem, busy, invalidRefusal, refuse, tooLarge, unreadable } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";

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
export const bodyTooLarge: BodyFailure = { kind: "too_large", detail: "the body is longer than the limit" };
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
    if (length > limit) return bodyTooLarge;
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

const codes = { too_large: tooLarge, unreadable, busy };
const notMultipart = [new Problem("body", "malformed", "This is not a multipart form.")];

/** The refusal a body's failure is answered with: 413, 400 or 503; its detail goes to the log. */
export function bodyRefusal(failure: BodyFailure): Refusal<"too_large" | "unreadable" | "busy">;
export function bodyRefusal(failure: MultipartFailure): Refusal<"too_large" | "unreadable" | "busy" | "invalid">;
export function bodyRefusal({
  kind,
  detail,
}: MultipartFailure): Refusal<"too_large" | "unreadable" | "busy" | "invalid"> {
  if (kind === "malformed") return invalidRefusal(notMultipart, detail);
  return refuse<"too_large" | "unreadable" | "busy">(codes[kind], undefined, { detail });
}

/** A body as it arrives. Iterated, it throws the refusal of a failure, which is answered as it stands. */
export interface Body extends AsyncIterable<Uint8Array> {
  /**
   * The next bytes, 65,536 at most, or undefined at the end. A failure is answered again by every later read; once
   * the request is answered, the body is at its end.
   */
  read(): Promise<Result<Uint8Array | undefined, BodyFailure>>;
}

/** What a body being read asks of its request. */
export interface BodyHolder {
  /** Whether there is room to hold that many bytes more. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** It was read after its answer had gone. */
  late(): void;
}

/** What is read until the end; a failure is thrown as the refusal it is answered with. */
export async function* everyRead<A>(
  read: () => Promise<Result<A | undefined, MultipartFailure>>,
): AsyncGenerator<A, void, undefined> {
  for (;;) {
    const next = await read();
    if (!next.ok) throw bodyRefusal(next.error);
    if (next.value === undefined) return;
    yield next.value;
  }
}

/** What is wrong with the most a body may have, for the checks of an app being made. */
export function wrongMax(max: number): readonly string[] {
  if (Number.isSafeInteger(max) && max >= 0) return [];
  return [`reads a body of at most ${max} bytes, which is no number of bytes`];
}

const mostBytes = 65_536;
const end = ok(undefined);

/** Reads a body for a handler, part by part, up to a number of bytes. */
export class BodyReader implements Body {
  readonly #source: BodySource | undefined;
  readonly #max: number;
  readonly #holder: BodyHolder;
  #turn: Promise<unknown> = Promise.resolve();
  #state: "open" | "ended" | "answered" = "open";
  #failure: BodyFailure | undefined = undefined;
  /** What arrived with the last part and was too long to go with it. */
  #left: Uint8Array | undefined = undefined;
  #length = 0;
  #held = 0;
  #stopWaiting: (() => void) | undefined = undefined;

  constructor(source: BodySource | undefined, max: number, holder: BodyHolder) {
    this.#source = source;
    this.#max = max;
    this.#holder = holder;
  }

  read(): Promise<Result<Uint8Array | undefined, BodyFailure>> {
    // One after the other, however many are asked for at once.
    const read = this.#turn.then(() => this.#next());
    this.#turn = read;
    return read;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return everyRead(() => this.read());
  }

  get isAnswered(): boolean {
    return this.#state === "answered";
  }

  /** The request is answered: nothing more is read, and nothing held. */
  close(): void {
    this.#state = "answered";
    this.#left = undefined;
    this.#release();
    this.#stopWaiting?.();
  }

  async #next(): Promise<Result<Uint8Array | undefined, BodyFailure>> {
    if (this.#state === "answered") this.#holder.late();
    if (this.#failure !== undefined) return error(this.#failure);
    if (this.#state !== "open" || this.#source === undefined) return end;
    if (this.#left !== undefined) return ok(this.#cut(this.#left));
    this.#release();
    if (this.#source.length !== undefined && this.#source.length > this.#max) return this.#fail(bodyTooLarge);
    return this.#arrived(await this.#part(this.#source));
  }

  // Answered while a part is on its way, the read is over: whoever waits for it would wait for ever.
  #part(source: BodySource): Promise<Uint8Array | BodyFailure | undefined> {
    return new Promise((resolve) => {
      const stop = (): void => resolve(undefined);
      this.#stopWaiting = stop;
      source.read().then(resolve, () => resolve(endedEarly));
    });
  }

  #arrived(part: Uint8Array | BodyFailure | undefined): Result<Uint8Array | undefined, BodyFailure> {
    this.#stopWaiting = undefined;
    if (this.#state === "answered") return end;
    if (isFailure(part)) return this.#fail(part);
    if (part === undefined) {
      this.#state = "ended";
      return end;
    }
    this.#length += part.byteLength;
    if (this.#length > this.#max) return this.#fail(bodyTooLarge);
    if (!this.#holder.take(part.byteLength)) return this.#fail(noRoom);
    this.#held = part.byteLength;
    return ok(this.#cut(part));
  }

  #cut(part: Uint8Array): Uint8Array {
    this.#left = part.byteLength > mostBytes ? part.subarray(mostBytes) : undefined;
    return part.byteLength > mostBytes ? part.subarray(0, mostBytes) : part;
  }

  #fail(failure: BodyFailure): Result<never, BodyFailure> {
    this.#failure = failure;
    return error(failure);
  }

  #release(): void {
    if (this.#held > 0) this.#holder.give(this.#held);
    this.#held = 0;
  }
}
