/** JSON Schemas of the document as TypeScript types. */
import type { Schema } from "../src/openapi/schema-rules.ts";

/** A JSON Schema of the document as a TypeScript type. `nameOf` returns the type name of a component. */
export function typeOf(schema: Schema | boolean, nameOf: (component: string) => string): string {
  const type = (schema: unknown): string => typeOf(schema as Schema | boolean, nameOf);
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  if (typeof schema["$ref"] === "string") return nameOf(schema["$ref"].slice(schema["$ref"].lastIndexOf("/") + 1));
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const { enum: words, not, allOf = [] } = schema;
  if (Array.isArray(words)) return unionOf(words.map((word) => JSON.stringify(word)));
  if (typeof not === "object" && Object.keys(not as object).length === 0) return "never";
  const choice = schema["anyOf"] ?? schema["oneOf"];
  const all = [
    plainTypeOf(schema, type),
    Array.isArray(choice) ? unionOf(choice.map(type)) : "unknown",
    ...(allOf as readonly unknown[]).map(type),
  ];
  // A part may have rules alone, such as a second pattern.
  const [one = "unknown", ...more] = all.filter((part) => part !== "unknown");
  return more.length === 0 ? one : [one, ...more].map((part) => `(${part})`).join(" & ");
}

/** The type that `type` says, and what belongs to it. */
function plainTypeOf(schema: Schema, type: (schema: unknown) => string): string {
  if (Array.isArray(schema["type"]))
    return unionOf(schema["type"].map((one) => plainTypeOf({ ...schema, type: one }, type)));
  switch (schema["type"]) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema["type"];
    case "array":
      return listOf(schema, type);
    case "object":
      return objectOf(schema, type);
    default:
      return "unknown";
  }
}

export function unionOf(types: readonly string[], separator = " | "): string {
  const each = [...new Set(types)];
  if (each.includes("unknown")) return "unknown";
  return each.length === 0 ? "never" : each.join(separator);
}

function listOf({ prefixItems, items, minItems = 0, maxItems }: Schema, type: (schema: unknown) => string): string {
  if (!Array.isArray(prefixItems)) return `${inList(type(items ?? {}))}[]`;
  const places = prefixItems.map((item, index) => inTuple(type(item), index < Number(minItems)));
  const isClosed = items === false || (items === undefined && maxItems !== undefined);
  return `[${[...places, ...(isClosed ? [] : [`...${inList(type(items ?? {}))}[]`])].join(", ")}]`;
}

function inList(type: string): string {
  return /[ |&]/.test(type) ? `(${type})` : type;
}

function inTuple(type: string, isThere: boolean): string {
  return isThere ? type : `${inList(type)}?`;
}

function objectOf(schema: Schema, type: (schema: unknown) => string): string {
  const { properties = {}, additionalProperties: others } = schema;
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  const members = Object.entries(properties as { readonly [name: string]: Schema }).map(
    ([name, member]) => `${docOf(member)}${memberName(name)}${required.has(name) ? "" : "?"}: ${type(member)};`,
  );
  if (members.length === 0 && others === false) return "{ [name: string]: never }";
  const open = others === undefined || others === false ? [] : [`[name: string]: ${openTo(others, members, type)};`];
  const all = [...members, ...open];
  if (all.length === 0) return "{}";
  const inLine = `{ ${all.join(" ").replace(/;$/, "")} }`;
  return inLine.length > 80 || inLine.includes("\n") ? `{\n${all.join("\n")}\n}` : inLine;
}

// TypeScript's index signature must fit the named members too, so it is `unknown` next to them.
function openTo(others: unknown, members: readonly string[], type: (schema: unknown) => string): string {
  return members.length > 0 || others === true ? "unknown" : type(others);
}

export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** The description as a comment. */
export function docOf({ description }: { readonly description?: unknown }): string {
  return typeof description === "string" ? `${comment(description)}\n` : "";
}

export function comment(text: string): string {
  const lines = text.replaceAll("*/", "*\\/").split(/\r\n|\r|\n/);
  return lines.length === 1 ? `/** ${lines[0]} */` : `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */`;
}
