import type { Code } from "../refusals/code.ts";
import type { Credential } from "./inputs.ts";

/** How who asks is proved, as OpenAPI has it. */
export type SecurityScheme = { readonly description?: string } & (
  | { readonly type: "http"; readonly scheme: string }
  | { readonly type: "apiKey"; readonly in: string; readonly name: string }
);

/** What one of is enough; an empty one is enough without proof. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] };

/** The scheme a credential is of: by HTTP's own header, or a key where it is first read. */
export function schemeOf({ scheme, doc, reads }: Credential): SecurityScheme {
  const description = doc === undefined ? {} : { description: doc };
  if (reads.some((read) => read.in === "header" && read.name.toLowerCase() === "authorization")) {
    return { type: "http", scheme, ...description };
  }
  const { in: place, name } = reads[0] ?? { in: "cookie", name: scheme };
  return { type: "apiKey", in: place, name, ...description };
}

/** What a route asks for: any one of its credentials, or none at all where nothing refuses for the want of one. */
export function securityOf(
  credentials: readonly Credential[],
  codes: readonly Code[],
): readonly SecurityRequirement[] | undefined {
  if (credentials.length === 0) return undefined;
  const schemes = [...new Set(credentials.map(({ scheme }) => scheme))];
  const needed = codes.some(({ status }) => status === 401) || credentials.some(isRequired);
  return [...schemes.map((scheme) => ({ [scheme]: [] })), ...(needed ? [] : [{}])];
}

function isRequired({ reads }: Credential): boolean {
  return reads.some(({ required }) => required === true);
}
