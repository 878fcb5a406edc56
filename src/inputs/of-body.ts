import type { Code } from "../refusals/code.ts";
import type { FrameworkCode } from "../refusals/framework-codes.ts";
import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import type { Problem } from "../refusals/problem.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { checkContentType, wrongContentTypes } from "./content-type.ts";
import type { Awaitable, Dep, Names } from "./dep.ts";

/** A body as it is sent with `fetch`. */
export type BodyToSend = string | Uint8Array | Blob | FormData | URLSearchParams | ReadableStream<Uint8Array>;

/** What a client sends for a body: the type is the body's own (a `Blob`, a form) or the header's. */
export interface BodySent {
  body: BodyToSend;
  headers?: { "content-type"?: string };
}

/** The whole body, up to the app's `maxBody`; empty where there is none. */
export const body: Dep<Uint8Array, never, BodySent> = {
  node: { from: [], body: { as: "bytes" }, compile: () => (asked) => asked.bytes },
};

/**
 * Reads the whole body and parses it. `contentTypes` are `type/subtype`, `type/*` or `type/*+suffix`; another
 * `Content-Type`, or none, is a 415 before a byte is read.
 */
export function ofBody<A = never, const Codes extends readonly Code[] = readonly []>(
  options: { readonly contentTypes: readonly string[]; readonly refuses?: Codes },
  parse: (body: Uint8Array) => Awaitable<A | Refusal<Names<Codes> | FrameworkCode> | Problem>,
): Dep<Exclude<A, Problem>, Names<Codes>, BodySent> {
  const { contentTypes } = options;
  return {
    node: {
      from: [],
      codes: [unsupportedMediaType, ...(options.refuses ?? [])],
      body: { as: "bytes", contentTypes },
      check: () => wrongContentTypes(contentTypes),
      before: () => (asked) => checkContentType(asked, contentTypes),
      compile: () => (asked) => parse(asked.bytes),
    },
  };
}
