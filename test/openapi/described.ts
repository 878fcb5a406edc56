/** The document of some routes, as its reader has it. */
import { Openapi } from "usher-http";
import type { Route } from "usher-http";

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Content; readonly required?: boolean };
  readonly responses: { readonly [status: string]: Answer };
  readonly security?: readonly object[];
}
export interface Schema {
  readonly [keyword: string]: unknown;
}
export interface Content {
  readonly [type: string]: { readonly schema: Schema; readonly itemSchema?: Schema; readonly examples?: object };
}
export interface Answer {
  readonly description: string;
  readonly headers?: { readonly [name: string]: { readonly required?: boolean; readonly schema: Schema } };
  readonly content?: Content;
  readonly "x-websocket"?: { readonly [side: string]: unknown };
}

export function described(routes: readonly Route[], options?: Openapi.DocumentOptions): Openapi.Document {
  return JSON.parse(JSON.stringify(Openapi.document(routes, options))) as Openapi.Document;
}

/** The operation of one route. */
export function operation(route: Route): Operation {
  return onlyOperation(described([route]));
}

/** The operation of a document that has one. */
export function onlyOperation({ paths }: Openapi.Document): Operation {
  const [operation] = Object.values(paths).flatMap((item) => Object.values(item));
  if (operation === undefined) throw new Error("the document has no operation");
  return operation as Operation;
}

/** The schema of a request body's or an answer's JSON. */
export function jsonSchema(part: { readonly content?: Content } | undefined): Schema {
  const schema = part?.content?.["application/json"]?.schema;
  if (schema === undefined) throw new Error("there is no JSON");
  return schema;
}

/** What a schema says of a member. */
export function memberOf(schema: Schema, name: string): Schema {
  const member = (schema["properties"] as { readonly [name: string]: Schema })[name];
  if (member === undefined) throw new Error(`there is no member ${name}`);
  return member;
}
