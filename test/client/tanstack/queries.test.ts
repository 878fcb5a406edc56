/** The calls of a typed client in the real query client: keys, data, refusals, signals and pages. */
import {
  InfiniteQueryObserver,
  MutationObserver,
  QueryClient,
  QueryObserver,
  hashKey,
  skipToken,
} from "@tanstack/query-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { App } from "usher-http";
import * as Client from "usher-http/client";
import {
  RefusedError,
  infiniteOptions,
  mayRetry,
  mutationOptions,
  queryKey,
  queryOptions,
  withBase,
} from "usher-http/tanstack-query";
import { start } from "../../support/node-server.ts";
import { ordersOf } from "./routes.ts";
import type { Routes } from "./routes.ts";

/** A client of an app with this many orders, and its query client. */
function apart(count: number, retry: boolean | typeof mayRetry = false) {
  const { routes, orders, asked } = ordersOf();
  for (let id = 1; id <= count; id++) orders.push({ id, item: `item ${id}` });
  const api = Client.of<Routes>({ baseUrl: "http://localhost", fetch: App.make(routes).fetch });
  const client = new QueryClient({ defaultOptions: { queries: { retry, retryDelay: 1 } } });
  client.mount();
  onTestFinished(() => {
    client.unmount();
    client.clear();
  });
  return { api, client, orders, asked };
}

async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

describe("a query", () => {
  it("has the value of the answer, and is cached by its inputs", async () => {
    const { api, client, asked } = apart(1);
    const options = queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } });
    expect(await client.fetchQuery({ ...options, staleTime: 60_000 })).toEqual({ id: 1, item: "item 1" });
    const again = queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } });
    expect(await client.fetchQuery({ ...again, staleTime: 60_000 })).toEqual({ id: 1, item: "item 1" });
    expect(client.getQueryData(again.queryKey)).toEqual({ id: 1, item: "item 1" });
    expect(asked).toEqual(["one 1"]);
  });

  it("throws a refusal with its code, its status and its problems", async () => {
    const { api, client } = apart(0);
    const none = queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } });
    const thrown = await thrownBy(client.fetchQuery(none));
    expect(thrown).toBeInstanceOf(RefusedError);
    expect(thrown).toMatchObject({
      name: "RefusedError",
      message: "There is no such order.",
      refusal: { ok: false, status: 404, error: "not_found", problems: [] },
    });
    const wrong = queryOptions(api, "GET /orders", { query: { limit: 1.5 } });
    expect(await thrownBy(client.fetchQuery(wrong))).toMatchObject({
      refusal: { error: "invalid", problems: [{ at: "query.limit" }] },
    });
  });

  it("of an answer without a body is null", async () => {
    const { api, client } = apart(0);
    expect(await client.fetchQuery(queryOptions(api, "GET /nothing"))).toBe(null);
  });

  it("of inputs that are skipped calls nothing, and calls once they are there", async () => {
    const { api, client, asked } = apart(1);
    const observer = new QueryObserver(client, queryOptions(api, "GET /orders/{order_id}", skipToken));
    const end = observer.subscribe(() => {});
    expect(observer.getCurrentResult()).toMatchObject({ status: "pending", fetchStatus: "idle" });
    expect(asked).toEqual([]);
    observer.setOptions(queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } }));
    await expect.poll(() => observer.getCurrentResult().data).toEqual({ id: 1, item: "item 1" });
    end();
  });

  it("has a cache of its own for each client with a base", async () => {
    const { api, client } = apart(1);
    const eu = withBase(api, "eu");
    await client.fetchQuery(queryOptions(eu, "GET /orders"));
    expect(client.getQueryData(queryOptions(api, "GET /orders").queryKey)).toBe(undefined);
    expect(queryOptions(eu, "GET /orders").queryKey).toEqual(["eu", "GET /orders", {}]);
    expect(mutationOptions(eu, "POST /orders").mutationKey).toEqual(["eu", "POST /orders"]);
    expect(queryKey(eu, "GET /orders")).toEqual(["eu", "GET /orders"]);
  });

  it.each(["GET /feed", "GET /pdf"] as const)("of %s, which is read once, is an error", async (route) => {
    const { api, client } = apart(0);
    // As a program in JavaScript asks, which has no types.
    const options = queryOptions(api, route as "GET /orders");
    expect(await thrownBy(client.fetchQuery(options))).toEqual(
      new TypeError(`${route} answers with a stream, which is read once and cannot be cached`),
    );
  });
});

it.each([7, null, "x", true, [7], new Date(0)])("inputs that are %j are refused", (given) => {
  const api = Client.of<Routes>({ baseUrl: "http://localhost" });
  const calls: readonly ((...given: never[]) => unknown)[] = [queryOptions, infiniteOptions, queryKey];
  for (const call of calls) {
    expect(() => call(...([api, "GET /orders", given] as never[]))).toThrow(
      `${call.name}: given is no object of inputs`,
    );
  }
});

describe("the key of a query", () => {
  const api = Client.of<Routes>({ baseUrl: "http://localhost" });

  it("is the route and its inputs, as they are sent", () => {
    const at = new Date(Date.UTC(2026, 8, 30));
    const { queryKey: key } = queryOptions(api, "GET /big", {
      query: { size: 2n ** 60n, at },
      headers: { "accept-language": undefined },
    });
    expect(key).toEqual([
      "GET /big",
      { query: { size: "1152921504606846976", at: "2026-09-30T00:00:00.000Z" }, headers: {} },
    ]);
    expect(JSON.parse(JSON.stringify(key))).toEqual(key);
  });

  it("does not depend on the order of the inputs, nor on undefined", () => {
    const hash = (given: object) => JSON.stringify(queryOptions(api, "GET /orders", given as { query: {} }).queryKey);
    expect(hash({ query: { limit: 1, after: undefined } })).toBe(hash({ query: { limit: 1 } }));
    expect(queryOptions(api, "GET /orders").queryKey).toEqual(queryOptions(api, "GET /orders", {}).queryKey);
  });

  it.each([
    ["a parameter named signal", "low", "high"],
    ["no number", Number.NaN, Number.POSITIVE_INFINITY],
    ["infinity", Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    ["no number in a list", [Number.NaN], [Number.POSITIVE_INFINITY]],
    ["what is sent as its text", /a/, /b/],
    ["another one", new URLSearchParams("a=1"), new URLSearchParams("a=2")],
    ["one whose JSON is no JSON", { toJSON: () => 1n }, { toJSON: () => 2n }],
  ])("is another one where another request is sent: %s", async (_what, one, other) => {
    const sent: string[] = [];
    const fetch = async ({ url }: Request) => (sent.push(url), Response.json([]));
    const own = Client.of<Routes>({ baseUrl: "http://localhost", fetch });
    const hashes = [one, other].map((value) => {
      // As a program in JavaScript asks, and one whose types are `unknown`.
      const { queryKey: key, queryFn } = queryOptions(own, "GET /orders", { query: { signal: value } } as object);
      void queryFn({ signal: new AbortController().signal });
      return hashKey(key);
    });
    await expect.poll(() => new Set(sent).size).toBe(2);
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  it("matches all queries of its route, or those with some inputs, to be invalidated", async () => {
    const { api, client } = apart(3);
    const keys = [
      queryOptions(api, "GET /orders").queryKey,
      queryOptions(api, "GET /orders", { query: { limit: 1, after: 1 } }).queryKey,
      infiniteOptions(api, "GET /orders").queryKey,
      queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } }).queryKey,
    ];
    await client.fetchQuery(queryOptions(api, "GET /orders"));
    await client.fetchQuery(queryOptions(api, "GET /orders", { query: { limit: 1, after: 1 } }));
    await client.fetchInfiniteQuery(infiniteOptions(api, "GET /orders"));
    await client.fetchQuery(queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } }));
    const stale = () => keys.map((key) => client.getQueryState(key)?.isInvalidated);
    await client.invalidateQueries({ queryKey: queryKey(api, "GET /orders", { query: { limit: 1 } }) });
    expect(stale()).toEqual([false, true, false, false]);
    await client.invalidateQueries({ queryKey: queryKey(api, "GET /orders") });
    expect(stale()).toEqual([true, true, true, false]);
  });
});

describe("the signal of a query", () => {
  it("ends the call, over a connection", async () => {
    const { routes, gaveUp, asked } = ordersOf();
    const { port } = await start([...routes]);
    const api = Client.of<Routes>({ baseUrl: `http://127.0.0.1:${port}` });
    const signals: AbortSignal[] = [];
    // As an application passes it on in a function of its own.
    const slow = {
      queryKey: ["slow"],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        signals.push(signal);
        const { queryFn } = queryOptions(api, "GET /slow");
        return queryFn({ signal });
      },
    };
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    const fetching = thrownBy(client.fetchQuery(slow));
    await expect.poll(() => asked).toEqual(["slow"]);
    await client.cancelQueries({ queryKey: ["slow"] });
    await gaveUp;
    expect(signals[0]?.aborted).toBe(true);
    expect(await fetching).toMatchObject({ revert: true });
  });

  it("is no refusal: the query is as it was before", async () => {
    const api = Client.of<Routes>({
      baseUrl: "http://localhost",
      fetch: (request) =>
        new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason))),
    });
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    const options = queryOptions(api, "GET /orders");
    const fetching = thrownBy(client.fetchQuery(options));
    await client.cancelQueries();
    expect(client.getQueryState(options.queryKey)).toMatchObject({
      status: "pending",
      fetchStatus: "idle",
      error: null,
    });
    expect(await fetching).not.toBeInstanceOf(RefusedError);
    client.clear();
  });
});

describe("an infinite query", () => {
  it("follows the link of each page, with the inputs that the link does not have", async () => {
    const { api, client, asked } = apart(5);
    const options = infiniteOptions(api, "GET /orders", { query: { limit: 2, tag: ["a", "b"] } });
    const observer = new InfiniteQueryObserver(client, options);
    const end = observer.subscribe(() => {});
    await expect.poll(() => observer.getCurrentResult().hasNextPage).toBe(true);
    await observer.fetchNextPage();
    const last = await observer.fetchNextPage();
    expect(last.hasNextPage).toBe(false);
    expect(last.data?.pages.map(({ items }) => items.map(({ id }) => id))).toEqual([[1, 2], [3, 4], [5]]);
    expect(last.data?.pageParams).toEqual(["", "after=2&limit=2", "after=4&limit=2"]);
    expect(asked).toEqual(["list 0 2 a,b", "list 2 2 a,b", "list 4 2 a,b"]);
    end();
  });

  it("asks by a parameter, where the pages have no link", async () => {
    const { api, client } = apart(0);
    const next = (last: number[]) => (last.length < 2 ? undefined : (last.at(-1) ?? 0) + 1);
    const options = infiniteOptions(api, "GET /rows", { query: { size: 2 } }, { param: "from", next });
    const all = await client.fetchInfiniteQuery({ ...options, pages: 9 });
    expect(all).toEqual({ pages: [[0, 1], [2, 3], [4]], pageParams: [null, 2, 4] });
    const first = infiniteOptions(api, "GET /rows", {}, { param: "from", next, first: 3 });
    client.clear();
    expect(await client.fetchInfiniteQuery({ ...first, pages: 9 })).toEqual({
      pages: [[3, 4], []],
      pageParams: [3, 5],
    });
  });

  it.each([
    ["another server", "https://evil.example/x?after=2", "after=2"],
    ["no address", "?after=2#top", "after=2"],
    ["no query, which would be the first page again", "/orders", undefined],
    ["an empty query", "/orders?", undefined],
    ["a query with a question mark", "/orders?item=a?b&after=2", "item=a?b&after=2"],
    ["a fragment with a question mark", "/orders#?after=2", undefined],
    ["no text", 7, undefined],
    ["null", null, undefined],
  ])("takes of a link only its query: %s", (_what, next, param) => {
    const { api } = apart(0);
    const { getNextPageParam } = infiniteOptions(api, "GET /orders");
    expect(getNextPageParam({ items: [], next: next as string }, [])).toBe(param);
  });
});

describe("a link to the next page", () => {
  /** The requests of all pages of a server whose link is the same on each. */
  async function asked(next: string, query: object): Promise<readonly string[]> {
    const sent: string[] = [];
    const fetch = async ({ url }: Request) => {
      sent.push(decodeURIComponent(new URL(url).search));
      return Response.json({ items: [], next });
    };
    const api = Client.of<Routes>({ baseUrl: "http://localhost", fetch });
    const client = new QueryClient();
    await client.fetchInfiniteQuery({ ...infiniteOptions(api, "GET /orders", { query } as object), pages: 5 });
    client.clear();
    return sent;
  }

  it("that was followed already is the end", async () => {
    expect(await asked("/orders?after=2", {})).toEqual(["", "?after=2"]);
  });

  it("has the members of an object by the names that are sent: none is sent twice", async () => {
    const price = { min: 1, max: 5, of: { a: "b" }, none: null };
    expect(await asked("/orders?after=2&price[min]=1&price[of][a]=b", { price })).toEqual([
      "?price[min]=1&price[max]=5&price[of][a]=b",
      "?price[min]=1&price[max]=5&price[of][a]=b&after=2",
    ]);
  });
});

describe("a mutation", () => {
  it("has the value of the answer, and throws a refusal", async () => {
    const { api, client, orders } = apart(0);
    const observer = new MutationObserver(client, mutationOptions(api, "POST /orders"));
    expect(await observer.mutate({ json: { item: "pen" } })).toEqual({ id: 1, item: "pen" });
    const thrown = await thrownBy(observer.mutate({ json: { item: "unicorn" } }));
    expect(thrown).toMatchObject({ refusal: { error: "sold_out", status: 409 } });
    expect(observer.getCurrentResult().error?.refusal.error).toBe("sold_out");
    expect(orders).toHaveLength(1);
    await new MutationObserver(client, mutationOptions(api, "DELETE /orders")).mutate();
    expect(orders).toHaveLength(0);
  });
});

describe("mayRetry", () => {
  const refusal = (status: number) => new RefusedError({ ok: false, status, error: "x", message: "" });
  it.each([
    [0, true],
    [200, true],
    [500, true],
    [503, true],
    [408, true],
    [429, true],
    [400, false],
    [404, false],
    [409, false],
  ])("of status %i is %s", (status, again) => {
    expect([0, 2, 3].map((count) => mayRetry(count, refusal(status)))).toEqual([again, again, false]);
  });

  it("is false for an error that is no refusal", () => {
    const none = [undefined, null, {}, 5].map((refusal) => ({ name: "RefusedError", refusal }));
    const thrown = [new TypeError("x"), undefined, null, "x", ...none];
    expect(thrown.map((one) => mayRetry(0, one))).toEqual(Array(8).fill(false));
    expect(mayRetry(Number.NaN, refusal(503))).toBe(false);
  });

  it("asks for an order that is not there once, and for a server that is down four times", async () => {
    const { api, client, asked } = apart(0, mayRetry);
    await thrownBy(client.fetchQuery(queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 1 } })));
    expect(asked).toEqual(["one 1"]);
    let calls = 0;
    const fetch = () => (calls++, Promise.reject(new TypeError("down")));
    const down = Client.of<Routes>({ baseUrl: "http://localhost", fetch });
    const thrown = await thrownBy(client.fetchQuery(queryOptions(down, "GET /orders")));
    expect([calls, thrown]).toMatchObject([4, { refusal: { error: "unreachable", status: 0 } }]);
  });
});
