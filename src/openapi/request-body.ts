import type { BodyNeed, FileNeed, TextNeed } from "../inputs/dep.ts";
import { kindOf } from "../shapes/kind.ts";
import { compileReader } from "../shapes/reader.ts";
import { textSchema } from "./parameters.ts";
import type { Reads } from "./inputs.ts";
import type { Schema } from "./schemas/schema.ts";
import type { Telling } from "./telling.ts";

type Content = { readonly [mediaType: string]: object };

/** What a route reads of its body; undefined where it reads none. */
export function requestBodyOf(reads: Reads, telling: Telling): { readonly content: Content } | undefined {
  return reads.body === undefined ? undefined : { content: contentOf(reads.body, reads.fields, telling) };
}

function contentOf(body: BodyNeed, fields: Reads["fields"], telling: Telling): Content {
  switch (body.as) {
    case "json":
      return jsonContent(body, telling);
    case "form":
      return formContent(fields);
    case "multipart":
      return { "multipart/form-data": { schema: { type: "object" } } };
    default: {
      const types = body.contentTypes ?? ["application/octet-stream"];
      return Object.fromEntries(types.map((type) => [type, { schema: { type: "string" } }]));
    }
  }
}

function jsonContent(body: Extract<BodyNeed, { as: "json" }>, telling: Telling): Content {
  const { shape, examples } = body;
  const schema = telling.shape(kindOf(shape), "input", "body");
  if (examples.length === 0) return { "application/json": { schema } };
  const { readText } = compileReader(shape);
  for (const example of examples) {
    const read = readText(JSON.stringify(example));
    if (read.ok) continue;
    const wrong = read.error.map(({ at, message }) => `${at}: ${message}`).join(" ");
    telling.problem(`has an example of its body that it would not read: ${wrong}`);
  }
  return { "application/json": { schema, examples: keyed(examples) } };
}

/** Examples by their place in the list. */
export function keyed(examples: readonly unknown[]): { readonly [key: string]: { readonly value: unknown } } {
  return Object.fromEntries(examples.map((value, index) => [index, { value }]));
}

function formContent(fields: Reads["fields"]): Content {
  const described = new Map<string, Schema>();
  const required = new Set<string>();
  const files = new Set<string>();
  for (const field of fields) {
    if (!described.has(field.name)) described.set(field.name, fieldSchema(field));
    if (field.required) required.add(field.name);
    if (field.in === "file") files.add(field.name);
  }
  const properties = Object.fromEntries(described);
  const schema: Schema = { type: "object", properties, ...(required.size > 0 ? { required: [...required] } : {}) };
  if (files.size > 0) {
    const encoding = Object.fromEntries([...files].map((name) => [name, { contentType: "application/octet-stream" }]));
    return { "multipart/form-data": { schema, encoding } };
  }
  const both = {
    schema: { description: "A form: each field its value, a repeated one a list of them.", ...schema },
  };
  return { "application/x-www-form-urlencoded": both, "multipart/form-data": both };
}

// No boolean: one that is sent as false would be checked.
const box: Schema = { type: "string", description: "Checked where it is sent, whatever it says." };

function fieldSchema(field: TextNeed | FileNeed): Schema {
  if (field.in !== "file") return field.checked === true ? box : textSchema(field);
  const file = { type: "string", description: "A file." };
  return field.repeated ? { type: "array", items: file } : file;
}
