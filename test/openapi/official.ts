/** A document held to the schemas of OpenAPI itself, and its own schemas to that of JSON Schema. */
import { Validator } from "@seriousme/openapi-schema-validator";
import type { Openapi } from "usher-http";
import { compiler } from "./ajv.ts";

// Compiles the schema of each version once.
const validator = new Validator();

/** What is wrong with a document; nothing where nothing is. */
export async function wrongWith(document: Openapi.Document): Promise<readonly unknown[]> {
  const { valid, errors = [] } = await validator.validate(structuredClone(document) as never);
  const wrong: unknown[] = valid ? [] : [errors].flat();
  const compile = compiler(document);
  for (const schema of [...Object.values(document.components.schemas), ...schemasIn(document.paths)]) {
    const text = withComponents(schema, document.components.schemas);
    if (compiled.has(text)) continue;
    try {
      compile(schema);
      compiled.add(text);
    } catch (error) {
      wrong.push([String(error), schema]);
    }
  }
  return wrong;
}

/** Schemas that were compiled, with those that they refer to: most of them are in many documents. */
const compiled = new Set<string>();

/** The text of a schema and of every component that it refers to, through others too. */
function withComponents(schema: object, components: { readonly [name: string]: object }): string {
  const texts = new Map([["", JSON.stringify(schema)]]);
  // What is added is looked at as well.
  for (const text of texts.values()) {
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (!texts.has(name)) texts.set(name, JSON.stringify(components[name] ?? null));
    }
  }
  return JSON.stringify([...texts]);
}

/** Every schema of a part of a document, by the members that hold one. */
function schemasIn(part: unknown): object[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => {
    const isSchema = name === "schema" || name === "itemSchema" || name === "x-item-schema";
    return isSchema ? [value as object] : schemasIn(value);
  });
}
