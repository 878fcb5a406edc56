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
    try {
      compile(schema);
    } catch (error) {
      wrong.push([String(error), schema]);
    }
  }
  return wrong;
}

/** Every schema of a part of a document, by the members that hold one. */
function schemasIn(part: unknown): object[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => {
    const isSchema = name === "schema" || name === "itemSchema" || name === "x-item-schema";
    return isSchema ? [value as object] : schemasIn(value);
  });
}
