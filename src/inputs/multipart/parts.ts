import type { MediaType } from "../../codecs/media-type.ts";
import { error, ok } from "../../result.ts";
import type { Result } from "../../result.ts";
import { everyRead } from "../body-reader.ts";
import type { BodyReader } from "../body-reader.ts";
import type { MultipartFailure } from "../body-source.ts";
import type { PartHead } from "./part-head.ts";
import { MultipartReader } from "./reader.ts";
import type { MultipartEvent } from "./reader.ts";

/** One part of a multipart body. Iterated, it throws the refusal of a failure, which is answered as it stands. */
export interface Part extends AsyncIterable<Uint8Array> {
  readonly name: string;
  /** A text a person chose: never a path to trust. Undefined for a field. */
  readonly filename?: string;
  /** As the client says: `text/plain` where it says nothing, `application/octet-stream` where it cannot be read. */
  readonly contentType: MediaType;
  /** Its next bytes, or undefined at its end; a part is at its end, too, once the one behind it was asked for. */
  read(): Promise<Result<Uint8Array | undefined, MultipartFailure>>;
}

/** A multipart body as it arrives. */
export interface Multipart extends AsyncIterable<Part> {
  /** The next part, or undefined behind the last. What is unread of the part before is passed over. */
  next(): Promise<Result<Part | undefined, MultipartFailure>>;
}

const end = ok(undefined);

/** The failure a reader's own stands for. */
export function failureOf({ reason, detail }: Extract<MultipartEvent, { kind: "failed" }>): MultipartFailure {
  return { kind: reason === "head_too_large" ? "too_large" : "malformed", detail };
}

/** Splits a body into its parts. */
export class PartsReader implements Multipart {
  readonly #body: BodyReader;
  readonly #reader: MultipartReader;
  #turn: Promise<unknown> = Promise.resolve();
  /** The part whose content comes next; undefined between two. */
  #open: ReadPart | undefined = undefined;
  #isOver = false;

  constructor(body: BodyReader, boundary: string, maxHead: number) {
    this.#body = body;
    this.#reader = new MultipartReader(boundary, { maxHead });
  }

  next(): Promise<Result<Part | undefined, MultipartFailure>> {
    return this.#inTurn(() => this.#nextPart());
  }

  [Symbol.asyncIterator](): AsyncGenerator<Part, void, undefined> {
    return everyRead(() => this.next());
  }

  /** The next bytes of a part. */
  contentOf(part: ReadPart): Promise<Result<Uint8Array | undefined, MultipartFailure>> {
    return this.#inTurn(() => this.#nextContent(part));
  }

  // One after the other, however many are asked for at once.
  #inTurn<A>(read: () => Promise<A>): Promise<A> {
    const reading = this.#turn.then(read);
    this.#turn = reading;
    return reading;
  }

  async #nextPart(): Promise<Result<Part | undefined, MultipartFailure>> {
    this.#open = undefined;
    while (!this.#isOver) {
      const event = await this.#event();
      if (!event.ok) return event;
      if (event.value === undefined || event.value.kind === "end") this.#isOver = true;
      else if (event.value.kind === "head") return ok((this.#open = new ReadPart(this, event.value.head)));
    }
    return end;
  }

  async #nextContent(part: ReadPart): Promise<Result<Uint8Array | undefined, MultipartFailure>> {
    if (this.#open !== part) return end;
    const event = await this.#event();
    if (!event.ok) return event;
    if (event.value?.kind === "content") return ok(event.value.bytes);
    this.#open = undefined;
    return end;
  }

  /** What the body says next. Undefined once the request is answered, when its body is at its end. */
  async #event(): Promise<Result<Exclude<MultipartEvent, { kind: "failed" }> | undefined, MultipartFailure>> {
    for (;;) {
      const event = this.#reader.next();
      if (event?.kind === "failed") return error(failureOf(event));
      if (event !== undefined) return ok(event);
      const read = await this.#body.read();
      if (!read.ok) return read;
      if (this.#body.isAnswered) return end;
      if (read.value !== undefined) this.#reader.feed(read.value);
      else this.#reader.end();
    }
  }
}

class ReadPart implements Part {
  readonly name: string;
  readonly filename?: string;
  readonly contentType: MediaType;
  readonly #parts: PartsReader;

  constructor(parts: PartsReader, { name, filename, contentType }: PartHead) {
    this.name = name;
    if (filename !== undefined) this.filename = filename;
    this.contentType = contentType;
    this.#parts = parts;
  }

  read(): Promise<Result<Uint8Array | undefined, MultipartFailure>> {
    return this.#parts.contentOf(this);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return everyRead(() => this.read());
  }
}
