/** What JavaScript can get wrong in `usher-http/postgres`. No server is needed: it is found out before one is asked. */
import {
  ApiKeyTable,
  Conninfo,
  IdempotencyTable,
  Pool,
  SessionTable,
  Statement,
  Type,
  migrate,
  relay,
} from "usher-http/postgres";
import { Pool as ConnectedPool } from "../../../src/database/pool.ts";
import type { DatabaseConnection, StatementResult } from "../../../src/database/connection.ts";
import * as v from "valibot";
import { names } from "./rule.ts";
import type { Row, Tables } from "./rule.ts";

const work = async () => 1;
const none = "postgres://nobody@127.0.0.1:1/none";
const unreached = /ECONNREFUSED/;
const refused = /^the database: 1 value for 0 parameters/;
const result = Object.assign([], { columns: [], command: "SELECT", count: 0 }) as StatementResult;
const connection: DatabaseConnection = {
  isOpen: true,
  isRunning: false,
  run: async (sql) => Object.assign([], { ...result, command: sql === "commit" ? "COMMIT" : "SELECT" }),
  isPrepared: () => false,
  gather: () => {},
  script: async () => result,
  describe: async () => ({ params: [], columns: [] }),
  cancel: async () => {},
  shut: async () => {},
  cut: () => {},
};
const options = {
  size: 1,
  waitMs: 1000,
  answerMs: undefined,
  cancelMs: undefined,
  maxLifetimeMs: 60_000,
  idleCheckMs: 60_000,
};
export const pool = await ConnectedPool.over(async () => connection, options, { reset: "use", session: "", local: "" });
const statement = Statement.exec("select 1");

const types: readonly Row[] = [
  ["Type.array", (x) => Type.array(x), [Type.int]],
  ["Type.optional", (x) => Type.optional(x), [Type.int]],
  ["Type.nullable", (x) => Type.nullable(x), [Type.int]],
  ["Type.json", (x) => Type.json(x), [v.string()]],
  ["Type.enum", (x) => Type.enum(x), [["a"]]],
  ["Type.custom", (o) => Type.custom(o), [{ name: "b", parse: String, print: String }]],
  ["Type.custom", (name, parse, print) => Type.custom({ name, parse, print }), ["b", String, String]],
];

const statements: readonly Row[] = [
  ["Statement.exec", (x, o) => Statement.exec(x, o), ["select 1", {}]],
  ["Statement.count", (x, o) => Statement.count(x, o), ["select 1", {}]],
  ["Statement.find", (x, o) => Statement.find(x, o), ["select 1", { row: { a: Type.int } }]],
  ["Statement.findOptional", (x, o) => Statement.findOptional(x, o), ["select 1", { row: { a: Type.int } }]],
  ["Statement.list", (x, o) => Statement.list(x, o), ["select 1", { row: { a: Type.int } }]],
  ["Statement.list", (x) => Statement.list("select 1", { row: x }), [{ a: Type.int }]],
  ["Statement.list", (x) => Statement.list("select 1", { row: { a: x } }), [Type.int]],
  ["Statement.list", (x) => Statement.list("select 1", { row: { a: Type.int }, params: x }), [[Type.int]]],
  ["Statement.exec", (x) => Statement.exec("select 1", { params: [x] }), [Type.int]],
  ["Statement.verify", (x, list) => Statement.verify(x, list), [pool, [statement]]],
  ["Statement.verify", (x) => Statement.verify(pool, [x]), [statement]],
];

const pools: readonly Row[] = [
  ["Pool.create", (x, o) => Pool.create(x, o), [none, {}], unreached],
  ["Pool.create", (x) => Pool.create(none, { parameters: x }), [names({})], unreached],
  ...[
    "waitMs",
    "statementTimeoutMs",
    "idleInTransactionTimeoutMs",
    "statementCache",
    "maxLifetimeMs",
    "idleCheckMs",
  ].map((name): Row => ["Pool.create", (x) => Pool.create(none, { [name]: x }), [7], unreached]),
  ["Pool.create", (x) => Pool.create(none, { reset: x }), ["use"], unreached],
  ["Pool.run", (x, o, f) => Pool.run(x, o, f), [none, {}, work], /process\.exit/],
  ["Pool.exec", (x) => pool.exec(x), [statement]],
  ["Pool.query", (x, values, o) => pool.query(x, values, o), ["select 1", [], {}], refused],
  ["Pool.query", (x) => pool.query("select 1", [], { rows: x }), ["lists"]],
  ["Pool.query", (x) => pool.query("select 1", [], { types: x }), [names({})]],
  ["Pool.query", (x) => pool.query("select 1", [], { types: { int8: x } }), [Type.text]],
  ["Pool.query", (x) => pool.query("select 1", [], { signal: x }), [new AbortController().signal]],
  ["Pool.batches", (x, values, o) => pool.batches(x, values, o), ["select 1", [], {}]],
  ["Pool.batches", (x) => pool.batches("select 1", [], { size: x }), [7]],
  ["Pool.describe", (x) => pool.describe(x), ["select 1"]],
  ["Pool.use", (f, o) => pool.use(f, o), [work, {}]],
  ["Pool.transaction", (f, o) => pool.transaction(f, o), [work, {}]],
  ["Pool.transaction", (x) => pool.transaction(work, { isolation: x }), ["serializable"]],
  ["Pool.transaction", (x) => pool.transaction(work, { signal: x }), [new AbortController().signal]],
  ["Pool.transaction", (x) => pool.transaction(work, { waitMs: x }), [7]],
  ["Pool.transaction", (x) => pool.transaction(work, { retries: x }), [7]],
  ["Database.exec", (x) => pool.transaction((db) => db.exec(x)), [statement]],
  ["Database.query", (x, values, o) => pool.transaction((db) => db.query(x, values, o)), ["select 1", [], {}], refused],
  ["Pool.check", (x) => pool.check(x), ["postgres"]],
  ["Pool.measure", (o) => pool.measure(o), [{}]],
];

const table = { table: "sessions" };
const others: readonly Row[] = [
  ["Conninfo.parse", (x) => Conninfo.parse(x), [none]],
  ["Conninfo.withConnectTimeout", (x, ms) => Conninfo.withConnectTimeout(x, ms), [Conninfo.parse(none), 7]],
  ["Conninfo.withPassword", (x, password) => Conninfo.withPassword(x, password), [Conninfo.parse(none), "p"]],
  ["migrate", (x, o) => migrate(x, o), [none, { directory: import.meta.dirname }], unreached],
  ["migrate", (x) => migrate(none, { directory: x }), [import.meta.dirname], /ECONNREFUSED|^the folder of migrations/],
  ["migrate", (x) => migrate(none, { directory: import.meta.dirname, waitMs: x }), [7], unreached],
  ["relay", (x, o) => relay(x, o), [none, { channel: "b" }], unreached],
  ["relay", (x) => relay(none, { channel: x }), ["b"], unreached],
  ["ApiKeyTable.schema", (o) => ApiKeyTable.schema(o), [table]],
  ["ApiKeyTable.statements", (o) => ApiKeyTable.statements(o), [table]],
  ["ApiKeyTable.store", (x, o) => ApiKeyTable.store(x, o), [pool, table]],
  ["SessionTable.schema", (o) => SessionTable.schema(o), [table]],
  ["SessionTable.statements", (o) => SessionTable.statements(o), [table]],
  ["SessionTable.store", (x, o) => SessionTable.store(x, o), [pool, table]],
  ["IdempotencyTable.schema", (o) => IdempotencyTable.schema(o), [table]],
  ["IdempotencyTable.statements", (o) => IdempotencyTable.statements(o), [table]],
  ["IdempotencyTable.store", (x, o) => IdempotencyTable.store(x, o), [pool, table]],
  ["IdempotencyTable.inTransaction", (o) => IdempotencyTable.inTransaction(o), [table]],
];

export const databaseTables: Tables = {
  "usher-http/postgres": [...types, ...statements, ...pools, ...others],
};
