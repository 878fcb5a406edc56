/** RFC 9110 §5.6.2. Sticky: for {@link FieldScanner.match}. */
export const token: RegExp = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;

/** A place in a field value, moved forward by what it reads. Nothing is read twice, so a value costs its length. */
export class FieldScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether nothing is left. */
  get done(): boolean {
    return this.#at === this.#text.length;
  }

  /** The next character; `""` at the end. */
  get next(): string {
    return this.#text.charAt(this.#at);
  }

  /** Reads one character, where it is the next. */
  take(character: string): boolean {
    if (this.next !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Whether a sticky pattern matches here; reads nothing. */
  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  /** Reads what a sticky pattern matches here. */
  match(pattern: RegExp): string | undefined {
    if (!this.sees(pattern)) return undefined;
    const start = this.#at;
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  /** Optional white space: OWS, and BWS where it is bad (RFC 9110 §5.6.3). */
  skipBlanks(): void {
    while (this.next === " " || this.next === "\t") this.#at += 1;
  }
}
