import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { bodyRefusal } from "./body-refusal.ts";
import { endedEarly, isFailure, noRoom, tooLarge } from "./body-source.ts";
import type { BodyFailure, BodySource, MultipartFailure } from "./body-source.ts";

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
    if (this.#source.length !== undefined && this.#source.length > this.#max) return this.#fail(tooLarge);
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
    if (this.#length > this.#max) return this.#fail(tooLarge);
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
