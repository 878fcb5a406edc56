import { inspect } from "node:util";
import { expect, it } from "vitest";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";

const server = await startPostgres();
const pool = pools(server);
await observer(server).unsafe(`
  create extension if not exists plpgsql;
  create type mood as enum ('fine', 'so so');
  create domain positive as int check (value > 0);
  create table item (
    id bigint generated always as identity, name varchar(10) not null, price numeric, size positive, at timestamptz,
    tags text[], mood mood, extra jsonb, data bytea, day date, code char(3), key uuid, is_new bool, rate real
  )`);

const row = {
  id: Type.int64,
  name: Type.text,
  price: Type.optional(Type.numeric),
  size: Type.int,
  at: Type.instant,
  tags: Type.array(Type.text),
  mood: Type.enum(["fine", "so so"]),
  data: Type.bytes,
  day: Type.date,
  code: Type.text,
  key: Type.uuid,
  is_new: Type.bool,
  rate: Type.float,
  extra: Type.custom({ name: "anything", parse: (text) => text, print: (text) => text }),
};

it("accepts statements that fit, and runs none of them", async () => {
  const some = await pool();
  const params = [Type.text, Type.optional(Type.int), Type.int, Type.instant, Type.array(Type.text)] as const;
  await Statement.verify(some, [
    Statement.list("select * from item", { row }),
    Statement.exec("insert into item (name, price, size, at, tags) values ($1, $2, $3, $4, $5)", { params }),
    Statement.exec("delete from item where mood = $1", { params: [Type.enum(["fine", "so so"])] }),
    Statement.count("delete from item where name = any($1)", { params: [Type.array(Type.text)] }),
    Statement.exec("insert into item (name) values ('ran')"),
  ]);
  const count = Statement.find("select count(*) as n from item", { row: { n: Type.int64 } });
  expect(await some.exec(count)).toEqual({ n: 0n });
});

it("names every statement that does not fit, and the reason", async () => {
  const some = await pool();
  const thrown = await Statement.verify(some, [
    Statement.list("select id from item", { row: { id: Type.int } }),
    Statement.list("select id from item", { row: { id: Type.int64 } }),
    Statement.list("select id, id from item", { row: { id: Type.int64 } }),
    Statement.list("select name from item", { row: { nom: Type.text } }),
    Statement.exec("delete from item where name = $1"),
    Statement.exec("delete from item where at = $1", { params: [Type.text] }),
    Statement.list("select tags from item", { row: { tags: Type.array(Type.int) } }),
    Statement.list("select mood, size from item", { row: { mood: Type.int, size: Type.date } }),
    Statement.exec("delete from items"),
    Statement.exec("delete item"),
  ]).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(DatabaseError);
  const { message } = thrown as DatabaseError;
  for (const said of [
    "\n- select id from item: column id is bigint, and not int\n",
    "select id, id from item: there are several columns id\n",
    "select name from item: there is no column nom\n",
    "delete from item where name = $1: it takes 1 parameter, and declares 0\n",
    "delete from item where at = $1: parameter $1 is timestamp with time zone, and not text\n",
    "select tags from item: column tags is text[], and not array of int\n",
    "select mood, size from item: column mood is mood, and not int, column size is integer, and not date\n",
    // Its statement is there once.
    '\n- delete from items: ERROR 42P01: relation "items" does not exist\n',
    "delete item: ERROR 42601",
    "\nA table is missing: apply the migrations to this database before",
  ])
    expect(message).toContain(said);
  expect(message.match(/select id from item:/g)).toHaveLength(1);
  // As an uncaught one is printed.
  expect(inspect(thrown).match(/select id from item:/g)).toHaveLength(1);
  expect(inspect(thrown)).toMatch(/(?:\n {4}at .*)$/);
});

it("does not report a statement when the server could not check it", async () => {
  const some = await pool({ statementTimeoutMs: 200 });
  const other = await pool({ size: 1 });
  await other.transaction(async (db) => {
    await db.exec(Statement.exec("lock table item"));
    // Its plan waits for the lock.
    const thrown = Statement.verify(some, [Statement.list("select id from item", { row: { id: Type.int64 } })]);
    await expect(thrown).rejects.toMatchObject({ failure: { kind: "db", code: "57014" } });
  });
});

it("reports that there is no database to check", async () => {
  const some = await pool();
  await some.close();
  await expect(Statement.verify(some, [Statement.exec("select 1")])).rejects.toMatchObject({
    failure: { kind: "pool_closed" },
  });
});
