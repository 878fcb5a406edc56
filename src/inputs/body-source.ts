import { isObject, needs, shown } from "../arguments.ts";
import { handled } from "../async.ts";
import { isBytes } from "../http/bytes.ts";
import { inBackground } from "../logging/raised.ts";
import { Problem, busy, internalRefusal, invalidRefusal, refuse, tooLarge, unreadable } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";

/** Why a body could not be read. The detail is for the log. */
export interface BodyFailure {
  /** The code that `Body.refusal` answers with. */
  readonly kind: "too_large" | "unreadable" | "busy";
  /** What happened, for the log. */
  readonly detail: string;
}

/** Why the parts of a body could not be read: `malformed` where it is not a multipart form. */
export interface MultipartFailure {
  /** `malformed` where the body is not a multipart form. */
  readonly kind: BodyFailure["kind"] | "malformed";
  /** What happened, for the log. */
  readonly detail: string;
}

/** A line of JSON lines that is no JSON, or does not fit its shape. */
export interface InvalidLine {
  /** Tells it from the failures of the whole body. */
  readonly kind: "invalid";
  /** The number of the line, from 1, as an editor counts. */
  readonly line: number;
  /** What is wrong, each at `body.line[3].item` or the like. */
  readonly problems: readonly Problem[];
  /** How many further problems of the line are not listed. */
  readonly more: number;
  /** What happened, for the log: codes and places. */
  readonly detail: string;
}

/** A body from a listener: nothing is read, and no `100 Continue` is sent, before the first read. */
export interface BodySource {
  /** The `Content-Length`; undefined where the body is chunked. */
  readonly length: number | undefined;
  /** The next bytes, or undefined at the end. An error is a returned failure; the promise does not reject. */
  read(): Promise<Uint8Array | BodyFailure | undefined>;
  /** Reads the whole body for a receiver, up to `limit` bytes. */
  whole(limit: number, receiver: BodyReceiver): void;
}

/** Receives a whole body. */
export interface BodyReceiver {
  /** Whether there is room for the bytes that arrived. */
  take(bytes: number): boolean;
  /** Called once, with the body or its failure. Does not throw. */
  done(read: Uint8Array | BodyFailure): void;
}

/** Each runtime has another error for a broken body, and none helps a client. */
export const endedEarly: BodyFailure = { kind: "unreadable", detail: "the body ended early" };
/** The server stopped, which is no fault of the client's: it may send the body again, as where a pool is closed (contract 7.5). */
export const serverStopped: BodyFailure = { kind: "busy", detail: "the server stopped before the body had arrived" };
/** What a listener has of such a body may be a part of it: it drops the rest with the answer. */
export const answeredBefore: BodyFailure = {
  kind: "unreadable",
  detail: "the request was answered before its body was read",
};
export const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };
const notBytes: BodyFailure = { kind: "unreadable", detail: "the body has a part that is no bytes" };
export const bodyTooLarge: BodyFailure = { kind: "too_large", detail: "the body is longer than the limit" };
export const noRoom: BodyFailure = {
  kind: "busy",
  detail: "the bodies held at once are at their limit, bodyBudget, or those of its client at bodyShare",
};

export function isFailure(read: Uint8Array | BodyFailure | undefined): read is BodyFailure {
  return read !== undefined && !ArrayBuffer.isView(read);
}

/** The outcome of a read; a part of an application's own stream may be anything. */
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

/** Reads a whole body part by part, for listeners without a faster way. */
export function gather(body: Pick<BodySource, "read">, limit: number, receiver: BodyReceiver): void {
  inBackground(
    gathered(body, limit, receiver).then(
      (whole) => receiver.done(whole),
      () => receiver.done(endedEarly),
    ),
  );
}

async function gathered(
  body: Pick<BodySource, "read">,
  limit: number,
  receiver: BodyReceiver,
): Promise<Uint8Array | BodyFailure> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await body.read(); part !== undefined; part = await body.read()) {
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
const notMultipart = [/* @__PURE__ */ new Problem("body", "malformed", "This is not a multipart form.")];

/** The refusal that answers a body's failure: 413, 400 or 503. Its detail is logged. */
export function bodyRefusal(failure: BodyFailure): Refusal<"too_large" | "unreadable" | "busy">;
export function bodyRefusal(failure: AnyFailure): Refusal<"too_large" | "unreadable" | "busy" | "invalid">;
export function bodyRefusal(failure: AnyFailure): Refusal<"too_large" | "unreadable" | "busy" | "invalid"> {
  needs(isFailed(failure), "Body.refusal: it", failure, "the failure of a body");
  const { kind, detail } = failure;
  if (kind === "invalid") return invalidRefusal(failure.problems, undefined, failure.more);
  if (kind === "malformed") return invalidRefusal(notMultipart, detail);
  return refuse<"too_large" | "unreadable" | "busy">(codes[kind], undefined, { detail });
}

/** The 500 of a body that is read in two ways. Only inputs that `Dep.bind` found can cause it: `App.make` checks the route's own. */
export function bodyReadTwice(route: string | undefined): Refusal<"internal"> {
  return internalRefusal(`${route} read its body in two ways, where a body is read one way`);
}

/** Whatever may be wrong with a body that is read as it arrives. */
type AnyFailure = MultipartFailure | InvalidLine;

function isFailed(failure: unknown): boolean {
  if (!isObject(failure)) return false;
  const { kind, problems } = failure;
  if (kind === "invalid") return Array.isArray(problems);
  return kind === "malformed" || (typeof kind === "string" && Object.hasOwn(codes, kind));
}

/** A body as a stream. Iteration throws the refusal of a failure, which answers the request if not caught. */
export interface Body extends AsyncIterable<Uint8Array> {
  /**
   * The next bytes, at most 65,536, or undefined at the end. After a failure every later read returns it again. Once the request
   * is answered, a read fails as `unreadable`, unless the body was read to its end: a part of a body is never taken for all of it.
   */
  read(): Promise<Result<Uint8Array | undefined, BodyFailure>>;
}

/** The request's side of a body that is being read. */
export interface BodyHolder {
  /** Whether there is room for that many more bytes. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** The handler waits for the client's next bytes: other requests may run in its place. */
  waits(): void;
  /** Resolves once the handler may continue; undefined where it may at once. */
  continues(): Promise<void> | undefined;
  /** The body was read after the response was sent, which failed. */
  readTooLate(): void;
}

/**
 * Everything until the end; a failure is thrown as its refusal. A `next()` that is not awaited ends no process: Node, Bun and Deno end
 * it for a rejection without a handler, and a client that is slow enough makes a late read fail.
 */
export function everyRead<A>(
  read: () => Promise<Result<A | undefined, AnyFailure>>,
): AsyncGenerator<A, void, undefined> {
  const reads = readInTurn(read);
  const next = reads.next.bind(reads);
  reads.next = () => handled(next());
  return reads;
}

async function* readInTurn<A>(
  read: () => Promise<Result<A | undefined, AnyFailure>>,
): AsyncGenerator<A, void, undefined> {
  for (;;) {
    const next = await read();
    if (!next.ok) throw bodyRefusal(next.error);
    if (next.value === undefined) return;
    yield next.value;
  }
}

/** Checks a limit of a body, for the checks of `App.make`. */
export function wrongMax(max: number): readonly string[] {
  if (Number.isSafeInteger(max) && max >= 0) return [];
  return [`reads a body of at most ${shown(max)} bytes, which is not a number of bytes`];
}

const maxPartBytes = 65_536;
const end = ok(undefined);

/** Reads a body for a handler, part by part, up to a limit. */
export class BodyReader implements Body {
  readonly #source: BodySource | undefined;
  readonly #max: number;
  readonly #holder: BodyHolder;
  #turn: Promise<unknown> = Promise.resolve();
  #state: "unread" | "open" | "ended" | "answered" = "unread";
  #failure: BodyFailure | undefined = undefined;
  /** The rest of a part that was too long for one read. */
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
    if (this.#state === "unread") this.#state = "open";
    // Reads run one after the other, also when several are started at once.
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

  /** Whether it was read, but not to its end, and has not failed. */
  get isBegun(): boolean {
    return this.#state === "open" && this.#failure === undefined && this.#source !== undefined;
  }

  /** Whether the body was read to its end, so that nothing of it is missing. */
  get isRead(): boolean {
    if (this.#failure !== undefined || this.#left !== undefined) return false;
    return this.#state === "ended" || this.#source === undefined || this.#length === this.#source.length;
  }

  /**
   * The request is answered, which gives back what the reader holds: a later read fails, unless the body is read. Returns whether a
   * read still waits, which fails too.
   */
  close(): boolean {
    const isWaited = this.#stopWaiting !== undefined;
    if (!this.isRead) this.#failure ??= answeredBefore;
    this.#state = "answered";
    this.#left = undefined;
    this.#stopWaiting?.();
    return isWaited;
  }

  async #next(): Promise<Result<Uint8Array | undefined, BodyFailure>> {
    if (this.#failure === answeredBefore) this.#holder.readTooLate();
    if (this.#failure !== undefined) return error(this.#failure);
    if (this.#state !== "open" || this.#source === undefined) return end;
    if (this.#left !== undefined) return ok(this.#cut(this.#left));
    // Given back once: a read of what is over, or has failed, does not come this far.
    if (this.#held > 0) this.#holder.give(this.#held);
    if (this.#source.length !== undefined && this.#source.length > this.#max) return this.#fail(bodyTooLarge);
    this.#holder.waits();
    const arrived = this.#arrived(await this.#part(this.#source));
    const place = this.#holder.continues();
    if (place === undefined) return arrived;
    await place;
    return this.isAnswered ? this.#over() : arrived;
  }

  // A pending read ends when the request is answered: otherwise its promise would never settle.
  #part(source: BodySource): Promise<Uint8Array | BodyFailure | undefined> {
    return new Promise((resolve) => {
      const stop = (): void => resolve(undefined);
      this.#stopWaiting = stop;
      source.read().then(resolve, () => resolve(endedEarly));
    });
  }

  #arrived(part: Uint8Array | BodyFailure | undefined): Result<Uint8Array | undefined, BodyFailure> {
    this.#stopWaiting = undefined;
    if (this.#state === "answered") return this.#over();
    if (part === answeredBefore) this.#holder.readTooLate();
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

  /** What a read gets after the answer. */
  #over(): Result<undefined, BodyFailure> {
    return this.#failure === undefined ? end : error(this.#failure);
  }

  #cut(part: Uint8Array): Uint8Array {
    this.#left = part.byteLength > maxPartBytes ? part.subarray(maxPartBytes) : undefined;
    return part.byteLength > maxPartBytes ? part.subarray(0, maxPartBytes) : part;
  }

  #fail(failure: BodyFailure): Result<never, BodyFailure> {
    this.#failure = failure;
    return error(failure);
  }
}
