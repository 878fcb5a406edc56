import type { Action } from "../../shapes/kind.ts";
import type { Schema } from "./schema.ts";

/** Valibot's formats that JSON Schema has a word for (2020-12 Validation §7.3, §8.3). */
const words: ReadonlyMap<string, Schema> = new Map([
  ["base64", { contentEncoding: "base64" }],
  ["email", { format: "email" }],
  ["ip", { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] }],
  ["ipv4", { format: "ipv4" }],
  ["ipv6", { format: "ipv6" }],
  ["iso_date", { format: "date" }],
  ["iso_timestamp", { format: "date-time" }],
  ["parse_json", { contentMediaType: "application/json" }],
  ["rfc_email", { format: "email" }],
  ["url", { format: "uri" }],
  ["uuid", { format: "uuid" }],
]);

/** What a text's action asks of it; "loosely" where JSON Schema cannot say it, undefined where it asks nothing of a text. */
export function textRule(action: Action): Schema | "loosely" | undefined {
  const { type, requirement } = action;
  const word = words.get(type);
  if (word !== undefined) return word;
  if (requirement instanceof RegExp) return patternRule(requirement);
  if (typeof requirement !== "string") return undefined;
  const text = requirement.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  switch (type) {
    case "starts_with":
      return { pattern: `^${text}` };
    case "ends_with":
      return { pattern: `${text}$` };
    case "includes":
      return { pattern: text };
    case "excludes":
      return { not: { pattern: text } };
    default:
      return undefined;
  }
}

// JSON Schema's patterns are ECMA-262's with the flag "u" and no other (2020-12 Core §6.4).
function patternRule({ source, flags }: RegExp): Schema | "loosely" {
  if (/[^dgu]/.test(flags)) return "loosely";
  try {
    return { pattern: new RegExp(source, "u").source };
  } catch {
    return "loosely";
  }
}
