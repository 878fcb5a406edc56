/** A Worker under Miniflare, as `wrangler dev` runs one: with Workers of its own before it, which rewrite requests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Miniflare } from "../../support/miniflare.ts";
import { bundle } from "./running.ts";

const program = `
import { Answer, Dep, Log, Path, Returns, Sessions, get } from "usher-http";
import { sessionStore } from "../../../examples/orders/clerks.ts";
import { routes } from "../../../examples/orders/routes.ts";
import { memoryStore, store } from "../../../examples/orders/store.ts";
import { worker } from "../../../adapters/workers/index.ts";

// Miniflare hands its lines to the console of the tests.
Log.setup({ level: "warn" });
const word = Dep.ofResource("word");
async function* parts(word) {
  yield new TextEncoder().encode(word);
  await new Promise((resolve) => setTimeout(resolve, 10));
  yield new TextEncoder().encode(" again");
}
const stream = get(Path.of("stream"), { inputs: { word }, returns: Returns.response }, ({ word }) =>
  Answer.stream(parts(word), { contentType: "text/plain" }));

export default worker([...routes, stream], ({ WORD }) => ({
  resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory()), Dep.resource(word, WORD)],
}));`;

let miniflare: Miniflare;
beforeAll(async () => {
  miniflare = new Miniflare({
    modules: true,
    script: await bundle({ contents: program }),
    compatibilityDate: "2026-07-01",
    compatibilityFlags: ["nodejs_als", "enable_request_signal"],
    bindings: { WORD: "bound" },
  });
  await miniflare.ready;
});
afterAll(() => miniflare.dispose());

const json = (method: string, value: unknown): RequestInit => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});
const ask = (target: string, init?: RequestInit): Promise<Response> =>
  miniflare.dispatchFetch(`http://h${target}`, init);

describe("a Worker under Miniflare", () => {
  it("reads and answers JSON, in several requests", async () => {
    const placed = await ask("/orders", json("POST", { item: "pen", quantity: 2, more: true }));
    const order: unknown = await placed.json();
    expect([placed.status, order]).toEqual([
      201,
      { id: 1, item: "pen", quantity: 2, placed_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
    expect(placed.headers.get("x-request-id")).toMatch(/^[0-9a-z]{12}$/);
    expect(await (await ask("/orders/1")).json()).toEqual(order);
    expect(await (await ask("/orders?page=1&per_page=5")).json()).toEqual([order]);
  });

  it("reports all problems of a request", async () => {
    const wrong = await ask("/orders?page=0&per_page=x");
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { error: "invalid", problems: [{ at: "query.page" }, { at: "query.per_page" }] },
    ]);
    const body = await ask("/orders", json("POST", { item: "", quantity: 0.5 }));
    expect([body.status, await body.json()]).toMatchObject([
      400,
      { error: "invalid", problems: [{ at: "body.item" }, { at: "body.quantity" }] },
    ]);
  });

  it.each([
    ["a form", "POST", "/orders", { body: "item=pen" }, 415],
    ["no token", "DELETE", "/orders/1", {}, 401],
    ["no order", "GET", "/orders/77", {}, 404],
    ["no route", "GET", "/nowhere", {}, 404],
    ["another method", "PUT", "/orders", {}, 405],
    ["none left", "POST", "/orders", json("POST", { item: "unicorn", quantity: 1 }), 409],
  ])("refuses %s: %s %s", async (_what, method, target, init, status) => {
    const refused = await ask(target, { ...init, method });
    expect([refused.status, refused.headers.get("content-type")]).toEqual([status, "application/json"]);
    await refused.arrayBuffer();
  });

  it("sends a stream chunk by chunk, with data of its bindings", async () => {
    const streamed = await ask("/stream");
    expect([streamed.headers.get("content-type"), await streamed.text()]).toEqual(["text/plain", "bound again"]);
  });

  it("answers HEAD, OPTIONS and its own page", async () => {
    const head = await ask("/orders/1", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const options = await ask("/orders", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, GET, HEAD"]);
    expect((await ask("/")).headers.get("content-type")).toBe("text/html; charset=utf-8");
  });
});
