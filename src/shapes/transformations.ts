/** Transformations that leave a value of the sort they were given, so that it is still JSON of the first schema's kind. */
export const keepsSort: ReadonlySet<string> = new Set([
  "brand",
  "filter_items",
  "flavor",
  "guard",
  "normalize",
  "readonly",
  "sort_items",
  "to_camel_case",
  "to_kebab_case",
  "to_lower_case",
  "to_max_value",
  "to_min_value",
  "to_pascal_case",
  "to_snake_case",
  "to_upper_case",
  "trim",
  "trim_end",
  "trim_start",
]);

/** Transformations that leave the value as it is, and say something of its type alone. */
export const changesNothing: ReadonlySet<string> = new Set(["brand", "flavor", "readonly"]);

/** The common changes of a text, without Valibot's object for each. */
export const textChanges: ReadonlyMap<string, (text: string) => string> = new Map([
  ["to_lower_case", (text: string) => text.toLowerCase()],
  ["to_upper_case", (text: string) => text.toUpperCase()],
  ["trim", (text: string) => text.trim()],
  ["trim_end", (text: string) => text.trimEnd()],
  ["trim_start", (text: string) => text.trimStart()],
]);
