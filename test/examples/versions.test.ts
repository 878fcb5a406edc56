/** Two clerks who change an order of the example at once. */
import { expect, it } from "vitest";
import { Dep, Sessions, Test } from "usher-http";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";

async function appWithOrder() {
  const resources = [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())];
  const app = Test.app(routes, { resources });
  await Test.call(app, "POST", "/orders", { body: { item: "pen", quantity: 1 } });
  const change = (quantity: number, ifMatch?: string) =>
    Test.call(app, "PATCH", "/orders/1", {
      body: { quantity },
      ...(ifMatch === undefined ? {} : { headers: { "if-match": ifMatch } }),
    });
  return { app, change, read: (headers = {}) => Test.call(app, "GET", "/orders/1", { headers }) };
}

it("the second of two changes gets a 412, reads again, and then succeeds", async () => {
  const { change, read } = await appWithOrder();
  const etag = (await read()).headers.get("etag") as string;
  expect(etag).toBe('"1"');
  expect((await read({ "if-none-match": etag })).status).toBe(304);
  expect((await change(2, etag)).status).toBe(200);
  const late = await change(3, etag);
  expect([late.status, JSON.parse(late.body).error]).toEqual([412, "precondition_failed"]);
  const again = await read({ "if-none-match": etag });
  expect([again.status, JSON.parse(again.body).quantity, again.headers.get("etag")]).toEqual([200, 2, '"2"']);
  expect((await change(3, '"2"')).status).toBe(200);
});

it("of many changes with one version exactly one succeeds, and without a condition all do", async () => {
  const { change, read } = await appWithOrder();
  const statuses = (await Promise.all(Array.from({ length: 20 }, (_, i) => change(i + 2, '"1"')))).map(
    ({ status }) => status,
  );
  expect(statuses.toSorted((one, other) => one - other)).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
  const free = await Promise.all(Array.from({ length: 20 }, (_, i) => change(i + 2)));
  expect(new Set(free.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await read()).headers.get("etag")).toBe('"22"');
});
