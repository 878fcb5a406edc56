import { keyOf } from "../codecs/key-of.ts";

/** Values by their text, asked for with a part of a path. */
export class Literals<A> {
  readonly #values = new Map<string, A>();
  // A bit for each length, first and last character that a text has. To cut a part out of a path, hash it and look it up
  // takes 30 ns; a part that is none of the texts differs from all of them in one of these mostly, which takes 3 to see.
  #lengths = 0;
  #firsts = 0;
  #lasts = 0;

  get(text: string): A | undefined {
    return this.#values.get(keyOf(text));
  }

  /** The value of the text that stands in a path from one place up to another. */
  find(path: string, at: number, end: number): A | undefined {
    const mayBe =
      has(this.#lengths, end - at) &&
      has(this.#firsts, path.charCodeAt(at)) &&
      has(this.#lasts, path.charCodeAt(end - 1));
    return mayBe ? this.#values.get(keyOf(path.slice(at, end))) : undefined;
  }

  set(text: string, value: A): void {
    this.#values.set(keyOf(text), value);
    this.#lengths |= bit(text.length);
    this.#firsts |= bit(text.charCodeAt(0));
    this.#lasts |= bit(text.charCodeAt(text.length - 1));
  }
}

function has(bits: number, number: number): boolean {
  return (bits & bit(number)) !== 0;
}

// One of 32, which many numbers share: no more than a hint.
function bit(number: number): number {
  return 1 << (number & 31);
}
