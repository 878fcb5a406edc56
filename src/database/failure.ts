import { Refusal, RefusingError, refuse } from "../refusals.ts";
import type { ConnectionError, StatementValues } from "./connection.ts";
import { untold } from "./untold.ts";

/** What went wrong with the database, told apart by what was done. */
export type DatabaseFailure =
  /** No connection came free within the wait. */
  | { readonly kind: "pool_busy"; readonly waitedMs: number }
  | { readonly kind: "pool_closed" }
  /** The database could not be reached, and nothing was done. */
  | { readonly kind: "unsent"; readonly detail: string }
  /** The connection that was borrowed is closed, or was given back: nothing was sent on it. */
  | { readonly kind: "connection_closed" }
  /** The connection was lost while a statement or a commit ran: it was done or it was not. */
  | { readonly kind: "lost"; readonly detail: string }
  /** A unique, exclusion or foreign key constraint was violated, by a statement or, where it is deferred, by the commit. */
  | { readonly kind: "conflict"; readonly constraint: string | undefined }
  /** A concurrent transaction stood in the way, past every retry: nothing was kept. */
  | { readonly kind: "not_serializable"; readonly detail: string }
  /** Nothing of the transaction was kept. */
  | { readonly kind: "not_committed"; readonly detail: string }
  /** Anything else that the database says, by its SQLSTATE, or that does not fit between it and the program. */
  | { readonly kind: "db"; readonly code: string | undefined; readonly detail: string };

/**
 * What a pool and its connections throw. Where nobody handles it, it is answered as contract 7.5 has it: 503 `busy`
 * where trying again is right, else 500 `internal`; its message is logged. It holds no value of a parameter, and of what the
 * server quotes only names: those that stand in the statement, and those that the server says the error is about.
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

/** Unique, exclusion, foreign key, and a foreign key's RESTRICT (PostgreSQL, appendix A, class 23). */
const conflicts: ReadonlySet<string> = /* @__PURE__ */ new Set(["23505", "23P01", "23503", "23001"]);
/** A serialisation failure, and a deadlock. */
const concurrent: ReadonlySet<string> = /* @__PURE__ */ new Set(["40001", "40P01"]);

/**
 * What a link's trouble with a statement is to who asked for it.
 *
 * @param sql Named where the statement is what is wrong: it is the program's own text.
 * @param values Its parameters', none of which may be told; undefined where what it runs is not known, as for a commit.
 */
export function failureOf(trouble: ConnectionError, sql: string, values: StatementValues | undefined): DatabaseFailure {
  if (trouble.kind === "unreachable") return { kind: "unsent", detail: trouble.why };
  if (trouble.kind === "gone")
    return trouble.isSent
      ? { kind: "lost", detail: untold(trouble.why, sql, values ?? []) }
      : { kind: "connection_closed" };
  if (trouble.kind === "unsendable")
    return { kind: "db", code: undefined, detail: `${trouble.why}, for ${clipped(sql)}` };
  const { code, constraint } = trouble;
  if (conflicts.has(code)) return { kind: "conflict", constraint };
  const said = messageOf(trouble, sql, values);
  if (concurrent.has(code)) return { kind: "not_serializable", detail: said };
  return { kind: "db", code, detail: `${said}, for ${clipped(sql)}` };
}

// Class 22 is of bad values, and its sentences quote them; the server's hints, details and contexts quote what they like.
function messageOf(
  { code, severity, message, names }: ConnectionError & { kind: "refused" },
  sql: string,
  values: StatementValues | undefined,
): string {
  const told = `${severity} ${code}`;
  return code.startsWith("22") || values === undefined ? told : `${told}: ${untold(message, sql, values, names)}`;
}

const maxShownCharacters = 100;

/** A statement's text on one line, as a log names it. */
export function clipped(sql: string): string {
  const line = sql.replace(/\s+/g, " ").trim();
  return line.length > maxShownCharacters ? `${line.slice(0, maxShownCharacters - 1)}…` : line;
}
