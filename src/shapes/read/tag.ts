import type { Kind } from "../kind.ts";

/** The words a tag is one of, `undefined` among them where it may be absent; `open` if they cannot be listed. */
export type Tags = readonly unknown[] | "open";

/** The tags by which one option of a tagged union goes. */
export function tagsOf(option: Kind, key: string): Tags {
  if (option.type === "variant") return all(option.options.map((inner) => tagsOf(inner, key)));
  const entry = "entries" in option ? option.entries[key] : undefined;
  return entry === undefined || option.type === "lazy" ? "open" : wordsOf(entry);
}

function wordsOf(entry: Kind): Tags {
  const changes = entry.pipe?.some((item, index) => index > 0 && item.kind === "transformation") ?? false;
  if (changes || entry.fallback !== undefined) return "open";
  switch (entry.type) {
    case "literal":
      return [entry.literal];
    case "picklist":
    case "enum":
      return entry.options;
    case "null":
      return [null];
    case "union":
      return all(entry.options.map(wordsOf));
    case "optional":
    case "exact_optional":
    case "nullish":
      return all([wordsOf(entry.wrapped), entry.type === "nullish" ? [undefined, null] : [undefined]]);
    case "nullable":
      return all([wordsOf(entry.wrapped), [null]]);
    default:
      return "open";
  }
}

function all(lists: readonly Tags[]): Tags {
  return lists.includes("open") ? "open" : lists.flatMap((tags) => tags as readonly unknown[]);
}
