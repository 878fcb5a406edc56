import { DatabaseError } from "./failure.ts";
import { LinkFailure } from "./link.ts";

/** Why there is no connection. */
export function whyOf(failure: unknown): string {
  const trouble = failure instanceof LinkFailure ? failure.trouble : undefined;
  if (trouble === undefined) return failure instanceof Error ? failure.name : typeof failure;
  return trouble.kind === "refused" ? `${trouble.severity} ${trouble.code}: ${trouble.message}` : trouble.why;
}

export function unsent(failure: unknown): DatabaseError {
  return new DatabaseError({ kind: "unsent", detail: whyOf(failure) });
}
