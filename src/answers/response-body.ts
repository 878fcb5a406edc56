import { soonTurns } from "../async.ts";
import { Deferred, chain } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { isTaken, take } from "../events/stream.ts";
import type { StreamBody } from "../events/stream.ts";
import { isBytes } from "../http/bytes.ts";
import { joined } from "../inputs/body-source.ts";
import { iteratorOf } from "../node-stream.ts";
import { inBackground } from "../logging/raised.ts";
import { isWorkers } from "../runtime.ts";

/** The body of a `Response`: bytes with a length, if all of it is there once the handler has answered, and a stream otherwise. */
export function responseBody(response: Response, contentType: string | undefined, length?: number): StreamBody {
  const stream = response.body as ReadableStream<Uint8Array>;
  if (isFormData(contentType)) return streamOf({ [Symbol.asyncIterator]: () => unended(stream) }, length);
  return bodyOfParts(stream, length);
}

/** The same of parts that other code makes. */
export function bodyOfParts(parts: StreamBody["parts"], length: number | undefined): StreamBody {
  // workerd sends a stream of its own without a call of JavaScript for each part.
  return isWorkers() ? streamOf(parts, length) : new ResponseBody(parts, length);
}

/**
 * Node from 24.21 on writes a `FormData` into its stream at once. If the stream is cancelled before its end, Node throws where no code
 * can catch it, and the process ends (nodejs/undici#5835). So such a stream is never cancelled.
 */
function isFormData(contentType: string | undefined): boolean {
  return contentType?.startsWith("multipart/form-data; boundary=----formdata-undici-") === true;
}

function unended(stream: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  return stream.values({ preventCancel: true });
}

function streamOf(parts: StreamBody["parts"], length: number | undefined): StreamBody {
  return { kind: "stream", parts, ...(length === undefined ? {} : { length }) };
}

/** More than this is not read before the head is sent, unless it is one part. */
const maxReadyBytes = 65_536;
/** Reads that settle at once let no timer fire, and a body may have parts without bytes, or of one byte, without an end. */
const maxReads = 1024;

/**
 * Most responses of other code are a text, whose stream gives it as one part. So they are sent by one write, in place of a head, a chunk
 * and the last chunk.
 */
export class ResponseBody implements StreamBody {
  readonly kind = "stream";
  readonly length?: number;
  /** Called where the body is not whole, and is sent as it comes. */
  whenStreamed: (() => void) | undefined = undefined;
  #parts: StreamBody["parts"];

  constructor(parts: StreamBody["parts"], length: number | undefined) {
    this.#parts = parts;
    if (length !== undefined) this.length = length;
  }

  /** Whether a body is one. From JavaScript it may be anything, also a proxy that throws. */
  static is(body: unknown): body is ResponseBody {
    return typeof body === "object" && body !== null && #parts in body;
  }

  get parts(): StreamBody["parts"] {
    return this.#parts;
  }

  abandon(): void {
    if (this.#parts instanceof BegunParts) inBackground(this.#parts.return());
  }

  /** Reads what is there, and waits for nothing: the whole body, or this one. */
  start(): MaybePromise<Uint8Array | this> {
    const parts = this.#parts;
    // Of parts that another answer has, the check of the answer says so.
    if (parts instanceof BegunParts || isTaken(parts)) return this;
    return chain(new FirstParts(take(parts) ?? iteratorOf(parts), this.length), (read) => {
      if (!(read instanceof BegunParts)) return read;
      this.#parts = read;
      this.whenStreamed?.();
      return this;
    });
  }
}

type PartResult = IteratorResult<Uint8Array, unknown>;

/**
 * Reads a body until it is whole, or the next part is not there yet. With promises for each read, a mounted handler that answers with a text
 * took 7 % more CPU on Node 24.
 */
class FirstParts extends Deferred<Uint8Array | BegunParts> {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #length: number | undefined;
  readonly #ready: Uint8Array[] = [];
  #bytes = 0;
  #reading: Promise<PartResult> | undefined = undefined;
  #reads = 0;
  #turns = 0;
  #isOver = false;

  constructor(iterator: AsyncIterator<Uint8Array>, length: number | undefined) {
    super();
    this.#iterator = iterator;
    this.#length = length;
    this.#read();
    this.#wait();
  }

  #read(): void {
    this.#reads++;
    this.#turns = 0;
    this.#reading = this.#iterator.next();
    this.#reading.then(this.#take, this.#stop);
  }

  readonly #take = (read: PartResult): void => {
    try {
      this.#add(read);
    } catch {
      // An iterator of JavaScript may give anything. It fails again where the answer is sent.
    }
  };

  /** Where it reads no further part, `#wait` ends it some turns later. */
  #add(read: PartResult): void {
    if (this.#isOver) return;
    if (read.done) {
      // A body that is not as long as its head says fails where it is sent.
      if (this.#length === undefined || this.#length === this.#bytes) this.#end(joined(this.#ready, this.#bytes));
    } else if (isBytes(read.value)) {
      this.#reading = undefined;
      if (read.value.byteLength > 0) this.#ready.push(read.value);
      this.#bytes += read.value.byteLength;
      const isMore = this.#ready.length < 2 || this.#bytes <= maxReadyBytes;
      if (isMore && this.#reads < maxReads) this.#read();
    }
  }

  readonly #wait = (): void => {
    if (this.#isOver) return;
    if (this.#turns++ === soonTurns) this.#stop();
    else nextTurn.then(this.#wait, this.#stop);
  };

  readonly #stop = (): void => {
    if (this.#isOver) return;
    const reading = this.#reading;
    // `fetch` gives the end of its body in a later event than the last bytes.
    if (reading !== undefined && this.#bytes > 0 && this.#bytes === this.#length) {
      reading.then(({ done }) => (done === true ? undefined : this.#iterator.return?.())).catch(() => {});
      this.#end(joined(this.#ready, this.#bytes));
    } else this.#end(new BegunParts(this.#iterator, this.#ready, reading));
  };

  #end(read: Uint8Array | BegunParts): void {
    this.#isOver = true;
    this.resolve(read);
  }
}

const nextTurn = /* @__PURE__ */ Promise.resolve();

/** The parts of a body that is being read: those that are there, and those that follow. */
export class BegunParts implements AsyncIterableIterator<Uint8Array> {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #ready: Uint8Array[];
  #reading: Promise<PartResult> | undefined;

  constructor(iterator: AsyncIterator<Uint8Array>, ready: Uint8Array[], reading: Promise<PartResult> | undefined) {
    this.#iterator = iterator;
    this.#ready = ready;
    this.#reading = reading;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const value = this.#ready.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    const reading = this.#reading ?? this.#iterator.next();
    this.#reading = undefined;
    return reading as Promise<IteratorResult<Uint8Array, undefined>>;
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#iterator.return?.();
    return { done: true, value: undefined };
  }
}
