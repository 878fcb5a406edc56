/** The port of one database connection, and the pool over it. */
export { error, warn } from "../database/acquire-queue.ts";
export type { Borrow } from "../database/connection-pool.ts";
export { ConnectionFailure } from "../database/connection.ts";
export type {
  Column,
  ConnectionError,
  ConnectionEvents,
  DatabaseConnection,
  StatementColumns,
  StatementResult,
  StatementValues,
} from "../database/connection.ts";
export { DatabaseError, failureOf } from "../database/failure.ts";
export type { DatabaseFailure } from "../database/failure.ts";
export type {
  BatchOptions,
  Database,
  QueryOptions,
  QueryResult,
  QueryRow,
  QueryTypes,
  Queryable,
} from "../database/queryable.ts";
export { openTransaction } from "../database/transaction.ts";
export type { Isolation, RefusalKeeper, TransactionOptions } from "../database/transaction.ts";
export type { DatabaseType } from "../database/type-text.ts";
export { noteProgram } from "../app/failed-start.ts";
