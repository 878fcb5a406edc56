import type { LinkTrouble } from "../../src/database/link.ts";

/** The members of a server's error, as the driver hands them on. */
interface ServerError {
  readonly severity?: string;
  readonly severity_local?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint_name?: string;
  readonly position?: string;
}

/** What an error of the driver's says of the link. Of the error itself nothing goes further: it carries parameters. */
export function troubleOf(error: unknown, isSent: boolean, why: string): LinkTrouble {
  if (!isServerError(error)) return { kind: "gone", isSent, why: saidBy(error) ?? why };
  // A pooler may leave the first of them out.
  const severity = error.severity ?? error.severity_local ?? "ERROR";
  const { code, message, constraint_name: constraint } = error;
  if (severity === "FATAL" || severity === "PANIC")
    return { kind: "gone", isSent: true, why: `${severity} ${code}: ${message}`, code };
  const where = error.position === undefined ? {} : { position: Number(error.position) };
  return { kind: "refused", severity, code, message, constraint, ...where };
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name === "PostgresError";
}

// What the driver says of a closed connection is less than what the socket said.
function saidBy(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && error.code === "CONNECTION_CLOSED" ? undefined : error.message;
}
