import { busy, tooLarge, unreadable } from "../refusals/framework-codes.ts";
import { refuse } from "../refusals/refusal.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { BodyFailure } from "./body-source.ts";

const codes = { too_large: tooLarge, unreadable, busy };

/** The refusal a body's failure is answered with. */
export function bodyRefusal({ kind, detail }: BodyFailure): Refusal<"too_large" | "unreadable" | "busy"> {
  return refuse<"too_large" | "unreadable" | "busy">(codes[kind], undefined, { detail });
}
