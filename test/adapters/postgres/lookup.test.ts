/** A name of a database whose resolver never answers, or answers late. */
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, describe, expect, it } from "vitest";
import { Conninfo, Pool, Statement, Type } from "usher-http/postgres";
import { startPostgres } from "../../support/postgres/database.ts";

const database = await startPostgres();
const one = Statement.find("select 1 as one", { row: { one: Type.int } });
const { lookup } = dns.promises;

/** How the resolver of this process answers the names of this test. */
const answers: { readonly [name: string]: () => Promise<unknown> } = {
  "silent.example": () => new Promise(() => {}),
  "late.example": async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error("late");
  },
  "database.example": async () => [{ address: "127.0.0.1", family: 4 }],
};
function resolving(): void {
  dns.promises.lookup = ((name: string) => answers[name]?.() ?? Promise.reject(new Error("no such name"))) as never;
  syncBuiltinESMExports();
}
afterEach(() => {
  dns.promises.lookup = lookup;
  syncBuiltinESMExports();
});

/** A target of these hosts, with a limit for each connection. */
const targetOf = (hosts: string, ms: number): Conninfo.Conninfo =>
  Conninfo.withConnectTimeout(Conninfo.parse(`postgres://postgres@${hosts}/postgres`), ms);

describe("the lookup of a name that is never answered", () => {
  it("fails within the time of a connection, and names the host", async () => {
    resolving();
    await expect(Pool.create(targetOf("silent.example:1", 30), { size: 1 })).rejects.toThrow(
      "no address of silent.example within 30 ms",
    );
  });

  it("is followed by the next host", async () => {
    resolving();
    const { port } = new URL(database.url());
    const hosts = `silent.example:${port},database.example:${port}`;
    // The database itself may take longer on a busy machine.
    const pool = await Pool.create(targetOf(hosts, 3000), { size: 1 });
    expect(await pool.exec(one)).toEqual({ one: 1 });
    await pool.close();
  });

  it("ends no process where it fails later", async () => {
    resolving();
    const unhandled: unknown[] = [];
    const note = (thrown: unknown): void => void unhandled.push(thrown);
    process.on("unhandledRejection", note);
    await expect(Pool.create(targetOf("late.example:1", 10), { size: 1 })).rejects.toThrow("within 10 ms");
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("has no limit with connect_timeout=0", async () => {
    resolving();
    const target = targetOf("late.example:1", 0);
    await expect(Pool.create(target, { size: 1 })).rejects.toThrow("late");
  });
});
