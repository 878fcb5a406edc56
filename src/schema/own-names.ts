import { describedAs } from "./described.ts";
import type { AnyStandard } from "./standard.ts";
import type { Kind } from "./valibot.ts";

/*
 * The names that a schema itself has. Any other name of a member is its client's: it may be a secret that was sent at the wrong place,
 * so no log line has it.
 */

/** How many parts of a schema are looked at, for a getter that makes a new schema at each call. */
const maxParts = 10_000;

/** The names of the members that a schema declares, at any depth. Computed where a problem has a name in its place. */
export function ownNames(shape: Kind): () => ReadonlySet<string> {
  return computedOnce(() => namesIn([shape], membersOfKind));
}

/** Those of a schema of another library: the properties of its JSON Schema; none where it has no JSON Schema. */
export function namesOfStandard(schema: AnyStandard): () => ReadonlySet<string> {
  return computedOnce(() => namesIn([jsonSchemaOf(schema)], membersOfJsonSchema));
}

function computedOnce(compute: () => ReadonlySet<string>): () => ReadonlySet<string> {
  let names: ReadonlySet<string> | undefined;
  return () => (names ??= compute());
}

/** The members that one part of a schema declares, and its other parts. */
interface PartMembers {
  readonly members: unknown;
  readonly parts: readonly unknown[];
}

function namesIn(parts: unknown[], membersOf: (part: object) => PartMembers): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  for (let part = parts.pop(); part !== undefined && seen.size < maxParts; part = parts.pop()) {
    if (typeof part !== "object" || part === null || seen.has(part)) continue;
    seen.add(part);
    const found = membersOf(part);
    for (const [name, member] of Object.entries(found.members ?? {})) {
      names.add(name);
      parts.push(member);
    }
    parts.push(...found.parts.filter((part) => part !== undefined));
  }
  return names;
}

function membersOfKind(part: object): PartMembers {
  const { type, entries, getter, pipe, items, options, ...rest } = part as { readonly [member: string]: unknown };
  const parts = [rest["rest"], rest["key"], rest["value"], rest["item"], rest["wrapped"], pipe, items, options];
  // A getter that depends on the value may name members by it.
  if (type === "lazy" && typeof getter === "function" && getter.length === 0) parts.push((getter as () => unknown)());
  return { members: entries, parts: parts.flat() };
}

function membersOfJsonSchema(part: object): PartMembers {
  const { properties, ...keywords } = part as { readonly [keyword: string]: unknown };
  return { members: properties, parts: Object.values(keywords).flat() };
}

function jsonSchemaOf(schema: AnyStandard): unknown {
  try {
    const { jsonSchema } = schema["~standard"] as { readonly jsonSchema?: { readonly input?: unknown } };
    const convert = jsonSchema?.input;
    return (
      describedAs(schema)?.input ??
      (typeof convert === "function"
        ? (convert as (options: object) => unknown)({ target: "draft-2020-12" })
        : undefined)
    );
  } catch {
    // A schema that its library cannot describe, which is a problem of the API document alone.
    return undefined;
  }
}
