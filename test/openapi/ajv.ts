/** Schemas of a document as a validator of JSON Schema 2020-12 has them. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Openapi } from "usher-http";

/** Compiles schemas of a document: what they refer to is found in it. Throws for a schema that is none. */
export function compiler(document: Openapi.Document): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, allErrors: true });
  addFormats.default(ajv);
  // OpenAPI's own word, which says nothing that oneOf does not.
  ajv.addKeyword("discriminator");
  ajv.addKeyword("components");
  ajv.addSchema({ $id: "openapi:/document", components: document.components });
  return (schema) => ajv.compile(withinDocument(schema) as object);
}

/** The schema with references into the document: `#/components/…` is of the document and not of the schema. */
function withinDocument(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withinDocument);
  const members = Object.entries(schema).map(([name, value]) => {
    const refers = name === "$ref" && typeof value === "string";
    return [name, refers ? value.replace(/^#/, "openapi:/document#") : withinDocument(value)];
  });
  return Object.fromEntries(members);
}
