import { busy, tooLarge, unreadable } from "../refusals/framework-codes.ts";
import { Problem } from "../refusals/problem.ts";
import { invalidRefusal, refuse } from "../refusals/refusal.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { BodyFailure, MultipartFailure } from "./body-source.ts";

const codes = { too_large: tooLarge, unreadable, busy };
const notMultipart = [new Problem("body", "malformed", "This is not a multipart form.")];

/** The refusal a body's failure is answered with: 413, 400 or 503; its detail goes to the log. */
export function bodyRefusal(failure: BodyFailure): Refusal<"too_large" | "unreadable" | "busy">;
export function bodyRefusal(failure: MultipartFailure): Refusal<"too_large" | "unreadable" | "busy" | "invalid">;
export function bodyRefusal({
  kind,
  detail,
}: MultipartFailure): Refusal<"too_large" | "unreadable" | "busy" | "invalid"> {
  if (kind === "malformed") return invalidRefusal(notMultipart, detail);
  return refuse<"too_large" | "unreadable" | "busy">(codes[kind], undefined, { detail });
}
