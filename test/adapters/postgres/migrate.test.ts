import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { MigrationError, migrate } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";

const server = await startPostgres();
const outside = observer(server);
const opened: string[] = [];
let made = 0;

afterEach(() => {
  for (const directory of opened.splice(0)) rmSync(directory, { recursive: true });
});

/** A folder of files, by name. */
function folder(files: { readonly [name: string]: string }): string {
  const directory = mkdtempSync(join(tmpdir(), "usher-migrations-"));
  opened.push(directory);
  write(directory, files);
  return directory;
}

function write(directory: string, files: { readonly [name: string]: string }): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

/** An empty database, and what reads from it. */
async function database() {
  const name = `migrated_${++made}`;
  await outside.unsafe(`create database ${name} strategy file_copy`);
  const url = server.url(name);
  return { url, sql: observer(server, name) };
}

const orders = "create table orders (id int primary key);\ninsert into orders values (1);";
const stock = "create table stock (item text primary key);";

describe("migrate: files", () => {
  it("applies each file once, in the order of their numbers", async () => {
    const { url, sql } = await database();
    const directory = folder({ "10_stock.sql": stock, "2_orders.sql": orders, "notes.md": "no migration" });
    expect(await migrate(url, { directory })).toEqual({ applied: ["2_orders.sql", "10_stock.sql"] });
    expect(await migrate(url, { directory })).toEqual({ applied: [] });
    write(directory, { "11_more.sql": "insert into stock values ('pen')" });
    expect(await migrate(url, { directory })).toEqual({ applied: ["11_more.sql"] });
    expect(await sql`select item from stock`).toEqual([{ item: "pen" }]);
    expect(await sql`select name from usher_migrations order by number`).toEqual([
      { name: "2_orders.sql" },
      { name: "10_stock.sql" },
      { name: "11_more.sql" },
    ]);
  });

  it("treats a file as unchanged whatever its line ends are", async () => {
    const { url } = await database();
    const directory = folder({ "1_orders.sql": orders });
    await migrate(url, { directory });
    write(directory, { "1_orders.sql": `\ufeff${orders.replaceAll("\n", "\r\n")}` });
    expect(await migrate(url, { directory })).toEqual({ applied: [] });
  });

  it("rolls back a file that fails, names it, and keeps those before it", async () => {
    const { url, sql } = await database();
    const directory = folder({ "1_orders.sql": orders, "2_bad.sql": `${stock}\n\ncreate tabel more ();` });
    await expect(migrate(url, { directory })).rejects.toThrow(
      '2_bad.sql:3: ERROR 42601: syntax error at or near "tabel". Nothing was kept.',
    );
    expect(await sql`select to_regclass('stock') as stock`).toEqual([{ stock: null }]);
    write(directory, { "2_bad.sql": stock });
    expect(await migrate(url, { directory })).toEqual({ applied: ["2_bad.sql"] });
  });

  it("reports the line after characters of two UTF-16 units", async () => {
    const { url } = await database();
    const directory = folder({ "1_bad.sql": `-- ${"\u{1f680}".repeat(9)}\n\n\nselekt` });
    await expect(migrate(url, { directory })).rejects.toThrow("1_bad.sql:4: ERROR 42601");
  });

  it("rolls back a file with COPY, for which a client would have to send data", async () => {
    const { url, sql } = await database();
    const directory = folder({ "1_copied.sql": "create table copied (id int);\ncopy copied from stdin;\n1\n\\.\n" });
    await expect(migrate(url, { directory })).rejects.toThrow(/^1_copied.sql.*Nothing was kept\.$/);
    const other = folder({ "1_copied.sql": "create table copied (id int);\ncopy copied from stdin;" });
    await expect(migrate(url, { directory: other })).rejects.toThrow(/^1_copied.sql: ERROR 0A000: COPY .*was kept\.$/);
    expect(await sql`select to_regclass('copied') as copied`).toEqual([{ copied: null }]);
    expect(await migrate(url, { directory: folder({ "1_copied.sql": "create table copied (id int)" }) })).toEqual({
      applied: ["1_copied.sql"],
    });
  });

  it("rolls back a file that a deferred constraint refuses at its commit", async () => {
    const { url, sql } = await database();
    const late = "create table late (id int unique deferrable initially deferred); insert into late values (1), (1);";
    const directory = folder({ "1_late.sql": late });
    await expect(migrate(url, { directory })).rejects.toThrow(/^1_late.sql: ERROR 23505: .*\. Nothing was kept\.$/);
    expect(await sql`select to_regclass('late') as late`).toEqual([{ late: null }]);
  });

  it("runs a file outside of a transaction if the file says so", async () => {
    const { url, sql } = await database();
    const index = "-- migrate: no transaction\ncreate index concurrently on orders (id)";
    const directory = folder({ "1_orders.sql": orders, "2_index.sql": index });
    await migrate(url, { directory });
    expect(await sql`select count(*)::int as indexes from pg_indexes where tablename = 'orders'`).toEqual([
      { indexes: 2 },
    ]);
  });
});

describe("migrate: sessions and processes", () => {
  it("does not pass settings of one file on to the next", async () => {
    const { url, sql } = await database();
    const elsewhere = "create schema elsewhere; set search_path to elsewhere; create table hidden ();";
    await migrate(url, { directory: folder({ "1_elsewhere.sql": elsewhere, "2_stock.sql": stock }) });
    expect(await sql`select to_regclass('public.stock')::text as stock`).toEqual([{ stock: "stock" }]);
  });

  it("records a file that works as another role, which may not write the record", async () => {
    const { url, sql } = await database();
    await outside.unsafe("create role owner; create role app login in role owner");
    await sql`grant create on schema public to owner, app`;
    const files = {
      "1_a.sql": "set role owner; create table a ()",
      "2_b.sql": "set local role owner; create table b ()",
      "3_c.sql": "create table c ()",
    };
    await migrate(url.replace("postgres@", "app@"), { directory: folder(files) });
    expect(
      await sql`select tableowner as owner from pg_tables where tablename in ('a', 'b', 'c') order by tablename`,
    ).toEqual([{ owner: "owner" }, { owner: "owner" }, { owner: "app" }]);
  });

  it("does nothing without a file", async () => {
    const { url } = await database();
    expect(await migrate(url, { directory: folder({}) })).toEqual({ applied: [] });
  });

  it("applies each file once when several processes start", async () => {
    const { url, sql } = await database();
    const slow = "select pg_sleep(0.2); create table slow (); -- once";
    const directory = folder({ "1_orders.sql": orders, "2_slow.sql": slow });
    const all = await Promise.all(Array.from({ length: 3 }, () => migrate(url, { directory })));
    expect(all.flatMap(({ applied }) => applied).toSorted()).toEqual(["1_orders.sql", "2_slow.sql"]);
    expect(await sql`select count(*)::int as rows from orders`).toEqual([{ rows: 1 }]);
  });

  it("waits for another process no longer than its option", async () => {
    const { url, sql } = await database();
    const directory = folder({ "1_orders.sql": orders });
    await sql`select pg_advisory_lock(hashtextextended('usher_migrations', 0))`;
    await expect(migrate(url, { directory, waitMs: 50 })).rejects.toThrow(
      "another process is migrating this database and did not finish within 50 ms",
    );
    await expect(migrate(url, { directory, waitMs: Number.NaN })).rejects.toThrow("migrate: waitMs");
    await sql`select pg_advisory_unlock_all()`;
    expect(await migrate(url, { directory, waitMs: 50 })).toEqual({ applied: ["1_orders.sql"] });
  });

  it("leaves no connection open, after success and after failure", async () => {
    const { url } = await database();
    const name = new URL(url).pathname.slice(1);
    await migrate(url, { directory: folder({ "1_orders.sql": orders }) });
    await expect(migrate(url, { directory: folder({ "1_orders.sql": "another" }) })).rejects.toThrow(MigrationError);
    const failing = folder({ "1_orders.sql": orders, "2_bad.sql": "selekt" });
    await expect(migrate(url, { directory: failing })).rejects.toThrow("2_bad.sql:1: ERROR 42601");
    // For the whole database, under any name: no other client has a connection to it.
    const open = () =>
      outside<{ n: number }[]>`select count(*)::int as n from pg_stat_activity where datname = ${name}`;
    await expect.poll(async () => (await open())[0]?.n).toBe(0);
  });
});

describe("migrate: settings of the database", () => {
  it("finds nothing to apply also by a role that may not create a table", async () => {
    const { url, sql } = await database();
    const directory = folder({ "1_orders.sql": orders });
    await migrate(url, { directory });
    await outside.unsafe("create role reader login");
    await sql`grant select on usher_migrations to reader`;
    const target = url.replace("postgres@", "reader@");
    expect(await migrate(target, { directory })).toEqual({ applied: [] });
    expect(await migrate(`${target}?options=-c%20default_transaction_read_only%3Don`, { directory })).toEqual({
      applied: [],
    });
  });

  it("has no limit of time, whatever the database's are", async () => {
    const { url, sql } = await database();
    const name = new URL(url).pathname.slice(1);
    for (const limit of ["statement_timeout", "transaction_timeout"])
      await sql.unsafe(`alter database ${name} set ${limit} = 300`);
    const slow = "select pg_sleep(0.35)";
    const directory = folder({ "1_a.sql": slow, "2_b.sql": `-- migrate: no transaction\n${slow}` });
    expect(await migrate(url, { directory })).toEqual({ applied: ["1_a.sql", "2_b.sql"] });
  });

  it("finds its record in a schema that a file has put before the first one", async () => {
    const { url, sql } = await database();
    const target = `${url}?options=-c%20search_path%3Dapp,shop,public`;
    const directory = folder({ "1_orders.sql": orders, "2_shop.sql": "create schema shop", "3_stock.sql": stock });
    const applied = ["1_orders.sql", "2_shop.sql", "3_stock.sql"];
    expect(await migrate(target, { directory })).toEqual({ applied });
    expect(await migrate(target, { directory })).toEqual({ applied: [] });
    write(directory, { "4_app.sql": "-- migrate: no transaction\ncreate schema app" });
    expect(await migrate(target, { directory })).toEqual({ applied: ["4_app.sql"] });
    expect(await migrate(target, { directory })).toEqual({ applied: [] });
    expect(await sql`select name from app.usher_migrations order by number`).toHaveLength(4);
    expect(await sql`select schemaname as schema from pg_tables where tablename = 'usher_migrations'`).toEqual([
      { schema: "app" },
    ]);
  });
});

describe("migrations that are refused, with nothing applied", () => {
  const applied = { "1_orders.sql": orders, "3_stock.sql": stock };
  it.each([
    {
      what: "a file that was changed since",
      files: { "1_orders.sql": `${orders} -- more`, "3_stock.sql": stock },
      says:
        "1_orders.sql was applied and has changed since: restore its old text, and put the changes in a new file, " +
        "or use a database that no other program migrates",
    },
    {
      what: "a file that is gone",
      files: { "1_orders.sql": orders },
      says: "3_stock.sql was applied, but is not in the folder",
    },
    {
      what: "a file that was given another name",
      files: { "1_orders.sql": orders, "3_items.sql": stock },
      says: "3_stock.sql was applied, but is not in the folder",
    },
    {
      what: "a file that comes late",
      files: { ...applied, "2_late.sql": "create table late ()" },
      says: "2_late.sql comes before 3_stock.sql, which was applied: give it a higher number",
    },
    {
      what: "two files of one number",
      files: { ...applied, "4_a.sql": "select 1", "04_b.sql": "select 1" },
      says: "04_b.sql and 4_a.sql have the same number",
    },
    {
      what: "a file without a number",
      files: { ...applied, "more.sql": "select 1" },
      says: "more.sql has no number: name it like 0001_orders.sql",
    },
    {
      what: "a file that is no UTF-8",
      files: { ...applied, "4_latin.sql": Buffer.from([0x73, 0xe9]) as unknown as string },
      says: "4_latin.sql is not UTF-8",
    },
  ])("$what", async ({ files, says }) => {
    const { url, sql } = await database();
    await migrate(url, { directory: folder(applied) });
    const failed = migrate(url, { directory: folder({ "9_never.sql": "create table never ()", ...files }) });
    await expect(failed).rejects.toThrow(MigrationError);
    await expect(failed).rejects.toThrow(says);
    expect(await sql`select to_regclass('never') as never`).toEqual([{ never: null }]);
  });

  it("a folder that does not exist", async () => {
    const { url } = await database();
    await expect(migrate(url, { directory: "/no/such/folder" })).rejects.toThrow(
      "the folder of migrations could not be read: ENOENT",
    );
  });

  it("a file that ends its transaction itself", async () => {
    const { url, sql } = await database();
    const directory = folder({ "1_orders.sql": `${orders} commit; begin;` });
    await expect(migrate(url, { directory })).rejects.toThrow(
      "1_orders.sql ended its transaction itself, so its changes were kept but not recorded",
    );
    expect(await sql`select count(*)::int as n from usher_migrations`).toEqual([{ n: 0 }]);
  });

  it("a database that does not exist", async () => {
    const directory = folder({ "1_orders.sql": orders });
    await expect(migrate(server.url("nowhere"), { directory })).rejects.toMatchObject({ failure: { kind: "unsent" } });
  });
});

describe("migrate: reports what it cannot do", () => {
  it("an index that could not be made, and is no index after a second run either", async () => {
    const { url, sql } = await database();
    const twice = "create table twice (id int); insert into twice values (1), (1);";
    const index = "-- migrate: no transaction\ncreate unique index concurrently if not exists Twice_id on twice (id)";
    const directory = folder({ "1_twice.sql": twice, "2_index.sql": index });
    await expect(migrate(url, { directory })).rejects.toThrow("2_index.sql: ERROR 23505");
    await sql`delete from twice`;
    await expect(migrate(url, { directory })).rejects.toThrow(
      "2_index.sql: the index twice_id is invalid, as it could not be made before: drop it first",
    );
    await sql`drop index twice_id`;
    expect(await migrate(url, { directory })).toEqual({ applied: ["2_index.sql"] });
  });
  it("a file that ends its transaction itself, and fails after it", async () => {
    const { url, sql } = await database();
    const directory = folder({ "1_orders.sql": `${orders} commit; begin; create table other (id int); select 1/0;` });
    await expect(migrate(url, { directory })).rejects.toThrow(
      /^1_orders.sql: ERROR 22012: .*\. It ended its transaction itself, so a part of it was kept\.$/,
    );
    expect(await sql`select to_regclass('orders') is null as orders, to_regclass('other') is null as other`).toEqual([
      { orders: false, other: true },
    ]);
  });

  it("a folder that is named like a migration", async () => {
    const { url } = await database();
    const directory = folder({});
    mkdirSync(join(directory, "1_orders.sql"));
    const failed = migrate(url, { directory });
    await expect(failed).rejects.toThrow(MigrationError);
    await expect(failed).rejects.toThrow("1_orders.sql could not be read: EISDIR");
  });

  it("a search_path without a schema, so that migrations cannot be recorded", async () => {
    const { url } = await database();
    const target = `${url}?options=-c%20search_path%3Dapp`;
    const failed = migrate(target, { directory: folder({ "1_app.sql": "create schema app" }) });
    await expect(failed).rejects.toThrow(MigrationError);
    await expect(failed).rejects.toThrow("no schema of the search_path exists: create one before the first migration");
  });
});
