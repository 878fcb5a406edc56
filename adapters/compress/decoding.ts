import * as zlib from "node:zlib";
import type { CallerBudget } from "../../src/doors/base.ts";
import { answeredBefore, bodyTooLarge, gather, isFailure, noRoom } from "../../src/doors/inputs.ts";
import type { BodyFailure, BodyReceiver, BodySource, DecodedSource } from "../../src/doors/inputs.ts";
import { encodings } from "./codings.ts";
import type { Coding } from "./codings.ts";
import { ZstdFrames } from "./zstd-frames.ts";

/** A content coding of a body: `deflate` is zlib's format (RFC 9110 §8.4.1.2). */
export type BodyCoding = Coding | "deflate";

/** Those that the runtime decodes: it may lack zstd. */
export const decodings: readonly BodyCoding[] = [...encodings, "deflate"];

const notItsCoding: BodyFailure = { kind: "unreadable", detail: "the body is not in its Content-Encoding" };
const grewTooMuch: BodyFailure = { kind: "too_large", detail: "the body grew by more than maxRatio" };
const hasNothing: BodyFailure = {
  kind: "too_large",
  detail: "the body is longer in its Content-Encoding than without",
};

/** What may come out of any body, however little arrived: the first bytes tell little of the ratio. */
const freeBytes = 65_536;
/** What may arrive of any body before something comes out: a block of zstd has up to 128 KiB, and is decoded once all of it is there. */
const blockBytes = 262_144;
const chunkSize = 16_384;
/** A window of 8 MiB, which every decoder of the web has to have (RFC 9659): a frame may ask for 2 GiB. */
const zstdWindow = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

const oneMore = new Uint8Array(1);

/** What bounds the decoding of a body. */
export interface DecodingBounds {
  readonly maxRatio: number;
  /** The memory of all decoders. */
  readonly memory: CallerBudget;
  readonly caller: string;
}

/** The largest window of a decoder: that of zstd above, and of brotli (RFC 7932 §9.1). */
const maxWindow = 16_777_216;
/** What a decoder has in addition to its window. */
const decoderBytes = 65_536;

/** The window in the first byte of a body by brotli (RFC 7932 §9.1); the encodings of its size are read from the lowest bit on. */
function brotliWindow([first = 0]: Uint8Array): number {
  const [middle, high] = [(first >> 1) & 7, (first >> 4) & 7];
  if ((first & 1) === 0) return 2 ** 16;
  if (middle > 0) return 2 ** (17 + middle);
  return 2 ** (high > 1 ? 8 + high : 17);
}

type Decoder = (zlib.Gunzip | zlib.BrotliDecompress) & { readonly bytesWritten: number };

function decoderOf(encoding: BodyCoding): Decoder {
  switch (encoding) {
    case "gzip":
      return zlib.createGunzip({ chunkSize });
    case "deflate":
      return zlib.createInflate({ chunkSize });
    case "br":
      return zlib.createBrotliDecompress({ chunkSize });
    default:
      return zlib.createZstdDecompress({ chunkSize, params: zstdWindow });
  }
}

/**
 * A body without its coding. One part of what arrived is decoded at a time, and only as far as it is read. So a part that grows a
 * thousandfold is never held at once.
 */
export class DecodedBody implements DecodedSource {
  readonly length: undefined = undefined;
  readonly #source: BodySource;
  readonly #encoding: BodyCoding;
  readonly #maxRatio: number;
  readonly #memory: CallerBudget;
  readonly #caller: string;
  /** The bytes of memory that the decoder counts for. */
  #held = 0;
  #window = 0;
  readonly #frames: ZstdFrames | undefined;
  #decoder: Decoder | undefined = undefined;
  #received = 0;
  #produced = 0;
  /** Whether the decoder has more to do with the part that it got last. */
  #isDecoding = false;
  #sourceIsOver = false;
  #decoderIsOver = false;
  /** Why nothing more is read. */
  #failure: BodyFailure | undefined = undefined;
  #wake: (() => void) | undefined = undefined;

  constructor(source: BodySource, encoding: BodyCoding, { maxRatio, memory, caller }: DecodingBounds) {
    this.#source = source;
    this.#memory = memory;
    this.#caller = caller;
    this.#encoding = encoding;
    this.#maxRatio = maxRatio;
    this.#frames = encoding === "zstd" ? new ZstdFrames() : undefined;
  }

  async read(): Promise<Uint8Array | BodyFailure | undefined> {
    while (this.#failure === undefined) {
      const part = this.#decoder?.read() as Buffer | null | undefined;
      if (part !== null && part !== undefined) return this.#counted(part);
      if (this.#isDecoding && !this.#decoderIsOver) await this.#event();
      else if (!this.#sourceIsOver) await this.#feed();
      else return this.#end();
    }
    return this.#failure;
  }

  whole(limit: number, receiver: BodyReceiver): void {
    const { length } = this.#source;
    // No coding makes a body longer by more than this.
    if (length !== undefined && length > limit + limit / 1024 + 1024) receiver.done(bodyTooLarge);
    else gather(this, limit, receiver);
  }

  close(): void {
    this.#fail(answeredBefore);
  }

  #counted(part: Buffer): Uint8Array | BodyFailure {
    this.#produced += part.byteLength;
    if (this.#produced > freeBytes && this.#produced > this.#maxRatio * this.#received) return this.#fail(grewTooMuch);
    // A short part would keep its decoder's whole chunk.
    return part.byteLength * 2 < chunkSize ? Uint8Array.prototype.slice.call(part) : part;
  }

  async #feed(): Promise<void> {
    // A body of empty members, or of empty blocks, would never reach a limit.
    if (this.#received > blockBytes + 2 * this.#produced) {
      this.#fail(hasNothing);
      return;
    }
    const part = await this.#source.read();
    if (this.#failure !== undefined) return;
    if (isFailure(part)) this.#fail(part);
    else if (part === undefined) this.#endSource();
    else if (this.#decoderIsOver) this.#fail(notItsCoding);
    else this.#write(part);
  }

  #write(part: Uint8Array): void {
    this.#received += part.byteLength;
    this.#frames?.take(part);
    if (!this.#hasMemory(part)) {
      this.#fail(noRoom);
      return;
    }
    this.#isDecoding = true;
    this.#opened().write(part, () => {
      this.#isDecoding = false;
      this.#wake?.();
    });
  }

  /** Whether there is memory for the decoder's window, which each frame of zstd chooses, and the first byte of brotli. */
  #hasMemory(part: Uint8Array): boolean {
    const { length } = this.#source;
    if (this.#encoding === "br" && this.#decoder === undefined) this.#window = brotliWindow(part);
    const window = this.#frames?.window ?? this.#window;
    // The window is never larger than what comes out.
    const most = length === undefined ? Number.POSITIVE_INFINITY : length * this.#maxRatio;
    const more = decoderBytes + Math.min(window, maxWindow, most) - this.#held;
    if (more <= 0) return true;
    if (!this.#memory.take(this.#caller, more)) return false;
    this.#held += more;
    return true;
  }

  #endSource(): void {
    this.#sourceIsOver = true;
    // Nothing at all is an empty body in any coding.
    if (this.#decoder === undefined) return;
    this.#isDecoding = true;
    // Deno takes a part of a brotli body for a whole one, which alone leaves a further byte unread.
    if (this.#encoding === "br") this.#decoder.write(oneMore);
    this.#decoder.end();
  }

  #opened(): Decoder {
    if (this.#decoder !== undefined) return this.#decoder;
    const decoder = decoderOf(this.#encoding);
    const wake = (): void => this.#wake?.();
    decoder.on("readable", wake).on("end", () => {
      this.#decoderIsOver = true;
      wake();
    });
    decoder.on("error", () => {
      this.#fail(notItsCoding);
    });
    return (this.#decoder = decoder);
  }

  #event(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** Undefined for a body that is decoded to its last byte. */
  #end(): BodyFailure | undefined {
    const isWhole = this.#decoder === undefined || this.#decoder.bytesWritten === this.#received;
    // A decoder that has ended destroys itself.
    return isWhole && this.#frames?.isWhole !== false ? undefined : this.#fail(notItsCoding);
  }

  #fail(failure: BodyFailure): BodyFailure {
    this.#failure ??= failure;
    this.#memory.give(this.#caller, this.#held);
    this.#held = 0;
    this.#decoder?.destroy();
    this.#wake?.();
    return this.#failure;
  }
}
