/** Schemas of a document as a validator of JSON Schema 2020-12 has them. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Openapi } from "usher-http";

/** One for all documents: each compiles JSON Schema's own schema, which takes 20 ms. */
let ajv: Ajv2020 | undefined;
let documents = 0;

/** Compiles schemas of a document, in which it resolves their references. Throws for an invalid schema. */
export function compiler(document: Openapi.Document): (schema: object) => ValidateFunction {
  const shared = (ajv ??= made());
  const id = `openapi:/documents/${documents++}`;
  shared.addSchema({ $id: id, components: document.components });
  return (schema) => shared.compile(within(id, schema) as object);
}

function made(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, allErrors: true });
  addFormats.default(ajv);
  // OpenAPI's own keyword, which adds nothing to oneOf.
  ajv.addKeyword("discriminator");
  ajv.addKeyword("components");
  return ajv;
}

/** The schema with references into its document: `#/components/…` is of the document and not of the schema. */
function within(id: string, schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => within(id, item));
  const members = Object.entries(schema).map(([name, value]) => {
    const refers = name === "$ref" && typeof value === "string";
    return [name, refers ? value.replace(/^#/, `${id}#`) : within(id, value)];
  });
  return Object.fromEntries(members);
}
