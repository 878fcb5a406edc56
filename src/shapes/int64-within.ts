import { readyMadeOf } from "./ready-made-table.ts";
import { int64 } from "./ready-made.ts";
import { kindOf } from "./kind.ts";
import type { Kind } from "./kind.ts";

const exact = readyMadeOf(kindOf(int64));
const mostParts = 10_000;

/** Whether a shape holds a 64-bit number anywhere. */
export function holdsInt64(shape: Kind): boolean {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [shape];
  while (waiting.length > 0) {
    const part = waiting.pop();
    if (typeof part !== "object" || part === null || seen.has(part)) continue;
    seen.add(part);
    const kind = part as Kind;
    if (exact !== undefined && readyMadeOf(kind) === exact) return true;
    if (kind.type === "lazy" && !seen.has(kind.getter)) {
      seen.add(kind.getter);
      // A getter may look at the value, or make a new schema each time: then exact reading is never wrong, only slower.
      if (kind.getter.length > 0 || seen.size > mostParts) return true;
      waiting.push(kind.getter(undefined));
    }
    waiting.push(...partsOf(kind));
  }
  return false;
}

function partsOf(kind: Kind): unknown[] {
  const { entries, rest, key, value, item, items, wrapped, options, pipe } = kind as unknown as {
    [part: string]: unknown;
  };
  return [
    rest,
    key,
    value,
    item,
    wrapped,
    ...Object.values(entries ?? {}),
    ...list(items),
    ...list(options),
    ...list(pipe),
  ];
}

function list(parts: unknown): readonly unknown[] {
  return Array.isArray(parts) ? parts : [];
}
