import { placeOfCopy } from "../logging/raised.ts";

/** The inputs that one copy of the package made, and an error that was made in its code. */
interface Copy {
  readonly made: WeakSet<object>;
  readonly at: Error;
}

/** Those of each copy of the package in the program: two know nothing of each other. */
const copies = Symbol.for("usher-http.inputs");

let own: Copy | undefined;

function firstOfCopy(): Copy {
  const shared = globalThis as { [copies]?: Set<Copy> };
  const copy = { made: new WeakSet(), at: new Error() };
  (shared[copies] ??= new Set()).add(copy);
  return copy;
}

/** Notes that this copy of the package made an input. */
export function noted<D extends object>(input: D): D {
  (own ??= firstOfCopy()).made.add(input);
  return input;
}

/** Where two copies of the package lie: the other one, and this one. */
export interface CopyPlaces {
  readonly other: string;
  readonly own: string;
}

/**
 * Where another copy of the package lies that made an input; undefined for one of this copy. A refusal that its block returns would be an
 * error here, as each copy has classes of its own.
 */
export function otherCopyOfInput(input: object): CopyPlaces | undefined {
  if (own?.made.has(input) === true) return undefined;
  for (const { made, at } of (globalThis as { [copies]?: Set<Copy> })[copies] ?? []) {
    if (made.has(input)) return { other: placeOfCopy(at), own: placeOfCopy(new Error()) };
  }
  return undefined;
}
