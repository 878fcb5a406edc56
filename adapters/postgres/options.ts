import type { Reset } from "../../src/database/pool.ts";

export interface PoolOptions {
  /** How many connections there are, from the start to the end; 8 by default. */
  readonly size?: number;
  /** How long a borrow waits for one; 5000 by default. */
  readonly waitMs?: number;
  /** What the server lets a statement take; 10 000 by default, and 0 lifts the bound. */
  readonly statementTimeoutMs?: number;
  /** How long the server lets a transaction stand with nothing running in it; 30 000 by default, and 0 lifts the bound. */
  readonly idleInTransactionTimeoutMs?: number;
  /** Settings of every connection, as `search_path`: they stand before the framework's own. */
  readonly parameters?: { readonly [name: string]: string };
  /** How many statements a connection keeps prepared; 256 by default. 0 for a pooler that lends its connections by the transaction. */
  readonly statementCache?: number;
  /** How old a connection may get, give or take a tenth; 1 800 000 by default. */
  readonly maxLifetimeMs?: number;
  /** How long a connection may be idle before it is asked whether it is there; 60 000 by default. */
  readonly idleCheckMs?: number;
  /** When a connection's session is made new as it is given back: after `use` by default. */
  readonly reset?: Reset;
}
