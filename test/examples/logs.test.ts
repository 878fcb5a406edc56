/** What the orders example logs of its own: in the request's name, and nothing that was sent. */
import { expect, it, vi } from "vitest";
import { Dep, Sessions, Test } from "usher-http";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { lines, logged } from "../support/logs.ts";
import { waitMs } from "../support/patience.ts";

it("a new order is a log line of its source", async () => {
  const app = Test.app(routes, {
    resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
  });
  const { headers, status } = await Test.call(app, "POST", "/orders", { body: { item: "s3cret pen", quantity: 2 } });
  expect(status).toBe(201);
  const line = await vi.waitUntil(() => lines().find((line) => line["logger.name"] === "orders"), waitMs());
  expect(line).toMatchObject({
    level: "info",
    "logger.name": "orders",
    message: "placed an order",
    request_id: headers.get("x-request-id"),
    "orders.id": 1,
  });
  expect(logged().join("\n")).not.toContain("s3cret");
});
