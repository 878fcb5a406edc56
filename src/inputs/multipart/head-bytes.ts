const lineEnd = 0x0a;
const carriageReturn = 0x0d;
const firstRoom = 512;

/** What a part's head is found to be once bytes were taken. */
export type HeadFound = "unfinished" | "whole" | "too_large";

/** The bytes of a part's head, kept until its blank line is there. */
export class HeadBytes {
  readonly #max: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  // How much of CRLF CRLF was there last. The line before the head ended in the first of them: a head may be empty.
  #ending = 2;

  /** @param max the most bytes a head has, its blank line counted. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Everything before the blank line. */
  get lines(): Uint8Array {
    return this.#bytes.subarray(0, this.#length - 2);
  }

  get found(): HeadFound {
    if (this.#length > this.#max) return "too_large";
    return this.#ending === 4 ? "whole" : "unfinished";
  }

  /** Forgets the head before. */
  clear(): void {
    this.#length = 0;
    this.#ending = 2;
  }

  /** Takes bytes up to the blank line's end or the limit, and answers where it stopped. */
  take(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length && this.found === "unfinished"; at++) this.#add(bytes[at] as number);
    return at;
  }

  #add(byte: number): void {
    this.#makeRoom();
    this.#bytes[this.#length] = byte;
    this.#length += 1;
    if (byte === (this.#ending % 2 === 0 ? carriageReturn : lineEnd)) this.#ending += 1;
    else this.#ending = byte === carriageReturn ? 1 : 0;
  }

  #makeRoom(): void {
    if (this.#length < this.#bytes.length) return;
    const roomier = new Uint8Array(Math.min(this.#max + 1, Math.max(firstRoom, this.#length * 2)));
    roomier.set(this.#bytes);
    this.#bytes = roomier;
  }
}
