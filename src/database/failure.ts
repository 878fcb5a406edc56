import { Refusal, RefusingError, refuse } from "../refusals.ts";
import type { ConnectionError, StatementValues } from "./connection.ts";
import { redact } from "./redact.ts";

/** Why a database call failed. The kinds differ in what the database may have done. */
export type DatabaseFailure =
  /** No connection became free within `waitMs`. */
  | { readonly kind: "pool_busy"; readonly waitedMs: number }
  | { readonly kind: "pool_closed" }
  /** The database could not be reached. Nothing was done. */
  | { readonly kind: "unsent"; readonly detail: string }
  /** The borrowed connection is closed, or was returned to the pool. Nothing was sent. */
  | { readonly kind: "connection_closed" }
  /** The connection was lost while a statement or a commit ran. Its outcome is unknown. */
  | { readonly kind: "lost"; readonly detail: string }
  /** A statement violated a unique, exclusion or foreign key constraint; or the commit, if the constraint is deferred. */
  | { readonly kind: "conflict"; readonly constraint: string | undefined }
  /** A concurrent transaction conflicted, also on the last retry. Nothing was kept. */
  | { readonly kind: "not_serializable"; readonly detail: string }
  /** Nothing of the transaction was kept. */
  | { readonly kind: "not_committed"; readonly detail: string }
  /** Any other error of the database, with its SQLSTATE; or a result that does not fit the statement's declaration. */
  | { readonly kind: "db"; readonly code: string | undefined; readonly detail: string };

/**
 * The error that a pool and its connections throw. If the application does not handle it, the response is 503 `busy` for a
 * failure worth a retry, else 500 `internal` (contract 7.5). The message is logged. It never contains a parameter's
 * value. Of what the server quotes it keeps only names: from the statement, and from the error's own fields.
 *
 * @example
 * try {
 *   return await pool.exec(addUser, name);
 * } catch (error) {
 *   if (DatabaseError.conflict(error, "users_name_key")) return refuse(nameTaken, "That name is taken.");
 *   throw error;
 * }
 */
export class DatabaseError extends RefusingError {
  readonly failure: DatabaseFailure;
  readonly refusal: Refusal<"busy" | "internal">;

  constructor(failure: DatabaseFailure, isBusy: boolean = busyKinds.has(failure.kind)) {
    const message = sentenceOf(failure);
    super(message);
    this.name = "DatabaseError";
    this.failure = failure;
    this.refusal = refuse(isBusy ? Refusal.busy : Refusal.internal, undefined, { detail: message });
  }

  /** The name of the constraint that an error violated; undefined for any other error. */
  static conflict(error: unknown): string | undefined;
  /** Whether an error violated that constraint. */
  static conflict(error: unknown, constraint: string): boolean;
  static conflict(error: unknown, constraint?: string): string | boolean | undefined {
    const failure = error instanceof DatabaseError ? error.failure : undefined;
    const violated = failure?.kind === "conflict" ? failure.constraint : undefined;
    return constraint === undefined ? violated : violated === constraint;
  }
}

const busyKinds: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "pool_busy",
  "pool_closed",
  "unsent",
  "not_serializable",
]);

function sentenceOf(failure: DatabaseFailure): string {
  switch (failure.kind) {
    case "pool_busy":
      return `no database connection came free within ${failure.waitedMs} ms`;
    case "pool_closed":
      return "the database pool is closed";
    case "unsent":
      return `the database was not reached, and nothing was done: ${failure.detail}`;
    case "connection_closed":
      return "the database connection is closed, and nothing was sent on it";
    case "lost":
      return `the database connection was lost, and what was done is not known: ${failure.detail}`;
    case "conflict":
      return `a constraint is violated: ${failure.constraint ?? "of no name"}`;
    case "not_serializable":
      return `a concurrent transaction stood in the way: ${failure.detail}`;
    case "not_committed":
      return `the transaction was not committed: ${failure.detail}`;
    default:
      return `the database: ${failure.detail}`;
  }
}

/** Unique, exclusion, foreign key, and RESTRICT of a foreign key (PostgreSQL, appendix A, class 23). */
const conflicts: ReadonlySet<string> = /* @__PURE__ */ new Set(["23505", "23P01", "23503", "23001"]);
/** Serialisation failure and deadlock. */
const concurrent: ReadonlySet<string> = /* @__PURE__ */ new Set(["40001", "40P01"]);

/**
 * Maps a connection's error to the failure that the application gets.
 *
 * @param sql Named in the detail if the statement is wrong: it is the program's own text.
 * @param values The parameters, to be kept out of the detail; undefined if they are unknown, as for a commit.
 */
export function failureOf(reason: ConnectionError, sql: string, values: StatementValues | undefined): DatabaseFailure {
  if (reason.kind === "unreachable") return { kind: "unsent", detail: reason.why };
  if (reason.kind === "gone")
    return reason.isSent
      ? { kind: "lost", detail: redact(reason.why, sql, values ?? []) }
      : { kind: "connection_closed" };
  if (reason.kind === "unsendable")
    return { kind: "db", code: undefined, detail: `${reason.why}, for ${clipped(sql)}` };
  const { code, constraint } = reason;
  if (conflicts.has(code)) return { kind: "conflict", constraint };
  const text = messageOf(reason, sql, values);
  if (concurrent.has(code)) return { kind: "not_serializable", detail: text };
  return { kind: "db", code, detail: `${text}, for ${clipped(sql)}` };
}

// Messages of SQLSTATE class 22 (data exception) quote values. Hints, details and contexts may too, so they are not used.
function messageOf(
  { code, severity, message, names }: ConnectionError & { kind: "refused" },
  sql: string,
  values: StatementValues | undefined,
): string {
  const start = `${severity} ${code}`;
  return code.startsWith("22") || values === undefined ? start : `${start}: ${redact(message, sql, values, names)}`;
}

const maxShownCharacters = 100;

/** A statement's text on one line, cut to 100 characters. */
export function clipped(sql: string): string {
  const line = sql.replace(/\s+/g, " ").trim();
  return line.length > maxShownCharacters ? `${line.slice(0, maxShownCharacters - 1)}…` : line;
}
