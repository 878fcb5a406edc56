import { placeOf } from "../place.ts";
import { sortOf } from "../sentences.ts";

/**
 * Copies one value into what `JSON.stringify` is given: only what the shape names. `undefined` is left out of an
 * object, and stands for anything once the writing has failed.
 */
export type Write = (value: unknown, writing: Writing) => unknown;

/** Compiles a part of a shape. */
export type CompileWrite<Part> = (part: Part) => Write;

const mostDeep = 512;

/** One value being written: where the writer stands, and the first thing that cannot be written. */
export class Writing {
  failure: string | undefined;
  depth = 0;
  readonly path: (string | number)[] = [];
  /** What came of values that are tried by several shapes, while one of them is tried within another. */
  outcomes: Map<object, WeakMap<object, Outcome>> | undefined;

  refuse(expected: string, value: unknown): undefined {
    this.failure ??=
      value === undefined
        ? `${this.place()} is missing: it must be ${expected}`
        : `${this.place()} must be ${expected}, not ${sortOf(value)}`;
  }

  /** For a value of the right sort. */
  fail(words: string): undefined {
    this.failure ??= `${this.place()} ${words}`;
  }

  /** Steps into a list or an object and answers its level; a value that holds itself would never end. */
  enter(): number | undefined {
    return this.depth < mostDeep ? this.depth++ : this.fail("is nested more than 512 deep, or holds itself");
  }

  place(): string {
    return placeOf("value", this.path, this.depth);
  }
}

export interface Outcome {
  readonly written: unknown;
  readonly failure: string | undefined;
}
