import type { Action, Kind } from "./kind.ts";
import { readyMadeOf } from "./ready-made-table.ts";

/** The parts of a pipe: `v.pipe(v.pipe(a, b), c)` is `v.pipe(a, b, c)`, where the inner pipe has no fallback of its own. */
export function flattened(shape: Kind): [Kind, ...(Kind | Action)[]] {
  const [first, ...behind] = shape.pipe ?? [shape];
  if (first.pipe === undefined || first.fallback !== undefined || readyMadeOf(first) !== undefined) {
    return [first, ...behind];
  }
  return [...flattened(first), ...behind];
}

/** The action that makes a number a whole one, if the pipe has it before the value changes. */
export function wholeBy(first: Kind, behind: readonly (Kind | Action)[]): Action | undefined {
  if (first.type !== "number" || first.pipe !== undefined || first.fallback !== undefined) return undefined;
  for (const item of behind) {
    if (item.kind === "schema" || item.kind === "transformation") return undefined;
    if (item.type === "integer" || item.type === "safe_integer") return item;
  }
  return undefined;
}
