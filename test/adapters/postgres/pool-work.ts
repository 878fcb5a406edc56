/** The callers of a pool: the use of a connection, and its result. */
import { Refusal, refuse } from "usher-http";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { Database, Pool } from "usher-http/postgres";
import { gate } from "../../support/node-server.ts";
import type { Step, Transaction } from "./pool-acts.ts";

/** Rows of one id, all of them or none. */
interface Told {
  readonly id: number;
  readonly by: string;
  rows: number;
  what: "kept" | "nothing" | "unknown";
}

export interface Caller {
  readonly leaving: AbortController;
  readonly isOver: Promise<void>;
  readonly release: () => void;
  readonly abort: () => void;
}

const write = Statement.exec("insert into model (id, part) select $1, part from generate_series(1, $2) part", {
  params: [Type.int, Type.int],
});
const fails = {
  prepare: Statement.exec("select * from nowhere"),
  run: Statement.exec("insert into model (id, part) values (0, 1 / (random() * 0)::int)"),
};
const sleep = Statement.exec("select pg_sleep(0.003)");
const conflict = Statement.exec("do $$ begin raise exception 'again' using errcode = '40001'; end $$");
const late = Statement.exec("insert into late values (1), (1)");
const refused = refuse(Refusal.code("refused", { status: 409, doc: "It is refused." }));

class Bug extends Error {}

/** Results that a caller may get at any time, and those only after a connection was in trouble. */
const always = new Set(["pool_busy", "pool_closed"]);
const inTrouble = new Set(["unsent", "lost", "connection_closed", "not_committed"]);

export class PoolWork {
  readonly #pool: Pool;
  readonly callers: Caller[] = [];
  readonly told: Told[] = [];
  /** Results that no caller may get. */
  readonly wrong: string[] = [];
  /** Whether anything happened to a connection yet. */
  isTroubled = false;
  #lastId = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  some(which: number): Caller | undefined {
    return this.callers[which % Math.max(1, this.callers.length)];
  }

  exec(failing: "prepare" | "run" | undefined): void {
    if (failing !== undefined)
      return this.#calls("exec", async () => this.#expected(this.#pool.exec(fails[failing]), ["db"]));
    this.#calls("exec", () => this.#writes("exec", this.#pool, 2));
  }

  use(steps: readonly Step[]): void {
    this.#calls("use", async (caller, held) => {
      const { signal } = caller.leaving;
      await this.#expected(
        this.#pool.use(
          async (db) => {
            for (const { step } of steps) {
              if (step === "write") await this.#writes("use", db, 2, signal);
              else if (step === "hold") await held;
              else await this.#expected(db.exec(sleep), [], signal);
            }
          },
          { signal },
        ),
        [],
        signal,
      );
    });
  }

  transaction({ steps, end, retries }: Transaction): void {
    this.#calls("transaction", (caller, held) => this.#transacts(steps, end, retries, caller.leaving.signal, held));
  }

  async #transacts(
    steps: readonly Step[],
    end: Transaction["end"],
    retries: number,
    signal: AbortSignal,
    held: Promise<void>,
  ): Promise<void> {
    const told = this.#tells("transaction");
    let run = 0;
    let isEnding = false;
    let mayFail = false;
    const does: { readonly [K in Exclude<Step["step"], "fail">]: (db: Database) => unknown } = {
      write: async (db) => {
        await db.exec(write, told.id, 1);
        told.rows++;
      },
      unawaited: (db) => {
        told.rows++;
        // The transaction's end waits for it.
        db.exec(write, told.id, 1).catch(() => {});
      },
      hold: () => held,
      sleep: (db) => db.exec(sleep),
      savepoint: async (db) => {
        await db.exec(Statement.exec("savepoint before"));
        await db.exec(fails.run).catch(() => {});
        await db.exec(Statement.exec("rollback to savepoint before"));
      },
      nested: () => this.#writesApart(signal),
      conflict: (db) => {
        mayFail = true;
        return run === 1 ? db.exec(conflict) : undefined;
      },
      late: (db) => {
        mayFail = true;
        return db.exec(late);
      },
    };
    const work = async (db: Database): Promise<Refusal<"refused"> | undefined> => {
      run++;
      told.rows = 0;
      isEnding = false;
      for (const step of steps) {
        if (step.step !== "fail") {
          await does[step.step](db);
          continue;
        }
        mayFail = true;
        const failed = db.exec(fails[step.at]);
        await (step.isCaught ? failed.catch(() => {}) : failed);
      }
      if (end === "throw") throw new Bug();
      isEnding = true;
      return end === "commit" ? undefined : refused;
    };
    try {
      await this.#pool.transaction(work, { signal, retries, keep: () => end === "keep" });
      told.what = end === "commit" ? "kept" : end === "refuse" ? "nothing" : "unknown";
    } catch (thrown) {
      told.what = isEnding && kindOf(thrown) === "lost" ? "unknown" : "nothing";
      if (thrown instanceof Bug && end === "throw") return;
      this.#judge(thrown, mayFail ? ["db", "conflict", "not_serializable", "not_committed"] : [], signal);
    }
  }

  /** Another transaction of the pool's, in which nothing is the other's. */
  async #writesApart(signal: AbortSignal): Promise<void> {
    const told = this.#tells("nested");
    told.rows = 2;
    let isEnding = false;
    try {
      await this.#pool.transaction(
        async (db) => {
          await db.exec(write, told.id, 2);
          isEnding = true;
        },
        { signal },
      );
      told.what = "kept";
    } catch (thrown) {
      told.what = isEnding && kindOf(thrown) === "lost" ? "unknown" : "nothing";
      this.#judge(thrown, [], signal);
    }
  }

  async #writes(by: string, db: Database, rows: number, signal?: AbortSignal): Promise<void> {
    const told = this.#tells(by);
    told.rows = rows;
    try {
      await db.exec(write, told.id, rows);
      told.what = "kept";
    } catch (thrown) {
      told.what = kindOf(thrown) === "lost" ? "unknown" : "nothing";
      this.#judge(thrown, [], signal);
    }
  }

  #tells(by: string): Told {
    const told: Told = { id: ++this.#lastId, by, rows: 0, what: "unknown" };
    this.told.push(told);
    return told;
  }

  async #expected(promise: Promise<unknown>, kinds: readonly string[], signal?: AbortSignal): Promise<void> {
    await promise.catch((thrown: unknown) => this.#judge(thrown, kinds, signal));
  }

  #judge(thrown: unknown, kinds: readonly string[], signal?: AbortSignal): void {
    const kind = kindOf(thrown);
    const isLeft = signal?.aborted === true;
    const isFit = kinds.includes(kind) || always.has(kind) || ((this.isTroubled || isLeft) && inTrouble.has(kind));
    // A statement is cancelled for the caller that abandoned it, and for no other.
    const isCancelled =
      thrown instanceof DatabaseError && thrown.failure.kind === "db" && thrown.failure.code === "57014";
    if (isCancelled ? !isLeft : !isFit) this.wrong.push(thrown instanceof Error ? `${kind}: ${thrown.message}` : kind);
  }

  #calls(by: string, work: (caller: Caller, held: Promise<void>) => Promise<void>): void {
    const leaving = new AbortController();
    const held = gate();
    const caller: { -readonly [K in keyof Caller]: Caller[K] } = {
      leaving,
      isOver: Promise.resolve(),
      release: () => held.open(),
      abort: () => leaving.abort(),
    };
    this.callers.push(caller);
    caller.isOver = work(caller, held.passed).catch((thrown: unknown) => {
      this.wrong.push(`${by} raised ${String(thrown)}`);
    });
  }
}

function kindOf(thrown: unknown): string {
  return thrown instanceof DatabaseError ? thrown.failure.kind : "no failure of the database";
}
