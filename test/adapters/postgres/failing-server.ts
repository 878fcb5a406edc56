/** A server whose statements fail in every way, and what tells the failures. */
import { expect } from "vitest";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { eventually, pools } from "./pools.ts";

const tables = `
  create table stock (item text primary key, left_over int not null check (left_over >= 0));
  create table place (id int, constraint place_id unique (id) deferrable initially deferred);
  create table slow (id int);
  create function sleep_at_commit() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
  create constraint trigger slow_commit after insert on slow deferrable initially deferred
    for each row execute function sleep_at_commit();
  create table contested (id int);
  create function conflict_at_commit() returns trigger language plpgsql as
    $$ begin raise exception 'again' using errcode = '40001'; end $$;
  create constraint trigger conflict_late after insert on contested deferrable initially deferred
    for each row execute function conflict_at_commit();
  create table shelf (item text references stock, span int4range, exclude using gist (span with &&));
`;

export const one = Statement.find("select 1 as one", { row: { one: Type.int } });
export const pid = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });
export const endSelf = Statement.exec("select pg_terminate_backend(pg_backend_pid())");
export const sleep = Statement.exec("select pg_sleep($1)", { params: [Type.float] });
export const addPlace = Statement.exec("insert into place values ($1)", { params: [Type.int] });
export const countPlaces = Statement.find("select count(*) as places from place where id = $1", {
  params: [Type.int],
  row: { places: Type.int64 },
});

export async function failure(promise: Promise<unknown>): Promise<unknown> {
  const thrown = await promise.then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
  return thrown instanceof DatabaseError ? thrown.failure : thrown;
}

/** A server of the test file's own, with tables that refuse what is written to them. */
export async function failingServer() {
  const server = await startPostgres();
  const watch = observer(server);
  await watch.unsafe(tables);

  async function sessions(): Promise<unknown> {
    const rows = await watch`select count(*)::int as n from pg_stat_activity where application_name = 'usher'`;
    return rows[0]?.["n"];
  }

  return {
    server,
    watch,
    pool: pools(server),
    sessions,

    /** Waits until a backend waits for something of a kind, as the server says. */
    async waits(condition: string): Promise<number> {
      let found = 0;
      await eventually(async () => {
        const rows = await watch.unsafe(`select pid from pg_stat_activity where ${condition}`);
        found = (rows[0]?.["pid"] as number | undefined) ?? 0;
        return found > 0;
      }).toBe(true);
      return found;
    },

    /** Every place of the pool has a connection that answers, and the server has no other connection. */
    async expectWhole(pool: Pool): Promise<void> {
      const { size } = pool.stats();
      const all = Array.from({ length: size }, () => pool.use((db) => db.exec(one)));
      expect(await Promise.all(all)).toHaveLength(size);
      await eventually(sessions).toBe(size);
      expect(pool.stats()).toMatchObject({ idle: size, waiting: 0 });
    },
  };
}
