/** A pool under random events, the results of its callers, and the rules that hold when all of that is over. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { setTimeout as later } from "node:timers/promises";
import type postgres from "postgres";
import { vi } from "vitest";
import { DatabaseError, Pool, Statement, Type } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { Metrics, Test } from "usher-http";
import { CuttingProxy } from "./cutting-proxy.ts";
import type { Act, Network } from "./pool-acts.ts";
import { PoolWork } from "./pool-work.ts";
import { allAtOnce, one, timersLeft } from "./whole.ts";

/** Past it a bound of the pool's may have ended what was on its way. */
const boundMs = 5000;

const rows = Statement.list("select id, count(*) as rows from model group by id", {
  row: { id: Type.int, rows: Type.int64 },
});

let models = 0;

interface Made {
  readonly proxy: CuttingProxy;
  readonly pool: Pool;
  readonly name: string;
  readonly timers: readonly string[];
}

export class PoolModel {
  readonly #server: PostgresServer;
  readonly #watch: postgres.Sql;
  readonly #proxy: CuttingProxy;
  readonly #pool: Pool;
  readonly #work: PoolWork;
  readonly #name: string;
  /** How many there were before it. */
  readonly #timers: readonly string[];
  #passedMs = 0;
  #closing: Promise<void> | undefined = undefined;

  private constructor(server: PostgresServer, watch: postgres.Sql, made: Made) {
    this.#server = server;
    this.#watch = watch;
    this.#proxy = made.proxy;
    this.#pool = made.pool;
    this.#name = made.name;
    this.#timers = made.timers;
    this.#work = new PoolWork(made.pool);
    made.pool.measure({ name: "model" });
  }

  /** The pool's clock is held while this is called, and for as long as it is used. */
  static async open(server: PostgresServer, watch: postgres.Sql, options: PoolOptions): Promise<PoolModel> {
    const name = `model ${++models}`;
    const timers = timersLeft();
    const proxy = await CuttingProxy.to(server.port);
    const parameters = { application_name: name };
    const pool = await Pool.create(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, { ...options, parameters });
    return new PoolModel(server, watch, { proxy, pool, name, timers });
  }

  async act({ act, turns }: { readonly act: Act; readonly turns: number }): Promise<void> {
    await this.#do(act);
    for (let i = 0; i < turns; i++) await new Promise(setImmediate);
  }

  async #do(act: Act): Promise<void> {
    const work = this.#work;
    const proxy = this.#proxy;
    switch (act.do) {
      case "exec":
        return work.exec(act.fails);
      case "use":
        return work.use(act.steps);
      case "transaction":
        return work.transaction(act);
      case "release":
        return work.some(act.which)?.release();
      case "abort":
        return work.some(act.which)?.abort();
      case "pass":
        vi.advanceTimersByTime(act.ms);
        return this.#troubled((this.#passedMs += act.ms) > boundMs);
      case "close":
        // Who has a connection by then is let finish.
        this.#closing ??= this.#pool.close();
        return;
      case "kill":
        this.#troubled(true);
        await this.#watch.unsafe(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1
           order by backend_start offset $2 limit $3`,
          act.all ? [this.#name, 0, 9] : [this.#name, act.which % 3, 1],
        );
        return;
      case "restart":
        this.#troubled(true);
        await this.#server.stop(act.ending);
        for (let i = 0; i < 20; i++) await later(1);
        return this.#server.start();
      default:
        this.#troubled(act.do !== "speak" && act.do !== "hold" && act.do !== "letIn");
        return network[act.do](proxy);
    }
  }

  /** From now on a caller may get the error of a lost connection. */
  #troubled(isSo: boolean): void {
    this.#work.isTroubled ||= isSo;
  }

  /** Everything comes to its end, and everything is back. */
  async ends(): Promise<void> {
    try {
      await this.#ends();
    } finally {
      // Where it failed, it is nothing that the next one has to do with.
      this.#proxy.close();
      this.#pool.close().catch(() => {});
    }
  }

  async #ends(): Promise<void> {
    const { callers, told } = this.#work;
    this.#proxy.letIn();
    this.#proxy.speak();
    for (const caller of callers) caller.release();
    await this.#come(Promise.all(callers.map(({ isOver }) => isOver)), "an answer for every caller");
    if (this.#closing === undefined) await this.#isWhole();
    this.#closing ??= this.#pool.close();
    await this.#come(this.#closing, "the pool's end");
    assert.deepEqual(timersLeft().slice(this.#timers.length), [], "no timer is left");
    assert.deepEqual([this.#pool.stats().idle, this.#pool.stats().waiting], [0, 0]);
    assert.deepEqual(
      callers.flatMap(({ leaving }) => getEventListeners(leaving.signal, "abort")),
      [],
    );
    await this.#eventually("no session is left", async () => (await this.#sessions()) === 0);
    await this.#eventually("no connection is left", () => this.#proxy.connections === 0);
    assert.deepEqual(this.#work.wrong, []);
    await this.#isTrue(told);
  }

  /** Every place has a connection that answers, all concurrently; no caller waits, and the metrics show that. */
  async #isWhole(): Promise<void> {
    const { size } = this.#pool.stats();
    let pids: ReadonlySet<number> = new Set();
    const why: string[] = [];
    // A connection that died silently is found by the next caller that gets it.
    for (let i = 0; i < 40 && pids.size < size; i++) {
      if (i > 0) await later(i);
      vi.advanceTimersByTime(i * 100);
      pids = await this.#come(
        allAtOnce(this.#pool).catch((error: unknown) => {
          if (!(error instanceof DatabaseError)) throw error;
          why.push(error.message);
          return new Set<number>();
        }),
        "the use of all places",
      );
    }
    assert.equal(pids.size, size, why.at(-1) ?? "");
    // The pool may ask one of them whether it is there, which takes no time of its own.
    await this.#eventually("every place is idle", () => this.#pool.stats().idle === size);
    assert.equal(this.#pool.stats().waiting, 0);
    const page = (await Test.call(metrics, "GET", "/metrics")).body;
    const figures = page.split("\n").filter((line) => line.includes('pool_name="model"'));
    assert.deepEqual(
      figures.map((line) => /^db_client_connection_(\w+)\{.*?(?:state="(\w+)"|)\} (\d+)$/.exec(line)?.slice(1)),
      [
        ["count", "idle", `${size}`],
        ["count", "used", "0"],
        ["pending_requests", undefined, "0"],
      ],
    );
    const answered = await this.#come(this.#pool.exec(one), "an answer for who comes later");
    assert.equal(answered.one, 1);
  }

  /** What was kept is in the table, and what was not is not. */
  async #isTrue(told: PoolWork["told"]): Promise<void> {
    const found = await Pool.run(this.#server.url(), { size: 1 }, (pool) => pool.exec(rows));
    const there = new Map(found.map(({ id, rows }) => [id, Number(rows)]));
    const untrue = told.filter(({ id, rows, what }) => {
      const count = there.get(id) ?? 0;
      return what === "kept" ? count !== rows : what === "nothing" ? count !== 0 : count !== 0 && count !== rows;
    });
    assert.deepEqual(
      untrue.map((one) => ({ ...one, there: there.get(one.id) ?? 0 })),
      [],
    );
  }

  async #sessions(): Promise<number> {
    const sql = "select 1 from pg_stat_activity where application_name = $1";
    return (await this.#watch.unsafe(sql, [this.#name])).length;
  }

  /** Lets time pass for the pool until it comes: all of its waits are bounded, so what does not come then never does. */
  async #come<A>(promise: Promise<A>, what: string): Promise<A> {
    let isOver = false;
    const settled = promise.finally(() => (isOver = true));
    settled.catch(() => {});
    // Real time passes as well, for the server, and more of it the longer it takes.
    for (let step = 0; !isOver; step++) {
      if (step === 400) throw new Error(`it never came: ${what}`);
      await later(Math.min(1 + step / 4, 100));
      if (step > 5) vi.advanceTimersByTime(1000);
    }
    return settled;
  }

  async #eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let step = 0; !(await isSo()); step++) {
      if (step === 400) throw new Error(`it never was: ${what}`);
      await later(Math.min(1 + step, 100));
    }
  }
}

const metrics = Test.app(Metrics.routes());

const network: { readonly [K in Network]: (proxy: CuttingProxy) => void } = {
  cut: (proxy) => void proxy.cut(),
  cutAll: (proxy) => proxy.cutAll(),
  hush: (proxy) => void proxy.hush(),
  speak: (proxy) => proxy.speak(),
  hold: (proxy) => proxy.hold(),
  letIn: (proxy) => proxy.letIn(),
  turnAway: (proxy) => proxy.turnAway(),
  refuse: (proxy) => proxy.refuse("begin"),
};
