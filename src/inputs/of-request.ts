import type { Code } from "../refusals/code.ts";
import type { FrameworkCode } from "../refusals/framework-codes.ts";
import type { Problem } from "../refusals/problem.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Need, RequestRecord } from "./asked.ts";
import type { Awaitable, Dep, Names } from "./dep.ts";
import { recordOf } from "./request-record.ts";

/**
 * Reads what no built-in reads. It is opaque to the API document unless `needs` says what it reads; `refuses` lists
 * the codes it may answer with.
 */
export function ofRequest<A = never, const Codes extends readonly Code[] = readonly []>(
  read: (request: RequestRecord) => Awaitable<A | Refusal<Names<Codes> | FrameworkCode> | Problem>,
  options: { readonly needs?: readonly Need[]; readonly refuses?: Codes } = {},
): Dep<Exclude<A, Problem>, Names<Codes>> {
  return {
    node: {
      from: [],
      ...(options.needs === undefined ? { opaque: true } : { needs: options.needs }),
      ...(options.refuses === undefined ? {} : { codes: options.refuses }),
      compile: () => (asked) => read(recordOf(asked)),
    },
  };
}

/** The whole request record. Opaque to the API document. */
export const request: Dep<RequestRecord> = { node: { from: [], opaque: true, compile: () => recordOf } };
