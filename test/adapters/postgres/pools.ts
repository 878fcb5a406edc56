/** Pools of a test's own, closed when it ends. */
import { afterEach, expect } from "vitest";
import { Pool } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";

/** Waits for something of the server's, however long that takes. */
export function eventually<A>(look: () => A): ReturnType<typeof expect.poll<A>> {
  return expect.poll(look);
}

/** Makes what opens a pool on a server: of two connections, unless more are asked for. */
export function pools(server: PostgresServer): (options?: PoolOptions) => Promise<Pool> {
  const open: Pool[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
  });
  return async (options = {}) => {
    const pool = await Pool.create(server.url(), { size: 2, ...options });
    open.push(pool);
    return pool;
  };
}
