/**
 * A column's or a parameter's type: text both ways, exact. `Type.int`, `Type.text` and their kin are such; an
 * application makes its own with `Type.custom`.
 */
export interface Type<A> {
  readonly name: string;
  /** The numbers in `pg_type` of what it reads; undefined for anything. */
  readonly reads: readonly number[] | undefined;
  /** The numbers of what it may be sent as, where those are not what it reads. */
  readonly sends?: readonly number[];
  /** Whether NULL is one of its values. */
  readonly isOptional?: true;
  /** Set for a list: its text is no element but the list's own. */
  readonly isArray?: true;
  /** Throws where the text is none of its values. */
  parse(text: string): A;
  /** Throws where the value has no text. Null is NULL. */
  print(value: A): string | null;
}

/** In {@link Type.reads}, everything that an application or an extension made: the server numbers those from here. */
export const made = 16384;

/** Whether a type is for one of these numbers. */
export function includes(numbers: readonly number[] | undefined, type: number): boolean {
  return numbers === undefined || numbers.includes(type) || (type > made && numbers.includes(made));
}

/** What a type throws. It says nothing of the value: who asked names the column or the parameter. */
export class Misfit extends Error {}
