/** Where the orders example keeps its orders: both stores do the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { Dep, Sessions, Test } from "usher-http";
import { IdempotencyTable, Pool, SessionTable, Statement, migrate } from "usher-http/postgres";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { migrations } from "../../examples/orders/database.ts";
import { answersTable, postgresStore } from "../../examples/orders/postgres-store.ts";
import { routes } from "../../examples/orders/routes.ts";
import * as statements from "../../examples/orders/statements.ts";
import { memoryStore, store as storeOf } from "../../examples/orders/store.ts";
import type { Store } from "../../examples/orders/store.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";

const server = await startPostgres();
await migrate(server.url(), { directory: migrations });
const pool = await Pool.create(server.url(), { size: 4 });
afterAll(() => pool.close());
const outside = observer(server);

it("every statement fits the database that the migrations create", async () => {
  const kept = [...SessionTable.statements({ table: "sessions" }), ...IdempotencyTable.statements(answersTable)];
  await expect(Statement.verify(pool, [...Object.values(statements), ...kept])).resolves.toBeUndefined();
});

it.each([
  ["0002_sessions.sql", SessionTable.schema({ table: "sessions" })],
  ["0004_answers.sql", IdempotencyTable.schema(answersTable)],
])("the migration %s creates the table like the library", (file, schema) => {
  expect(readFileSync(join(migrations, file), "utf8")).toContain(schema);
});

const emptied = async (): Promise<Store> => {
  await outside`truncate orders restart identity`;
  await outside`truncate changes, answers`;
  await outside`update last_change set number = beginning`;
  return postgresStore(pool);
};

const at = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
const order = (item: string, quantity = 1) => ({ item, quantity });

const stores = [
  { name: "in memory", make: async () => memoryStore() },
  { name: "in PostgreSQL", make: emptied },
];

describe.each(stores)("a store $name", ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  it("stores, lists, changes and removes orders", async () => {
    const odd = "O'Neil \\ \u{1f600} {}";
    expect(await store.place(order(odd, 2 ** 53 - 1), at)).toEqual({
      id: 1,
      item: odd,
      quantity: 2 ** 53 - 1,
      placed_at: at,
    });
    await store.place(order("b"), at);
    await store.place(order("c"), at);
    expect((await store.list({ offset: 1, limit: 1 })).map(({ item }) => item)).toEqual(["b"]);
    expect(await store.list({ offset: 2 ** 53 * 100, limit: 1 })).toEqual([]);
    expect(await store.change(2, 7)).toEqual({ id: 2, item: "b", quantity: 7, placed_at: at });
    expect(await store.find(2)).toMatchObject({ quantity: 7, version: 2 });
    expect(await store.change(2, 9, 1)).toBeUndefined();
    expect(await store.change(2, 8, 2)).toMatchObject({ quantity: 8 });
    expect(await store.find(2)).toMatchObject({ quantity: 8, version: 3 });
    expect(await store.remove(2)).toBe(true);
    expect(await store.remove(2)).toBe(false);
    expect(await store.change(2, 1)).toBeUndefined();
    expect(await store.find(2)).toBeUndefined();
    expect(await store.find(2 ** 53 - 1)).toBeUndefined();
  });

  it("creates all of several orders, or none", async () => {
    const refused = await store.placeAll([order("a"), order("unicorn"), order("b")], at);
    expect([refused?.code.name, refused?.message]).toEqual(["sold_out", "There are no unicorns left."]);
    expect(await store.list({ offset: 0, limit: 9 })).toEqual([]);
    expect(await store.placeAll([order("a"), order("b")], at)).toBeUndefined();
    expect((await store.list({ offset: 0, limit: 9 })).map(({ id, item }) => `${id} ${item}`)).toEqual(["1 a", "2 b"]);
  });

  it("returns the changes after an id, also from the beginning, and not when they are no longer held", async () => {
    await store.placeAll([order("a"), order("b")], at);
    await store.change(1, 5);
    await store.remove(2);
    const changes = await store.changesAfter(undefined);
    const said = changes?.map(({ what, order: { id, quantity } }) => `${what} ${id} ${quantity}`);
    expect(said).toEqual(["placed 1 1", "placed 2 1", "changed 1 5", "removed 2 1"]);
    const [first, , , last] = changes ?? [];
    expect(await store.changesAfter(first?.number)).toEqual(changes?.slice(1));
    expect(await store.changesAfter(last?.number)).toEqual([]);
    expect(await store.changesAfter((last?.number ?? 0) + 1)).toBeUndefined();
    expect(await store.changesAfter(1)).toBeUndefined();
    await store.placeAll(
      Array.from({ length: 999 }, () => order("more")),
      at,
    );
    expect(await store.changesAfter(first?.number)).toBeUndefined();
    expect(await store.changesAfter(last?.number)).toHaveLength(999);
  });

  it("returns the newest orders, and the id of their last change", async () => {
    expect(await store.newest(2)).toMatchObject({ orders: [] });
    await store.placeAll([order("a"), order("b"), order("c")], at);
    const { orders, number } = await store.newest(2);
    expect(orders.map(({ item }) => item)).toEqual(["c", "b"]);
    expect(await store.changesAfter(number)).toEqual([]);
  });

  it("notifies after a change is stored, and not if nothing changed", async () => {
    const news = store.news.subscribe("orders");
    await store.place(order("unicorn"), at);
    await store.remove(9);
    await store.place(order("a"), at);
    await news.next();
    expect(await store.list({ offset: 0, limit: 9 })).toHaveLength(1);
    store.news.close();
    expect(await news.next()).toBeUndefined();
  });
});

describe.each(stores)("idempotency keys, with a store $name", ({ make }) => {
  const example = async () => {
    const store = await make();
    const resources = [Dep.resource(storeOf, store), Dep.resource(sessionStore, Sessions.memory())];
    const app = Test.app(routes, { resources });
    const ask = (key: string, body: { readonly item: string }) =>
      Test.call(app, "POST", "/orders", { headers: { "idempotency-key": key }, body });
    return { store, app, ask };
  };
  const count = async (store: Store) => (await store.list({ offset: 0, limit: 99 })).length;

  it.each(['"k1"', "0b9c4f0e-6f0a-4c59-9d4c-2f6d0f6f7a11"])(
    "%s create one order, and its answer is kept",
    async (key) => {
      const { store, ask } = await example();
      const first = await ask(key, order("a"));
      const again = await ask(key, order("a"));
      expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
      expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
      expect((await ask(key, order("b"))).json()).toMatchObject({ error: "idempotency_key_reused" });
      expect([await count(store), (await store.changesAfter(undefined))?.length]).toEqual([1, 1]);
    },
  );

  it("create one order, for any number of concurrent requests", async () => {
    const { store, ask } = await example();
    const answers = await Promise.all(Array.from({ length: 24 }, () => ask('"k2"', order("a"))));
    const placed = new Set(answers.flatMap(({ status, body }) => (status === 201 ? [body] : [])));
    const others = new Set(answers.flatMap(({ status, json }) => (status === 201 ? [] : [errorOf(json())])));
    expect([placed.size, [...others]]).toEqual([1, others.size === 0 ? [] : ["idempotency_key_in_use"]]);
    expect([await count(store), (await store.changesAfter(undefined))?.length]).toEqual([1, 1]);
  });

  it("keep a refusal, and roll back its work", async () => {
    const { store, ask } = await example();
    const first = await ask('"k3"', order("unicorn"));
    const again = await ask('"k3"', order("unicorn"));
    expect([first.status, again.status, again.body]).toEqual([409, 409, first.body]);
    expect(errorOf(first.json())).toBe("sold_out");
    expect(await count(store)).toBe(0);
  });

  it("import a file once", async () => {
    const { store, app } = await example();
    const file =
      "--b\r\ncontent-disposition: form-data; name=orders; filename=o\r\n\r\nitem,quantity\npen,2\nink,3\n\r\n--b--";
    const headers = { "idempotency-key": "k4", "content-type": "multipart/form-data; boundary=b" };
    const ask = () => Test.call(app, "POST", "/orders/import", { headers, body: file });
    expect([(await ask()).json(), (await ask()).json()]).toEqual([{ placed: 2 }, { placed: 2 }]);
    expect(await count(store)).toBe(2);
  });
});

function errorOf(body: unknown): string {
  return (body as { error: string }).error;
}

describe("stock", () => {
  it("is taken once for each order, for any number of concurrent requests, and never below zero", async () => {
    const store = await emptied();
    await outside`insert into stock values ('lamp', 10) on conflict (item) do update set left_over = 10`;
    await outside`insert into stock values ('desk', 10) on conflict (item) do update set left_over = 10`;
    // In either order: who takes several items takes them in one and the same.
    const asked = Array.from({ length: 12 }, (_, i) => {
      const both = [order("lamp"), order("desk")];
      return store.placeAll(i % 2 === 0 ? both : both.toReversed(), at);
    });
    const refused = (await Promise.all(asked)).filter((refusal) => refusal !== undefined);
    expect(refused.map(({ message }) => message)).toEqual(
      Array.from({ length: 2 }, () => "There is too little of that left."),
    );
    expect([...(await outside`select sum(left_over)::int as left from stock where item in ('lamp', 'desk')`)]).toEqual([
      { left: 0 },
    ]);
    expect(await store.list({ offset: 0, limit: 99 })).toHaveLength(20);
    expect(await store.changesAfter(undefined)).toHaveLength(20);
  });
});

it("places a file of many orders, and keeps the last thousand of its changes", async () => {
  await emptied();
  const store = postgresStore(pool);
  const many = Array.from({ length: 20_000 }, () => order("pen"));
  expect(await store.placeAll(many, at)).toBeUndefined();
  expect([...(await outside`select count(*)::int as kept, max(id)::int as last from changes`)]).toEqual([
    { kept: 1000, last: 20_000 },
  ]);
  const { number } = await store.newest(1);
  expect(await store.changesAfter(number - 1000)).toHaveLength(1000);
  expect(await store.changesAfter(number - 1001)).toBeUndefined();
});
