/** `GET /orders/feed` of the orders example: changes of orders, sent once to each follower (contract 6.5, 6.8). */
import { beforeEach, describe, expect, it } from "vitest";
import { Dep, Test, Sessions } from "usher-http";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import type { Store } from "../../examples/orders/store.ts";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";
import { eventually } from "../support/eventually.ts";

type Told = Parameters<Parameters<typeof Test.events>[2]>[0];

let orders: Store;
let app: Test.TestApp;
beforeEach(() => {
  orders = memoryStore();
  app = Test.app(routes, { resources: [Dep.resource(store, orders), Dep.resource(sessionStore, Sessions.memory())] });
});

const place = async (...items: readonly string[]): Promise<void> => {
  for (const item of items) await Test.call(app, "POST", "/orders", { body: { item, quantity: 1 } });
};

/** Reads until this number of events arrived, or the signal aborts. */
async function followed(count: number, last?: string, options: Partial<Test.CallOptions> = {}): Promise<Told[]> {
  const told: Told[] = [];
  const receive = (event: Told): "stop" | undefined => (told.push(event) === count ? "stop" : undefined);
  const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
  expect(await Test.events(app, "/orders/feed", receive, { headers, ...options })).toEqual({ ok: true });
  return told;
}

const said = ({ name, data }: Told): string => {
  const { id, item, quantity, orders } = JSON.parse(data) as Record<string, unknown>;
  const list = orders as readonly { readonly item: string }[] | undefined;
  if (list !== undefined) return `${name} ${list.map(({ item }) => item).join()}`;
  return [name, id, item, quantity].filter((word) => word !== undefined).join(" ");
};

describe("the feed of orders", () => {
  it("sends from the beginning the orders that were created, changed and removed, each with an id of its own", async () => {
    await place("pen", "ink");
    await Test.call(app, "PATCH", "/orders/1", { body: { quantity: 5 } });
    await Test.call(app, "DELETE", "/orders/2", { headers: { authorization: "Bearer demo" } });
    const told = await followed(4);
    expect(told.map(said)).toEqual(["placed 1 pen 1", "placed 2 ink 1", "changed 1 pen 5", "removed 2"]);
    const ids = told.map(({ id }) => Number(id));
    expect(ids).toEqual([0, 1, 2, 3].map((n) => (ids[0] ?? 0) + n));
  });

  it("continues after the last event that its client received", async () => {
    await place("a", "b", "c");
    const [first, second] = await followed(2);
    expect((await followed(2, first?.id)).map(said)).toEqual(["placed 2 b 1", "placed 3 c 1"]);
    expect((await followed(1, second?.id)).map(said)).toEqual(["placed 3 c 1"]);
  });

  it("sends changes while it is open, once to each client, and then has no subscriber", async () => {
    const following = [followed(3), followed(3)];
    await eventually(() => expect(orders.news.subscribers("orders")).toHaveLength(2));
    await place("a", "b", "c");
    const [one, other] = await Promise.all(following);
    expect(one?.map(said)).toEqual(["placed 1 a 1", "placed 2 b 1", "placed 3 c 1"]);
    expect(other).toEqual(one);
    await eventually(() => expect(orders.news.topics()).toEqual([]));
  });

  it("ends for a client that does not read", async () => {
    const going = new AbortController();
    const following = followed(1, undefined, { gone: going.signal });
    await eventually(() => expect(orders.news.subscribers("orders")).toHaveLength(1));
    going.abort();
    expect(await following).toEqual([]);
    await eventually(() => expect(orders.news.topics()).toEqual([]));
  });

  it("sends the newest orders when missed events are no longer kept, and continues after them", async () => {
    await place("old");
    const [old] = await followed(1);
    const many = Array.from({ length: 1000 }, (_, i) => ({ item: `item ${i}`, quantity: 1 }));
    await orders.placeAll(many, new Date());
    expect(await followed(1000, old?.id)).toHaveLength(1000);
    await place("new");
    const newest = ["new", ...many.map(({ item }) => item).toReversed()].slice(0, 100);
    for (const last of [old?.id, undefined]) {
      const [list] = await followed(1, last);
      expect(list && said(list)).toBe(`list ${newest.join()}`);
      const next = followed(1, list?.id);
      await eventually(() => expect(orders.news.subscribers("orders")).toHaveLength(1));
      await orders.change(1, 7);
      expect((await next).map(said)).toEqual(["changed 1 old 7"]);
      await orders.change(1, 1);
    }
  });

  it("sends the newest orders to a client with an id of another process's feed", async () => {
    await place("here");
    const [{ id = "" } = {}] = await followed(1);
    for (const foreign of ["0", "7", `${Number(id) - 100}`, `${Number(id) + 1}`]) {
      expect((await followed(1, foreign)).map(said), foreign).toEqual(["list here"]);
    }
  });

  it("sends an import of more events than it holds as a list", async () => {
    const following = followed(1);
    await eventually(() => expect(orders.news.subscribers("orders")).toHaveLength(1));
    await orders.placeAll(
      Array.from({ length: 1001 }, () => ({ item: "pen", quantity: 1 })),
      new Date(),
    );
    expect((await following).map(({ name }) => name)).toEqual(["list"]);
  });

  it("refuses an invalid id", async () => {
    const wrong = await Test.events(app, "/orders/feed", () => {}, { headers: { "last-event-id": "x" } });
    const body = invalid(["header.last-event-id", "malformed", "This is not a whole number."]);
    expect(wrong).toMatchObject({ ok: false, error: { status: 400, body } });
  });
});
