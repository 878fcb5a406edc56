/** `GET /orders/desk` of the orders example: an item is typed, and its order comes back. */
import { expect, it } from "vitest";
import { Dep, Test, Sessions } from "usher-http";
import { deskProtocol } from "../../examples/orders/desk.ts";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import "../support/logs.ts";

it("the desk answers each item with its order, or with the reason of its refusal", async () => {
  const orders = memoryStore();
  const app = Test.app(routes, {
    resources: [Dep.resource(store, orders), Dep.resource(sessionStore, Sessions.memory())],
  });
  const said = await Test.websocket(app, deskProtocol, "/orders/desk", async (socket) => {
    const answers: unknown[] = [];
    for (const item of ["pen", "", "unicorn", "x".repeat(101), "ink"]) {
      await socket.send(item);
      const answer = await socket.receive();
      answers.push(answer.ok ? answer.value : answer.error);
    }
    return answers;
  });
  const invalid = (message: string) => ({ error: "invalid", message });
  expect(said.ok && said.value).toEqual([
    { id: 1, item: "pen", quantity: 1, placed_at: expect.any(Date) },
    invalid("This must be at least 1 character long."),
    { error: "sold_out", message: "There are no unicorns left." },
    invalid("This must be at most 100 characters long."),
    { id: 2, item: "ink", quantity: 1, placed_at: expect.any(Date) },
  ]);
  expect(await orders.list({ offset: 0, limit: 9 })).toHaveLength(2);
});

it("the desk is only a WebSocket", async () => {
  const app = Test.app(routes, {
    resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
  });
  const { status, json } = await Test.call(app, "GET", "/orders/desk");
  expect([status, json()]).toEqual([426, expect.objectContaining({ error: "upgrade_required" })]);
});
