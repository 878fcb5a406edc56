const carriageReturn = 0x0d;

/**
 * `CRLF--boundary`, looked for in bytes that arrive in pieces.
 *
 * A boundary holds no CR, so CR is its first byte and no other. A match that breaks off therefore hides no second one
 * begun within it, and the bytes of a broken match are looked at twice at most.
 */
export class Delimiter {
  readonly bytes: Uint8Array;
  readonly #steps: Uint8Array;

  constructor(boundary: string) {
    this.bytes = new TextEncoder().encode(`\r\n--${boundary}`);
    this.#steps = stepsOf(this.bytes);
  }

  get length(): number {
    return this.bytes.length;
  }

  /**
   * Where it stands whole in bytes; -1 where nowhere.
   *
   * Horspool's search, at 8 GB/s where the boundary is a browser's and at 1 where it is one character. Where it would
   * step by one it looks for the next CR instead: content made of the boundary's own bytes passes at 3.5 GB/s, not
   * 0.01. The worst found, a CR in every third byte and a boundary of dashes, passes at 0.3.
   */
  indexIn(bytes: Uint8Array, from: number): number {
    const last = this.length - 1;
    const lastByte = this.bytes[last];
    for (let at = from; at !== -1 && at + last < bytes.length;) {
      const byte = bytes[at + last] as number;
      if (byte === lastByte && this.matched(bytes, at, 0) === this.length) return at;
      const step = this.#steps[byte] as number;
      at = step > 1 ? at + step : nextCarriageReturn(bytes, at + 1);
    }
    return -1;
  }

  /** How many of its bytes bytes end with, for the next ones to go on from. */
  begunAtEnd(bytes: Uint8Array, from: number): number {
    const first = Math.max(from, bytes.length - this.length + 1);
    for (let at = bytes.length - 1; at >= first; at--) {
      if (bytes[at] !== carriageReturn) continue;
      const matched = this.matched(bytes, at, 0);
      return at + matched === bytes.length ? matched : 0;
    }
    return 0;
  }

  /** How many of its bytes are there, when some were before and bytes go on from them. */
  matched(bytes: Uint8Array, from: number, before: number): number {
    let matched = before;
    while (matched < this.length && bytes[from + matched - before] === this.bytes[matched]) matched += 1;
    return matched;
  }
}

// The native search passes over 4 GB/s, but to call it costs as much as eight steps of this loop, without which the
// worst content takes twice as long.
function nextCarriageReturn(bytes: Uint8Array, from: number): number {
  const near = from + 8;
  for (let at = from; at < near; at++) if (bytes[at] === carriageReturn) return at;
  return bytes.indexOf(carriageReturn, near);
}

// How far a match may be moved on, by the byte that stands where its last one should.
function stepsOf(delimiter: Uint8Array): Uint8Array {
  const last = delimiter.length - 1;
  const steps = new Uint8Array(256).fill(delimiter.length);
  for (let i = 0; i < last; i++) steps[delimiter[i] as number] = last - i;
  return steps;
}
