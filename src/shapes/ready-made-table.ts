import type { Kind } from "./kind.ts";
import type { Sort } from "./sentences.ts";

/** What a value is refused with. */
export class Wrong {
  readonly code: string;
  readonly message: string;

  constructor(code: string, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** A kind of value JSON has no word for: how it is read from JSON, written as JSON, and described. */
export interface ReadyMade {
  readonly sorts: readonly Sort[];
  readonly expected: readonly string[];
  readonly read: (value: unknown) => unknown;
  /** The value as JSON can hold it, a 64-bit number as a bigint; `undefined` for what the kind cannot hold. */
  readonly write: (value: unknown) => string | bigint | undefined;
  /** The words for a value that cannot be written. */
  readonly writes: string;
  readonly type: "string" | "integer";
  readonly format: string;
}

// Kept by the list of a pipe's parts, which is still the same one in a schema that Valibot's methods made from this.
const table = new WeakMap<object, ReadyMade>();

export function remember(shape: Kind, readyMade: ReadyMade): void {
  if (shape.pipe !== undefined) table.set(shape.pipe, readyMade);
}

/** The ready-made kind a schema is, if it is one. */
export function readyMadeOf(shape: Kind): ReadyMade | undefined {
  return shape.pipe === undefined ? undefined : table.get(shape.pipe);
}
