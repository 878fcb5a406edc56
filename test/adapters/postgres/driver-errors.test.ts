/** An error of the driver's own, as for a text that is longer than a string of V8 may be: what it reads next is unknown. */
import { expect, it } from "vitest";
import { parse } from "../../../adapters/postgres/connection-string.ts";
import { openConnection } from "../../../adapters/postgres/connection.ts";
import type { Driver } from "../../../adapters/postgres/dial.ts";
import { loadDriver } from "../../../adapters/postgres/private.ts";
import type { Execute, Query } from "../../../adapters/postgres/private.ts";
import { startPostgres } from "../../support/postgres/database.ts";

const server = await startPostgres();

/** The driver, which raises an error of its own in place of the answer to one statement. */
async function raisingFor(sql: string): Promise<Driver> {
  const driver = await loadDriver("driver-errors.test");
  const raising = (options: Parameters<Driver>[0]) => {
    const { handler: execute } = driver(options).unsafe("") as unknown as { readonly handler: Execute };
    const handler = (query: Query): void => {
      if (query.sql !== sql) return execute(query);
      setImmediate(() => query.reject(new RangeError("Cannot create a string longer than 0x1fffffe8 characters")));
    };
    return { unsafe: () => ({ handler }) };
  };
  return raising as unknown as Driver;
}

it("ends the connection: no later statement gets the rest of that answer", async () => {
  const options = { driver: await raisingFor("select 'too long'"), parameters: {}, statementCache: 8 };
  let closed = 0;
  const connection = await openConnection(parse(server.url()), options, { closed: () => closed++ });
  expect([...(await connection.run("select 1", []))]).toEqual([["1"]]);
  const why = "Cannot create a string longer than 0x1fffffe8 characters";
  await expect(connection.run("select 'too long'", [])).rejects.toMatchObject({ reason: { kind: "gone", why } });
  expect([connection.isOpen, closed]).toEqual([false, 1]);
  const refused = { reason: { kind: "gone", isSent: false, why } };
  await expect(connection.run("select 1", [])).rejects.toMatchObject(refused);
  expect(closed).toBe(1);
});
