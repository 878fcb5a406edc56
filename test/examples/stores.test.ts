/** Where the orders example keeps its orders: both stores do the same. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { Refusal } from "usher-http";
import { Pool, Statement, migrate } from "usher-http/postgres";
import { migrations } from "../../examples/orders/database.ts";
import { postgresStore } from "../../examples/orders/postgres-store.ts";
import * as statements from "../../examples/orders/statements.ts";
import { memoryStore } from "../../examples/orders/store.ts";
import type { Store } from "../../examples/orders/store.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";

const server = await startPostgres();
await migrate(server.url(), { directory: migrations });
const pool = await Pool.create(server.url(), { size: 4 });
afterAll(() => pool.close());
const outside = observer(server);

it("every statement fits the database that the migrations make", async () => {
  await expect(Statement.verify(pool, Object.values(statements))).resolves.toBeUndefined();
});

const emptied = async (): Promise<Store> => {
  await outside`truncate orders restart identity`;
  await outside`truncate changes`;
  await outside`update last_change set number = beginning`;
  return postgresStore(pool);
};

const at = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
const order = (item: string, quantity = 1) => ({ item, quantity });

describe.each([
  { name: "in memory", make: async () => memoryStore() },
  { name: "in PostgreSQL", make: emptied },
])("a store $name", ({ make }) => {
  let store: Store;
  beforeEach(async () => {
    store = await make();
  });

  it("keeps what is placed, lists it in its order, changes and removes it", async () => {
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

  it("places all of several orders, or none", async () => {
    const refused = await store.placeAll([order("a"), order("unicorn"), order("b")], at);
    expect([refused?.code.name, refused?.message]).toEqual(["sold_out", "There are no unicorns left."]);
    expect(await store.list({ offset: 0, limit: 9 })).toEqual([]);
    expect(await store.placeAll([order("a"), order("b")], at)).toBeUndefined();
    expect((await store.list({ offset: 0, limit: 9 })).map(({ id, item }) => `${id} ${item}`)).toEqual(["1 a", "2 b"]);
  });

  it("places what one key asks for once", async () => {
    const key = "0b9c4f0e-6f0a-4c59-9d4c-2f6d0f6f7a11";
    expect(await store.place(order("a"), at, key)).toMatchObject({ id: 1 });
    expect(await store.place(order("a"), at, key)).toMatchObject({ code: { name: "already_placed" } });
    expect(await store.list({ offset: 0, limit: 9 })).toHaveLength(1);
  });

  it("places what one key asks for once, however many ask at the same time", async () => {
    const key = "0b9c4f0e-6f0a-4c59-9d4c-2f6d0f6f7a12";
    const answers = await Promise.all(Array.from({ length: 24 }, () => store.place(order("a"), at, key)));
    const [placed, ...others] = answers.filter((answer) => !(answer instanceof Refusal));
    const refused = answers.flatMap((answer) => (answer instanceof Refusal ? [answer.code.name] : []));
    expect([others, refused]).toEqual([[], Array.from({ length: 23 }, () => "already_placed")]);
    expect(await store.list({ offset: 0, limit: 9 })).toEqual([placed]);
    expect(await store.changesAfter(undefined)).toHaveLength(1);
  });

  it("tells what happened behind a change, from the beginning, and not where that is no longer held", async () => {
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

  it("tells the newest orders, and which change is the last in them", async () => {
    expect(await store.newest(2)).toMatchObject({ orders: [] });
    await store.placeAll([order("a"), order("b"), order("c")], at);
    const { orders, number } = await store.newest(2);
    expect(orders.map(({ item }) => item)).toEqual(["c", "b"]);
    expect(await store.changesAfter(number)).toEqual([]);
  });

  it("says that there is news once it is kept, and not where nothing changed", async () => {
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

describe("stock", () => {
  it("is taken once for each order, however many ask at once, and never below nothing", async () => {
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
