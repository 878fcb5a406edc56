const size = 8192;
const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const hexadecimal = "0123456789abcdef";

/**
 * Random text, cut from a long piece that is made at once: an id of 12 characters costs 20 ns so, and from randomness
 * of its own 1.4 µs on Node. A piece is made when first asked for: a Worker has no randomness before its first request.
 */
class RandomText {
  /** Every pair of characters, at the number whose bits stand for it: two are written at once. */
  readonly #pairs: Uint16Array;
  #text = "";
  #used = size;

  constructor(alphabet: string) {
    const characters = new TextEncoder().encode(alphabet);
    const pairs = [...characters].flatMap((one) => [...characters].flatMap((other) => [one, other]));
    this.#pairs = new Uint16Array(Uint8Array.from(pairs).buffer);
  }

  take(characters: number): string {
    if (this.#used + characters > size) this.#make();
    const at = this.#used;
    this.#used += characters;
    return this.#text.slice(at, this.#used);
  }

  // The alphabets have 16 and 32 characters, so that as many of the numbers stand for one pair as for any other.
  #make(): void {
    const words = crypto.getRandomValues(new Uint16Array(size / 2));
    const last = this.#pairs.length - 1;
    for (let i = 0; i < words.length; i++) words[i] = this.#pairs[(words[i] as number) & last] as number;
    this.#text = new TextDecoder().decode(words);
    this.#used = 0;
  }
}

const zeros = "0".repeat(32);
const ids = /* @__PURE__ */ new RandomText(crockford);
const digits = /* @__PURE__ */ new RandomText(hexadecimal);

/** Twelve characters of `0-9a-z` without `i l o u`: 60 random bits, for a request's id. */
export function freshRequestId(): string {
  return ids.take(12);
}

/** Random lower-case hexadecimal digits, two for each byte; never all zero (W3C Trace Context §3.2.2.3). */
export function freshHex(bytes: number): string {
  const text = digits.take(bytes * 2);
  return zeros.startsWith(text) ? freshHex(bytes) : text;
}
