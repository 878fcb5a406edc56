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
  readonly content?: Content;
  readonly "x-websocket"?: { readonly [side: string]: unknown };
}

export function described(routes: readonly Route[], options?: Openapi.DocumentOptions): Openapi.Document {
  return JSON.parse(JSON.stringify(Openapi.document(routes, options))) as Openapi.Document;
}

/** The operation of one route. */
export function operation(route: Route): Operation {
  const { paths } = described([route]);
  const [item] = Object.values(paths);
  return Object.values(item ?? {})[0] as Operation;
}

/** The schema of a request body's or an answer's JSON. */
export function jsonSchema({ content }: { readonly content?: Content }): Schema | undefined {
  return content?.["application/json"]?.schema;
}
