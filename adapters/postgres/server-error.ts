import type { ConnectionError } from "../../src/database/connection.ts";

/** The members of the driver's `PostgresError`. */
export interface ServerError {
  readonly severity?: string;
  readonly severity_local?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint_name?: string;
  readonly column_name?: string;
  readonly table_name?: string;
  readonly position?: string;
  /** The server's function that raised the error. */
  readonly routine?: string;
}

/** The fields of ErrorResponse that are read (PostgreSQL §54.8), with the driver's names. */
const fields: ReadonlyMap<number, keyof ServerError> = new Map([
  [0x53, "severity_local"],
  [0x56, "severity"],
  [0x43, "code"],
  [0x4d, "message"],
  [0x6e, "constraint_name"],
  [0x63, "column_name"],
  [0x74, "table_name"],
  [0x50, "position"],
  [0x52, "routine"],
]);

/** Parses an ErrorResponse. `start` is its first field. */
export function serverError(bytes: Buffer, start: number, end: number): ServerError {
  const error: { -readonly [K in keyof ServerError]: ServerError[K] } = { code: "", message: "" };
  for (let at = start; at < end && bytes[at] !== 0;) {
    const zero = bytes.indexOf(0, at + 1);
    const field = fields.get(bytes[at] as number);
    if (field !== undefined) error[field] = bytes.toString("utf8", at + 1, zero);
    at = zero + 1;
  }
  return error;
}

/** Maps an error of the driver. The error itself is dropped: it holds the parameters. */
export function connectionErrorOf(error: unknown, isSent: boolean, why: string): ConnectionError {
  return isServerError(error) ? connectionErrorText(error) : { kind: "gone", isSent, why: saidBy(error) ?? why };
}

export function connectionErrorText(error: ServerError): ConnectionError {
  // A pooler may leave `severity` out.
  const severity = error.severity ?? error.severity_local ?? "ERROR";
  const { code, message, constraint_name: constraint, column_name: column, table_name: table } = error;
  if (severity === "FATAL" || severity === "PANIC")
    return { kind: "gone", isSent: true, why: `${severity} ${code}: ${message}`, code };
  const where = error.position === undefined ? {} : { position: Number(error.position) };
  const names = [constraint, column, table].filter((name) => name !== undefined);
  return { kind: "refused", severity, code, message, constraint, names, ...where };
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name === "PostgresError";
}

// The socket's reason for a closed connection says more than the driver's.
function saidBy(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && error.code === "CONNECTION_CLOSED" ? undefined : error.message;
}
