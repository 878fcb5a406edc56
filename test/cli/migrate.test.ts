/** `usher migrate`, on a real server. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { run } from "../../cli/run.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";

const server = await startPostgres();
const outside = observer(server);
const folder = mkdtempSync(join(tmpdir(), "usher-cli-migrate-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());
writeFileSync(join(folder, "0001_orders.sql"), "create table orders ()");

async function usher(...args: string[]) {
  let [out, error] = ["", ""];
  const code = await run(args, { out: (text) => void (out += text), error: (text) => void (error += text) });
  return { code, out, error };
}

it("applies the new migrations, and prints their names", async () => {
  const told = await usher("migrate", folder, "--database", server.url());
  expect(told).toEqual({ code: 0, out: "0001_orders.sql\n", error: "" });
  expect([...(await outside`select to_regclass('orders')::text as orders`)]).toEqual([{ orders: "orders" }]);
  vi.stubEnv("DATABASE_URL", server.url());
  expect(await usher("migrate", folder, "--wait", "1")).toEqual({ code: 0, out: "", error: "nothing to apply\n" });
});

it("ends with 1 and prints the reason, without a stack, when a file fails or the database is unreachable", async () => {
  writeFileSync(join(folder, "0002_bad.sql"), "creat table");
  const failed = await usher("migrate", folder, "--database", server.url());
  expect(failed).toMatchObject({ code: 1, out: "" });
  expect(failed.error).toMatch(/^usher migrate: 0002_bad.sql:1: ERROR 42601: .*\. Nothing was kept\.\n$/);
  const unreached = await usher("migrate", folder, "--database", "postgres://me:secret@127.0.0.1:1/none");
  expect(unreached.error).toMatch(
    /^usher migrate: there was no connection to the database, and nothing was done: .*\n$/,
  );
  expect(unreached.error).not.toContain("secret");
});

it.each([
  ["", "the connection string is empty: write postgres://"],
  ["shop", "not a connection string: write postgres://"],
  ["postgres://me:secret@localhost/shop?sslmod=require", 'the connection string has an unknown keyword "sslmod"'],
])("ends with 1 and reports the mistake in the connection string %j, without a stack", async (url, said) => {
  const { code, error } = await usher("migrate", folder, "--database", url);
  expect([code, error.split("\n").length]).toEqual([1, 2]);
  expect(error).toContain(`usher migrate: ${said}`);
  expect(error).not.toContain("secret");
});

it.each([
  [[], /the folder is missing/],
  [["a", "b"], /give one folder, not 2/],
  [["a"], /set --database or DATABASE_URL/],
  [["a", "--database", "x", "--wait", "soon"], /--wait must be a number of seconds/],
])("ends with 2 for the arguments %j", async (args, said) => {
  vi.stubEnv("DATABASE_URL", undefined);
  expect(await usher("migrate", ...args)).toMatchObject({ code: 2, error: expect.stringMatching(said) });
});
