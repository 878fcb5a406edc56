// What a library exports of its database: each type is inferred.
import { Dep } from "usher-http";
import {
  Conninfo,
  DatabaseError,
  IdempotencyTable,
  Pool,
  SessionTable,
  Statement,
  Type,
  migrate,
  relay,
} from "usher-http/postgres";
import * as v from "valibot";

export const types = {
  array: Type.array(Type.text),
  bool: Type.bool,
  bytes: Type.bytes,
  date: Type.date,
  float: Type.float,
  instant: Type.instant,
  int: Type.int,
  int64: Type.int64,
  json: Type.json(v.object({ a: v.string() })),
  mood: Type.enum(["fine", "so so"]),
  numeric: Type.numeric,
  optional: Type.optional(Type.int),
  uuid: Type.uuid,
};
export const tags = Type.array(Type.optional(Type.text));
export const takeStock = Statement.count("update stock set left_over = left_over - $2 where item = $1", {
  params: [Type.text, Type.int],
});
export const addOrder = Statement.find("insert into orders (item) values ($1) returning id, placed_at", {
  params: [Type.text],
  row: { id: Type.int64, placed_at: Type.instant },
});
export const findOrder = Statement.findOptional("select tags from orders where id = $1", {
  params: [Type.int64],
  row: { tags },
});
export const listOrders = Statement.list("select id, item from orders", { row: { id: Type.int64, item: Type.text } });
export const sweep = Statement.exec("delete from orders");

export const target = Conninfo.parse("postgres://localhost/orders");
export const openPool = () => Pool.create(target, { size: 1 });
export const pool = Dep.ofResource<Pool>("pool");
export const tx = Dep.transaction(pool);
export const verified = (pool: Pool) => Statement.verify(pool, [takeStock, addOrder]);
export const added = (pool: Pool) => pool.exec(addOrder, "pen");
export const listed = (pool: Pool) => pool.exec(listOrders);
export const moved = (pool: Pool) =>
  pool.transaction(async (db) => ({
    stock: await db.exec(takeStock, "pen", 1),
    order: await db.exec(addOrder, "pen"),
  }));
export const isConflict = (error: unknown) => DatabaseError.conflict(error, "orders_key");
export const table = (pool: Pool) => SessionTable.store(pool, { table: "sessions" });
export const answers = (pool: Pool) => IdempotencyTable.store(pool, { table: "answers" });
export const answersWithin = IdempotencyTable.inTransaction({ table: "answers" });
export const tableStatements = SessionTable.statements({ table: "sessions" });
export const migrated = () => migrate(target, { directory: "migrations" });
export const openRelay = () => relay(target, { channel: "orders" });
