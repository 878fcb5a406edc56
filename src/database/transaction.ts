import { Refusal } from "../refusals/refusal.ts";
import { DatabaseError, failureOf } from "./failure.ts";
import type { DatabaseFailure } from "./failure.ts";
import { Lease } from "./lease.ts";
import type { Database } from "./lease.ts";
import type { LinkFailure } from "./link.ts";
import { info, warn } from "./pool-log.ts";
import type { Slot } from "./slot.ts";
import type { Borrow } from "./slots.ts";

export type Isolation = "read committed" | "repeatable read" | "serializable";

export interface TransactionOptions extends Borrow {
  /** The database's own default where it is not given. */
  readonly isolation?: Isolation;
  /** How often the work is run again in full where a concurrent transaction stood in its way; 0 by default. */
  readonly retries?: number;
  /** Whether what a refused work wrote is kept all the same, as a count of wrong codes is. */
  readonly keep?: (refusal: Refusal) => boolean;
}

/** Where connections come from, and go back to. */
interface Lending {
  take(borrow: Borrow): Promise<Slot>;
  give(slot: Slot): void;
}

const begins: ReadonlyMap<Isolation | undefined, string> = /* @__PURE__ */ new Map([
  [undefined, "begin"],
  ["read committed", "begin isolation level read committed"],
  ["repeatable read", "begin isolation level repeatable read"],
  ["serializable", "begin isolation level serializable"],
]);

/** What came of one run of the work. */
type Outcome<A> = { readonly kind: "done"; readonly value: A } | { readonly kind: "failed"; readonly thrown: unknown };

/** Runs a work in a transaction, again where that was asked for; answers what it answered, with the connection to give back. */
export async function transact<A>(
  slots: Lending,
  work: (db: Database) => Promise<A>,
  options: TransactionOptions,
  lent: (slot: Slot) => void,
): Promise<A> {
  const begin = begins.get(options.isolation);
  if (begin === undefined) throw new Error("isolation is read committed, repeatable read or serializable");
  const slot = await begun(slots, begin, options, lent);
  for (let left = options.retries ?? 0; ; left--) {
    const outcome = await attempt(slot, work, options);
    if (outcome.kind === "done") return outcome.value;
    const { thrown } = outcome;
    const isConflict = thrown instanceof DatabaseError && thrown.failure.kind === "not_serializable";
    if (!isConflict || left <= 0 || options.signal?.aborted) throw thrown;
    info(`a transaction is run again: ${thrown.message}`);
    await slot.run(begin, []).catch((failure: unknown) => {
      // As where the first one fails: it is not what the next borrower should get.
      slot.link.cut();
      throw notBegun(failure);
    });
  }
}

/** A connection with a transaction begun on it. Where that fails nothing was done, so another connection is tried, once. */
async function begun(slots: Lending, begin: string, borrow: Borrow, lent: (slot: Slot) => void): Promise<Slot> {
  for (let isSecond = false; ; isSecond = true) {
    const slot = await slots.take(borrow);
    try {
      await slot.run(begin, []);
      lent(slot);
      return slot;
    } catch (failure) {
      // Whatever is wrong with it, it is not what the next borrower should get.
      slot.link.cut();
      slots.give(slot);
      if (isSecond) throw notBegun(failure);
    }
  }
}

async function attempt<A>(
  slot: Slot,
  work: (db: Database) => Promise<A>,
  { signal, keep }: TransactionOptions,
): Promise<Outcome<A>> {
  const lease = new Lease(slot, signal, true);
  let value: A;
  try {
    value = await work(lease);
  } catch (thrown) {
    await lease.end();
    await rollBack(slot);
    return { kind: "failed", thrown };
  }
  await lease.end();
  const refused: Refusal | undefined = value instanceof Refusal ? value : undefined;
  if (refused !== undefined && keep?.(refused) !== true) {
    await rollBack(slot);
    return { kind: "done", value };
  }
  const failure = lease.isAborted ? await abandon(slot) : await commit(slot, lease.hasConflicted);
  if (failure === undefined) return { kind: "done", value };
  if (refused === undefined) return { kind: "failed", thrown: new DatabaseError(failure) };
  const error = new DatabaseError(failure);
  warn(`what a refused work wrote is not kept: ${error.message}`);
  return { kind: "done", value };
}

async function abandon(slot: Slot): Promise<DatabaseFailure> {
  await rollBack(slot);
  return { kind: "not_committed", detail: "who asked for it went away" };
}

/** A connection that does not roll back is of no use to anybody. */
async function rollBack(slot: Slot): Promise<void> {
  slot.isUnbounded = false;
  if (slot.link.isOpen) await slot.end("rollback").catch(() => slot.link.cut());
}

/** Commits; answers why that was not to be. */
async function commit(slot: Slot, hasConflicted: boolean): Promise<DatabaseFailure | undefined> {
  try {
    const { command } = await slot.end("commit");
    if (command === "COMMIT") return undefined;
    // The server rolls back what a failed statement stopped, whatever it is asked (PostgreSQL, COMMIT).
    const detail = "one of its statements had failed";
    return { kind: hasConflicted ? "not_serializable" : "not_committed", detail };
  } catch (thrown) {
    // What is deferred runs now, and may quote a value of any statement before.
    const failure = failureOf((thrown as LinkFailure).trouble, "commit", undefined);
    if (failure.kind === "connection_closed")
      return { kind: "not_committed", detail: "its connection closed before the commit was sent" };
    return failure.kind === "db" ? { kind: "not_committed", detail: failure.detail } : failure;
  } finally {
    // Of what the transaction set, its bound is gone with it.
    slot.isUnbounded = false;
  }
}

function notBegun(failure: unknown): DatabaseError {
  const why = failureOf((failure as LinkFailure).trouble, "begin", []);
  const detail = "detail" in why ? why.detail : "the connection closed before the transaction began";
  return new DatabaseError({ kind: "unsent", detail });
}
