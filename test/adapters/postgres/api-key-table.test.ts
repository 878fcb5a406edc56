/** The table of API keys behaves like the store in memory, also for the requests of an app. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiKeys, Path, Returns, Test, get } from "usher-http";
import type { ApiKeyStore } from "usher-http";
import { ApiKeyTable, Statement } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";

const server = await startPostgres();
const outside = observer(server);
const pool = pools(server);
let made = 0;

async function table(): Promise<ApiKeyStore> {
  const options = { table: `api_keys_${++made}` };
  await outside.unsafe(ApiKeyTable.schema(options));
  return ApiKeyTable.store(await pool(), options);
}

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const second = fc.nat(20).map(at);
const which = fc.nat(3).map((n) => `key ${n}`);

type Step = (store: ApiKeyStore) => Promise<unknown>;
const step: fc.Arbitrary<Step> = fc.oneof(
  which.map(
    (id): Step =>
      (store) =>
        store.find(`digest of ${id}`),
  ),
  which.map(
    (id): Step =>
      (store) =>
        store.get(id),
  ),
  fc.constantFrom("ada", "kim").map(
    (owner): Step =>
      (store) =>
        store.list(owner),
  ),
  fc.tuple(which, second).map(
    ([id, at]): Step =>
      (store) =>
        store.expire(id, at),
  ),
  fc.tuple(which, second).map(
    ([id, at]): Step =>
      (store) =>
        store.used(id, at),
  ),
  second.map(
    (before): Step =>
      (store) =>
        store.sweep(before),
  ),
);

describe("the table of API keys", () => {
  it("behaves like the store in memory, for all calls", async () => {
    const entries = fc.record({
      scopes: fc.constantFrom([], ["read"], ["read", "orders:write"]),
      expiresAt: fc.option(second, { nil: undefined }),
      owner: fc.constantFrom("ada", "kim"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entries, { maxLength: 4 }), fc.array(step, { maxLength: 12 }), async (given, steps) => {
        const stores = [ApiKeys.memory(), await table()] as const;
        for (const store of stores) {
          for (const [i, entry] of given.entries()) {
            const id = `key ${i}`;
            const times = { createdAt: at(i), usedAt: undefined };
            await store.add({ ...entry, ...times, id, digest: `digest of ${id}`, name: "it's" });
          }
        }
        for (const act of steps) expect(await act(stores[1])).toEqual(await act(stores[0]));
      }),
      { numRuns: 40 },
    );
  });

  it("refuses a digest that exists, and another key's id", async () => {
    const store = await table();
    const entry = { id: "1", digest: "a", owner: "ada", name: "", scopes: [], createdAt: at(0) };
    const whole = { ...entry, expiresAt: undefined, usedAt: undefined };
    await store.add(whole);
    await expect(store.add({ ...whole, id: "2" })).rejects.toThrow(/a constraint is violated/);
    await expect(store.add({ ...whole, digest: "b" })).rejects.toThrow(/a constraint is violated/);
  });

  it("has statements that the database accepts", async () => {
    const options = { table: "order" };
    await outside.unsafe(ApiKeyTable.schema(options));
    const problems = await Statement.verify(await pool(), ApiKeyTable.statements(options));
    expect(problems ?? []).toEqual([]);
    expect(() => ApiKeyTable.schema({ table: 'a"b' })).toThrow(`ApiKeyTable: "a\\"b" is not a table's name`);
  });

  it("stores keys of requests, and no row has the text of a key", async () => {
    const keys = ApiKeys.make({ prefix: "shop_test", store: await table() });
    const name = `api_keys_${made}`;
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada", scopes: ["read"] });
    const caller = ApiKeys.input(keys).scope("read");
    const app = Test.app([get(Path.root, { inputs: { caller }, returns: Returns.text }, ({ caller }) => caller.owner)]);
    const ask = async (key: string) => {
      const { status, body } = await Test.call(app, "GET", "/", { headers: { authorization: `Bearer ${key}` } });
      return [status, body];
    };
    expect(await ask(key)).toEqual([200, "ada"]);
    const [row] = await outside`select t::text as whole, used_at from ${outside(name)} t`;
    expect(row?.["used_at"]).toBeInstanceOf(Date);
    expect(row?.["whole"]).not.toContain(key.slice(10));
    const newer = await ApiKeys.rotate(keys, entry.id, { overlapMs: 60_000 });
    expect([await ask(key), await ask(newer?.key ?? "")]).toEqual([
      [200, "ada"],
      [200, "ada"],
    ]);
    // Two concurrent calls: a revocation during a rotation leaves the older key revoked.
    await Promise.all([ApiKeys.revoke(keys, entry.id), keys.store.expire(entry.id, new Date(Date.now() + 60_000))]);
    expect((await ask(key))[0]).toBe(401);
  });
});
