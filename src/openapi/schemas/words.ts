import type { Schema } from "./schema.ts";

/** One word, and no other. */
export function literal(word: unknown): Schema {
  return { const: word };
}

/** One of some words, which may be of several types. */
export function words(all: readonly unknown[]): Schema {
  const distinct = [...new Set(all)];
  const types = new Set(distinct.map(typeOf));
  const [type] = types;
  return { ...(types.size === 1 ? { type } : {}), enum: distinct };
}

function typeOf(word: unknown): string {
  if (word === null) return "null";
  return typeof word;
}
