/** `IdempotencyTable`: keeps the answers to idempotency keys in a table. */
import * as Statement from "../../src/database/statement.ts";
import { DatabaseError, openTransaction } from "../../src/doors/database.ts";
import type { Database, RefusalKeeper } from "../../src/doors/database.ts";
import * as Type from "../../src/database/types.ts";
import { isA } from "../../src/doors/logging.ts";
import type { Refusal } from "../../src/refusals.ts";
import { LostClaims, NotClaimed } from "../../src/doors/security.ts";
import type {
  IdempotencyAnswer,
  IdempotencyClaim,
  IdempotencyEntry,
  IdempotencyStore,
} from "../../src/doors/security.ts";
import { indexOf, needsPool, sweepAll, sweeping, tableOf } from "./tables.ts";

/** The options of the table. */
export interface IdempotencyTableOptions {
  /** The table's name: up to 63 lower-case letters, digits and `_`, not starting with a digit. */
  readonly table: string;
}

/** A store of answers in a table. */
export interface IdempotencyTableStore extends IdempotencyStore {
  /** Deletes the keys whose time has passed. Resolves with their number. */
  sweep(): Promise<number>;
}

/** The SQL that creates the table and its index, for a migration. */
export function schema(options: IdempotencyTableOptions): string {
  const name = tableOf("IdempotencyTable", options);
  const index = indexOf(options.table, "kept_until");
  return `create table ${name} (
  digest text primary key,
  fingerprint text not null,
  token text not null,
  answer text,
  locked_until timestamptz not null,
  kept_until timestamptz not null
);
create index ${index} on ${name} (kept_until);
comment on table ${name} is 'Answers to idempotency keys.';
comment on column ${name}.digest is 'SHA-256 of the key and its caller.';
comment on column ${name}.fingerprint is 'SHA-256 of the method, path, query and body of the request.';
comment on column ${name}.answer is 'Null while the request runs, and where its process was killed.';
comment on column ${name}.locked_until is 'When a request without an answer counts as killed.';
`;
}

/**
 * A store over a table that `IdempotencyTable.schema` created, for routes without a transaction for the request. A claim and an
 * answer are a statement each, outside of the handler's own: a process that is killed between them leaves a key whose answer is
 * lost. Of a route with `Dep.transaction` use `IdempotencyTable.inTransaction`.
 */
export function store(pool: Database, options: IdempotencyTableOptions): IdempotencyTableStore {
  needsPool("IdempotencyTable", pool);
  const { claim, find, keep, extend, free, sweep } = statementsOver(options);
  const known = async (digest: string): Promise<IdempotencyEntry | undefined> => {
    const row = await pool.exec(find, digest);
    return row && entryOf(row);
  };
  const lost = new LostClaims((digest, token) => pool.exec(free, digest, token));
  const claims = async (digest: string, { fingerprint, token, leaseMs, keepMs, takesOver }: IdempotencyClaim) => {
    try {
      const claimed = await pool.exec(claim, digest, fingerprint, token, BigInt(leaseMs), BigInt(keepMs), takesOver);
      lost.free();
      return claimed > 0;
    } catch (thrown) {
      if (isLost(thrown)) lost.add(digest, token);
      throw isAway(thrown) ? new UnsentClaim(thrown) : thrown;
    }
  };
  return {
    async claim(digest, given) {
      for (let tries = 0; tries < 3; tries++) {
        const isClaimed = await claims(digest, given);
        const entry = isClaimed ? undefined : await known(digest);
        if (isClaimed || entry !== undefined) return entry;
        // It was freed between the two statements.
      }
      return { fingerprint: undefined, answer: undefined, leaseMs: 1 };
    },
    async keep(digest, { token, answer, keepMs }) {
      return (await pool.exec(keep, digest, token, answer, BigInt(keepMs))) > 0;
    },
    extend: (digest, token, leaseMs) => pool.exec(extend, digest, token, BigInt(leaseMs)),
    async free(digest, token) {
      try {
        await pool.exec(free, digest, token);
      } catch (thrown) {
        if (isLost(thrown) || isAway(thrown)) lost.add(digest, token);
        throw thrown;
      }
    },
    sweep: () => sweepAll(() => pool.exec(sweep)),
  };
}

/** Whether it is not known if a statement was done. */
function isLost(thrown: unknown): boolean {
  return isA(DatabaseError, thrown) && thrown.isOutcomeUnknown;
}

/** Whether the database, or a connection to it, was not there: nothing was done. */
function isAway(thrown: unknown): thrown is DatabaseError {
  return isA(DatabaseError, thrown) && thrown.refusal.code.name === "busy";
}

/** As the error of the database, and nothing is claimed. */
class UnsentClaim extends NotClaimed {
  override readonly name: string = "UnsentClaim";
  readonly refusal: Refusal;

  constructor({ message, refusal }: DatabaseError) {
    super(message);
    this.refusal = refusal;
  }
}

/**
 * A store in the handler's own transaction: the answer commits with what the handler wrote, so that a process may be killed at any
 * time, and nothing is done twice or lost. A refusal of the handler rolls its work back, and is kept; with the option `keep` of the
 * transaction its work is committed with it.
 *
 * @example
 * ```ts
 * const tx = Dep.transaction(pool);
 * const once = Idempotency.by(Dep.map(tx, IdempotencyTable.inTransaction({ table: "answers" })), { caller: accountId });
 * const place = post(path, { inputs: { tx, once, order: json(NewOrder) }, returns: Returns.json(Order) }, ({ tx, order }) =>
 *   tx.exec(insertOrder, order.item),
 * );
 * ```
 */
export function inTransaction(options: IdempotencyTableOptions): (db: Database) => IdempotencyStore {
  const statements = statementsOver(options);
  return (db) => {
    const transaction = openTransaction(db);
    if (transaction === undefined) {
      throw new TypeError("IdempotencyTable.inTransaction: its db is not that of an open transaction of a Pool");
    }
    return new TransactionStore(db, transaction, statements);
  };
}

/** The store's statements, for `Statement.verify`. */
export function statements(options: IdempotencyTableOptions): readonly Statement.Statement<never, unknown>[] {
  const { savepoint: _savepoint, undo: _undo, ...verified } = statementsOver(options);
  return Object.values(verified);
}

type Statements = ReturnType<typeof statementsOver>;

class TransactionStore implements IdempotencyStore {
  readonly isTransaction = true;
  readonly #db: Database;
  readonly #transaction: RefusalKeeper;
  readonly #statements: Statements;

  constructor(db: Database, transaction: RefusalKeeper, statements: Statements) {
    this.#db = db;
    this.#transaction = transaction;
    this.#statements = statements;
  }

  /** Two statements: the second one sees what was committed before the lock was free. */
  async claim(digest: string, given: IdempotencyClaim): Promise<IdempotencyEntry | undefined> {
    const { lock, find, savepoint } = this.#statements;
    const { takesOver } = given;
    const { locked, fixed } = await this.#db.exec(lock, BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)));
    if (!locked) return { fingerprint: undefined, answer: undefined, leaseMs: 1 };
    const row = await this.#db.exec(find, digest);
    const entry = row && entryOf(row);
    if (entry !== undefined && !(takesOver && entry.answer === undefined && entry.leaseMs <= 0)) return entry;
    await this.#db.exec(savepoint);
    if (fixed) await this.#refuseUnseen(digest, given);
    return undefined;
  }

  /**
   * A transaction with a fixed snapshot does not see an answer that was committed after its first statement, of another input or the lock
   * itself. To insert the key fails then (`not_serializable`), so that the handler does not run: the next request gets the answer.
   */
  async #refuseUnseen(digest: string, { fingerprint, token }: IdempotencyClaim): Promise<void> {
    const { insert, undo } = this.#statements;
    await this.#db.exec(insert, digest, fingerprint, token);
    await this.#db.exec(undo);
  }

  async keep(digest: string, { fingerprint, token, answer, keepMs, refused }: IdempotencyAnswer): Promise<boolean> {
    const { undo, add } = this.#statements;
    if (refused !== undefined) {
      if (!this.#transaction.commits(refused)) await this.#db.exec(undo);
      this.#transaction.keepsRefusal = true;
    }
    return (await this.#db.exec(add, digest, fingerprint, token, answer, BigInt(keepMs))) > 0;
  }

  /** It holds as long as the transaction. */
  async extend(): Promise<void> {}

  /** The transaction is rolled back. */
  async free(): Promise<void> {}
}

interface EntryRow {
  readonly fingerprint: string;
  readonly answer: string | undefined;
  readonly lease_ms: bigint;
}

function entryOf({ fingerprint, answer, lease_ms }: EntryRow): IdempotencyEntry {
  return { fingerprint, answer, leaseMs: Number(lease_ms) };
}

function statementsOver(options: IdempotencyTableOptions) {
  const name = tableOf("IdempotencyTable", options);
  const { text, int64, bool, optional } = Type;
  const inMs = (parameter: string) => `clock_timestamp() + ${parameter}::bigint * interval '1 millisecond'`;
  const isOver = `kept.kept_until <= clock_timestamp()`;
  const isLost = `kept.answer is null and kept.locked_until <= clock_timestamp()`;
  const replaced = `on conflict (digest) do update set fingerprint = excluded.fingerprint, token = excluded.token,
         answer = excluded.answer, locked_until = excluded.locked_until, kept_until = excluded.kept_until`;
  return {
    claim: Statement.count(
      `insert into ${name} as kept (digest, fingerprint, token, locked_until, kept_until)
       values ($1, $2, $3, ${inMs("$4")}, ${inMs("$5")})
       ${replaced}
       where ${isOver} or (kept.answer is null and kept.token = excluded.token) or ($6 and ${isLost})`,
      { params: [text, text, text, int64, int64, bool] },
    ),
    find: Statement.findOptional(
      `select fingerprint, answer, (extract(epoch from locked_until - clock_timestamp()) * 1000)::bigint as lease_ms
       from ${name} where digest = $1 and kept_until > clock_timestamp()`,
      { params: [text], row: { fingerprint: text, answer: optional(text), lease_ms: int64 } },
    ),
    keep: Statement.count(
      `update ${name} set answer = $3, kept_until = ${inMs("$4")} where digest = $1 and token = $2 and answer is null`,
      { params: [text, text, text, int64] },
    ),
    extend: Statement.exec(
      `update ${name} set locked_until = ${inMs("$3")}, kept_until = greatest(kept_until, ${inMs("$3")})
       where digest = $1 and token = $2 and answer is null`,
      { params: [text, text, int64] },
    ),
    free: Statement.exec(`delete from ${name} where digest = $1 and token = $2 and answer is null`, {
      params: [text, text],
    }),
    sweep: Statement.count(sweeping(name, "kept_until <= clock_timestamp()")),
    // A second request with the key is answered at once, and does not wait for the transaction of the first.
    lock: Statement.find(
      `select pg_try_advisory_xact_lock($1) as locked,
         current_setting('transaction_isolation') in ('repeatable read', 'serializable') as fixed`,
      { params: [int64], row: { locked: bool, fixed: bool } },
    ),
    insert: Statement.exec(
      `insert into ${name} (digest, fingerprint, token, locked_until, kept_until)
       values ($1, $2, $3, clock_timestamp(), clock_timestamp()) on conflict (digest) do nothing`,
      { params: [text, text, text] },
    ),
    add: Statement.count(
      `insert into ${name} as kept (digest, fingerprint, token, answer, locked_until, kept_until)
       values ($1, $2, $3, $4, clock_timestamp(), ${inMs("$5")})
       ${replaced}
       where ${isOver} or (${isLost})`,
      { params: [text, text, text, text, int64] },
    ),
    savepoint: Statement.exec("savepoint usher_idempotency"),
    undo: Statement.exec("rollback to savepoint usher_idempotency"),
  };
}
