/** Requests whose client disconnects while they wait for the database: no error, and the pool is whole. */
import { describe, expect, it } from "vitest";
import { App, Dep, Path, Returns, clientGone, get } from "usher-http";
import { Statement } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { gate } from "../../support/gate.ts";
import { lines, messages } from "../../support/logs.ts";
import { failingServer, pid } from "./failing-server.ts";

const { watch, pool, expectWhole } = await failingServer();

const sleep = Statement.exec("select pg_sleep(600)");
const sleeping = async (): Promise<boolean> =>
  (await watch`select 1 from pg_stat_activity where wait_event = 'PgSleep'`).length > 0;

/** Work of a handler that does not end before its client leaves, and what tells that it waits. */
const waits: readonly (readonly [name: string, run: (some: Pool, gone: AbortSignal) => Promise<unknown>])[] = [
  ["a statement", (some, signal) => some.use((db) => db.exec(sleep), { signal })],
  ["a statement of a transaction", (some, signal) => some.transaction((db) => db.exec(sleep), { signal })],
  [
    "a transaction that commits after it",
    (some, signal) =>
      some.transaction(
        async (db) => {
          await db.exec(sleep).catch(() => {});
          return "committed";
        },
        { signal },
      ),
  ],
];

// On a slow machine the pool says that a connection was held for long.
const access = () =>
  lines().flatMap((line) =>
    line["logger.name"] === "framework.http" ? [[line["message"], line["framework.refusal.code"]]] : [],
  );

describe("a client that disconnects while its request waits for", () => {
  it.each(waits)("%s is a 499 in the access line, and no other line", async (_name, run) => {
    const some = await pool({ size: 1 });
    const told: unknown[] = [];
    const route = get(Path.of("x"), { inputs: { gone: clientGone }, returns: Returns.text }, async ({ gone }) => {
      await run(some, gone);
      return "done";
    });
    const leaving = new AbortController();
    const app = App.make([route], { onError: (error) => void told.push(error) });
    const answer = app.fetch(new Request("http://h/x", { signal: leaving.signal }));
    await expect.poll(sleeping).toBe(true);
    leaving.abort();
    expect([(await answer).status, told, access()]).toEqual([499, [], [["GET /x 499", "client_gone"]]]);
    await expectWhole(some);
  });

  it("a connection is a 499 too", async () => {
    const some = await pool({ size: 1 });
    const free = gate();
    const holder = some.use(() => free.passed);
    const route = get(Path.of("x"), { inputs: { gone: clientGone }, returns: Returns.text }, async ({ gone }) =>
      String(await some.use((db) => db.exec(pid), { signal: gone })),
    );
    const leaving = new AbortController();
    const answer = App.make([route]).fetch(new Request("http://h/x", { signal: leaving.signal }));
    await expect.poll(() => some.stats().waiting).toBe(1);
    leaving.abort();
    expect([(await answer).status, access()]).toEqual([499, [["GET /x 499", "client_gone"]]]);
    free.open();
    await holder;
    await expectWhole(some);
  });

  it("a statement is 503 `busy` where another signal ended it", async () => {
    const some = await pool({ size: 1 });
    const ending = new AbortController();
    const route = get(Path.of("x"), { inputs: { gone: clientGone }, returns: Returns.text }, async () =>
      String(await some.use((db) => db.exec(sleep), { signal: ending.signal })),
    );
    const answer = App.make([route]).fetch(new Request("http://h/x"));
    await expect.poll(sleeping).toBe(true);
    ending.abort();
    expect((await answer).status).toBe(503);
    expect(messages("warn")).toContainEqual(expect.stringContaining("busy"));
    await expectWhole(some);
  });

  it("the transaction of its inputs leaves nothing written", async () => {
    const some = await pool({ size: 1 });
    await watch`create table left_by (id int)`;
    const add = Statement.exec("insert into left_by values (1)");
    const tx = Dep.transaction(Dep.ofResource<Pool>("pool"));
    const inputs = { tx, gone: clientGone };
    const began = gate();
    const route = get(Path.of("x"), { inputs, returns: Returns.text }, async ({ tx, gone }) => {
      await tx.exec(add);
      began.open();
      await new Promise((_resolve, reject) => gone.addEventListener("abort", () => reject(gone.reason as Error)));
      return "done";
    });
    const leaving = new AbortController();
    const app = App.make([route], { resources: [Dep.resource(Dep.ofResource<Pool>("pool"), some)] });
    const answer = app.fetch(new Request("http://h/x", { signal: leaving.signal }));
    await began.passed;
    leaving.abort();
    expect((await answer).status).toBe(499);
    expect(await watch`select * from left_by`).toEqual([]);
    await expectWhole(some);
  });
});
