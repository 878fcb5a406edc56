/** PostgreSQL: statements as values, a connection pool, transactions, migrations, a relay and a session store. */
import type * as conninfo from "./connection-string.ts";
import type * as pools from "./pool.ts";
import type * as statements from "../../src/database/statement.ts";
import type * as types from "../../src/database/types.ts";

export type Type<A> = types.Type<A>;
export type {
  DatabaseType,
  DatabaseFailure,
  Database,
  BatchOptions,
  Queryable,
  QueryOptions,
  QueryResult,
  QueryRow,
  QueryTypes,
  Column as QueryColumn,
  Isolation,
  TransactionOptions,
  Borrow,
} from "../../src/doors/database.ts";
export * as Type from "../../src/database/types.ts";
export type Statement<P extends readonly unknown[], A> = statements.Statement<P, A>;
export type {
  Args as StatementArgs,
  Row as StatementRow,
  Statement as StatementType,
} from "../../src/database/statement.ts";
export * as Statement from "../../src/database/statements.ts";
export { relay } from "./relay.ts";
export type { OpenRelay } from "../../src/doors/events.ts";
export { DatabaseError } from "../../src/doors/database.ts";
export type { PoolCheck, PoolStats, Reset } from "../../src/database/pool.ts";
export type Pool = pools.Pool;
export type { Pool as PoolType } from "../../src/database/pool.ts";
export * as Pool from "./pool.ts";
export type { PoolBounds, PoolOptions } from "./settings.ts";
export type Conninfo = conninfo.Conninfo;
export type { Conninfo as ConninfoType } from "./connection-string.ts";
export * as Conninfo from "./connection-string.ts";
export { migrate } from "./migrate.ts";
export type { MigrateOptions, Migrated } from "./migrate.ts";
export { MigrationError } from "./migrate.ts";
export * as SessionTable from "./session-table.ts";
export * as IdempotencyTable from "./idempotency-table.ts";
export type { IdempotencyTableOptions, IdempotencyTableStore } from "./idempotency-table.ts";
export * as ApiKeyTable from "./api-key-table.ts";
