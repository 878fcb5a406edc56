const magic = 0xfd2fb528;
/** Of a frame that is passed over: sixteen numbers. */
const isSkippable = (number: number): boolean => number >>> 4 === 0x184d2a5;
const dictionaryIdBytes = [0, 1, 2, 4] as const;
const contentSizeBytes = [0, 2, 4, 8] as const;

type FramePart = "magic" | "skippable size" | "descriptor" | "window" | "content size" | "block" | "passed over";

/**
 * Follows the frames of zstd (RFC 8878 §3.1), to know whether a body ends with one: Node 22, Bun and Deno take a part of a frame
 * for a whole one. What is no frame is left to the decoder, which finds it.
 */
export class ZstdFrames {
  /** Whether the bytes so far are whole frames. */
  isWhole = true;
  /** The largest window of the frames so far, in bytes: how much a decoder holds. */
  window = 0;
  /** What the next bytes are, and how many: a field is read once all of it is there. */
  #next: FramePart = "magic";
  #needed = 4;
  #read = 0;
  #field = 0;
  #hasChecksum = false;
  #isLastBlock = false;
  #descriptor = 0;

  take(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      this.isWhole = false;
      const taken = Math.min(this.#needed - this.#read, bytes.length - at);
      if (this.#next !== "passed over") {
        for (let i = 0; i < taken; i++) this.#field += (bytes[at + i] as number) * 256 ** (this.#read + i);
      }
      at += taken;
      this.#read += taken;
      if (this.#read === this.#needed) this.#fieldCame(this.#field);
    }
  }

  #fieldCame(field: number): void {
    switch (this.#next) {
      case "magic":
        if (isSkippable(field)) return this.#expect("skippable size", 4);
        return field === magic ? this.#expect("descriptor", 1) : this.#passOver(Infinity);
      case "skippable size":
        this.#isLastBlock = true;
        return this.#passOver(field);
      case "descriptor":
        this.#isLastBlock = false;
        this.#hasChecksum = (field & 4) !== 0;
        this.#descriptor = field;
        return this.#header(field);
      case "window":
        this.#asks(2 ** (10 + (field >>> 3)) * (1 + (field & 7) / 8));
        return this.#passOver(headerBytes(this.#descriptor) - 1);
      case "content size":
        this.#asks(field + (this.#needed === 2 ? 256 : 0));
        return this.#expect("block", 3);
      case "block": {
        const size = field >>> 3;
        this.#isLastBlock = (field & 1) === 1;
        // A block of one byte that is repeated has that byte alone.
        return this.#passOver((field & 6) === 2 ? 1 : size, this.#isLastBlock && this.#hasChecksum ? 4 : 0);
      }
      case "passed over":
        return this.#isLastBlock ? this.#endFrame() : this.#expect("block", 3);
    }
  }

  /** A frame of one segment has its size, and no window. */
  #header(descriptor: number): void {
    if ((descriptor & 0x20) === 0) return this.#expect("window", 1);
    const dictionary = dictionaryIdBytes[(descriptor & 3) as 0 | 1 | 2 | 3];
    const size = headerBytes(descriptor) - dictionary;
    // No decoder here has a dictionary.
    if (dictionary > 0) this.#passOver(dictionary + size);
    else this.#expect("content size", size);
  }

  #asks(bytes: number): void {
    this.window = Math.max(this.window, bytes);
  }

  #passOver(bytes: number, more = 0): void {
    this.#expect("passed over", bytes + more);
    if (this.#needed === 0) this.#fieldCame(0);
  }

  #endFrame(): void {
    this.isWhole = true;
    this.#expect("magic", 4);
  }

  #expect(next: FramePart, bytes: number): void {
    this.#next = next;
    this.#needed = bytes;
    this.#read = 0;
    this.#field = 0;
  }
}

/** The bytes of a frame's header behind its descriptor: window, dictionary, size. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const size = contentSizeBytes[(descriptor >>> 6) as 0 | 1 | 2 | 3];
  const dictionary = dictionaryIdBytes[(descriptor & 3) as 0 | 1 | 2 | 3];
  return (isSingleSegment ? Math.max(size, 1) : size + 1) + dictionary;
}
