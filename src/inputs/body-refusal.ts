import { busy, sentences, tooLarge, unreadable } from "../refusals/framework-codes.ts";
import { Refusal } from "../refusals/refusal.ts";
import type { BodyFailure } from "./body-source.ts";

const codes = { too_large: tooLarge, unreadable, busy };

/** The refusal a body's failure is answered with. */
export function bodyRefusal(failure: BodyFailure): Refusal<"too_large" | "unreadable" | "busy"> {
  const code = codes[failure.kind];
  const headers = failure.kind === "busy" ? [["retry-after", "1"] as const] : [];
  return new Refusal<"too_large" | "unreadable" | "busy">(code, sentences.get(code.name) as string, {
    detail: failure.detail,
    headers,
  });
}
