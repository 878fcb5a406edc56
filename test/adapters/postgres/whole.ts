/** Pools on a way to the server that a test can cut, and whether they are whole again. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, vi } from "vitest";
import type postgres from "postgres";
import { DatabaseError, Pool, Statement, Type } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { gate } from "../../support/node-server.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { eventually } from "./pools.ts";

export const one = Statement.find("select 1 as one", { row: { one: Type.int } });
export const pid = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });

/** What a promise failed with: of the database's own failures what they say, of the others what was thrown. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  const thrown = await promise.then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
  return thrown instanceof DatabaseError ? thrown.failure : thrown;
}

/** The backends of every place, each lent while all of the others are. */
export async function allAtOnce(some: Pool): Promise<ReadonlySet<number>> {
  const { size } = some.stats();
  const all = gate();
  let here = 0;
  const uses = Array.from({ length: size }, async () => {
    try {
      return await some.use(async (db) => {
        const mine = await db.exec(pid);
        if (++here === size) all.open();
        await all.passed;
        return mine.pid;
      });
    } catch (error) {
      // The others would wait for it.
      all.open();
      throw error;
    }
  });
  await Promise.allSettled(uses);
  return new Set(await Promise.all(uses));
}

/** A pool on a way to the server that the test can cut; both end with it. */
export async function behindProxy(
  server: PostgresServer,
  options: PoolOptions,
): Promise<{ readonly proxy: CuttingProxy; readonly some: Pool }> {
  const proxy = await CuttingProxy.to(server.port);
  const some = await Pool.create(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, options);
  onTestFinished(async () => {
    proxy.letIn();
    await some.close();
    proxy.close();
  });
  return { proxy, some };
}

/** Queries to a server from outside of its pools. */
export function watching(watch: postgres.Sql): {
  readonly sessions: () => Promise<number>;
  readonly expectWhole: (some: Pool) => Promise<void>;
} {
  /** How many sessions of pools the server has. */
  const sessions = async (): Promise<number> =>
    (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length;
  return {
    sessions,
    /** Every place has a connection that answers, all of them concurrently, and the server has no other connection. */
    async expectWhole(some) {
      const { size } = some.stats();
      expect((await allAtOnce(some)).size).toBe(size);
      await eventually(sessions).toBe(size);
      expect(some.stats()).toMatchObject({ idle: size, waiting: 0 });
    },
  };
}

/** No time passes for a pool but what the test lets pass. */
export function holdTheClock(): void {
  const later = setTimeout;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  let isHeld = true;
  // The driver connects by a timer of no delay.
  const turn = (): void => {
    if (!isHeld || !vi.isFakeTimers()) return;
    vi.advanceTimersByTime(0);
    later(turn, 1);
  };
  turn();
  onTestFinished(() => {
    isHeld = false;
    vi.useRealTimers();
  });
}

/** As {@link behindProxy}, and the test holds the pool's clock. */
export async function heldPool(server: PostgresServer, options: PoolOptions): ReturnType<typeof behindProxy> {
  holdTheClock();
  return behindProxy(server, options);
}

/** What would still be called on the clock that a test holds: nothing, or how late and what. */
export function timersLeft(): readonly string[] {
  const { clock } = setTimeout as unknown as { readonly clock: HeldClock };
  return Object.values(clock.timers ?? {}).map(({ delay, func }) => `after ${delay} ms: ${func}`);
}

/** The clock of `@sinonjs/fake-timers`, which its `setTimeout` names. */
interface HeldClock {
  readonly timers?: { readonly [id: string]: { readonly delay: number; readonly func: () => void } };
}

/** Waits for something while the clock stands. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`it never came: ${isSo.toString()}`);
    await new Promise(setImmediate);
  }
}

/** The same, while this number of milliseconds passes repeatedly: the pool may begin to wait a moment later. */
export async function passing(ms: number, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    vi.advanceTimersByTime(ms);
    await delay(50);
  }
}
