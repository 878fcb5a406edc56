/** The fields of a request's log lines, and text that is never in them (contract 2.12, 5.10; rows LG-10, LG-12). */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  App,
  Codec,
  Cookie,
  Deadline,
  Dep,
  Event,
  Header,
  Log,
  Path,
  Query,
  Result,
  Returns,
  Test,
  clientGone,
  get,
  json,
  post,
  requestId,
} from "usher-http";
import type { AppOptions } from "usher-http";
import * as v from "valibot";
import { eventually } from "../support/eventually.ts";
import { lines, logWith, logged } from "../support/logs.ts";
import { memory } from "../support/memory.ts";
import { gate, start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";

const text = { returns: Returns.text };

it("LG-10 no header, cookie, query or body is in any line, whatever the answer", async () => {
  logWith({ level: "debug" });
  const secret = "s3cret";
  const inputs = {
    auth: Header.optional("authorization", Codec.credentials),
    n: Header.optional("x-n", Codec.int),
    session: Cookie.optional(Cookie.named("session", Codec.int)),
    code: Query.optional("code", Codec.int),
    body: json(v.object({ password: v.number() })),
  };
  const all = post(Path.of("all"), { inputs, ...text }, () => "");
  const open = post(Path.of("open"), { inputs: { body: json(v.object({ password: v.string() })) }, ...text }, () => "");
  const called = Test.app([
    all,
    open,
    post(
      Path.of("raises"),
      { inputs: { x: Dep.ofRequest(() => Result.ok()) }, ...text },
      () => JSON.parse(secret) as string,
    ),
  ]);
  const headers = {
    authorization: `Bearer ${secret}`,
    cookie: `session=${secret}`,
    "x-n": secret,
    "x-request-id": secret,
    host: secret,
  };
  for (const path of ["/all", "/open", "/raises", "/nowhere"]) {
    for (const body of [`{"password":"${secret}"}`, secret]) {
      await Test.call(called, "POST", `${path}?code=${secret}`, { headers, body });
    }
  }
  expect(logged().length).toBeGreaterThanOrEqual(8);
  expect(logged().join("\n")).not.toContain(secret);
});

const shop = Log.source("shop");

describe("LG-12 a request's id: its lines", () => {
  it("is on every line of its work, in all asynchronous code", async () => {
    const busy = get(
      Path.of("busy"),
      { inputs: { requestId, a: Dep.join({}, () => shop.info("input")) }, ...text },
      async ({ requestId }) => {
        shop.info("handler");
        await setImmediate();
        shop.info("awaited");
        await new Promise<void>((resolve) => setTimeout(() => (shop.info("timer"), resolve())));
        await Promise.all([
          setImmediate().then(() => shop.info("forked")),
          Promise.resolve().then(() => shop.info("micro")),
        ]);
        return `${requestId} ${Log.requestId()}`;
      },
    );
    const { body, headers } = await Test.call(Test.app([busy]), "GET", "/busy");
    const id = headers.get("x-request-id");
    expect(body).toBe(`${id} ${id}`);
    expect(lines()).toHaveLength(7);
    expect(new Set(lines().map((line) => line["request_id"]))).toEqual(new Set([id]));
    for (const member of ["trace_id", "span_id"]) expect(new Set(lines().map((line) => line[member])).size).toBe(1);
  });

  it("is its own for concurrent requests", async () => {
    const slow = get(Path.of("slow"), text, async () => {
      await setImmediate();
      shop.info("slow");
      return Log.requestId() ?? "";
    });
    const calls = Test.app([slow]);
    const answered = await Promise.all(Array.from({ length: 20 }, () => Test.call(calls, "GET", "/slow")));
    expect(answered.map(({ body }) => body)).toEqual(answered.map(({ headers }) => headers.get("x-request-id")));
    const ids = lines()
      .filter((line) => line["message"] === "slow")
      .map((line) => line["request_id"]);
    expect(new Set(ids).size).toBe(20);
  });

  it("is on no line outside of a request", async () => {
    await Test.call(Test.app([get(Path.root, text, () => "")]), "GET", "/");
    shop.info("outside");
    expect([Log.requestId(), Object.keys(lines().at(-1) ?? {})]).toEqual([
      undefined,
      ["timestamp", "level", "logger.name", "message"],
    ]);
  });
});

describe("LG-12 a request's id: after its end", () => {
  it.each<[what: string, options: AppOptions]>([
    ["", {}],
    [" that had a deadline", { deadline: Deadline.make(10_000) }],
  ])(
    "is on a line of work that outlives its answer, and nothing else of its request is kept%s",
    async (_what, options) => {
      const { passed, open } = gate();
      const begins = get(Path.root, text, () => {
        void passed.then(() => shop.info("late"));
        return "";
      });
      const app = App.make([begins], options);
      expect(await leftOf(new Headers(), (request) => app.fetch(request))).toBeUndefined();
      open();
      await setImmediate();
      const [answered, late] = lines();
      expect(late).toMatchObject({
        message: "late",
        request_id: answered?.["request_id"],
        trace_id: answered?.["trace_id"],
      });
    },
  );

  it.each([
    ["with the trace of its caller", "4bf92f3577b34da6a3ce929d0e0e4736"],
    ["with a trace that begins here", undefined],
  ])("is the only thing that is kept also without an access line, %s", async (_what, traceId) => {
    logWith({ level: "warn" });
    const { passed, open } = gate();
    const begins = get(Path.root, text, () => {
      void passed.then(() => shop.warn("late"));
      return "";
    });
    const app = App.make([begins]);
    const headers = new Headers(traceId === undefined ? {} : { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    expect(await leftOf(headers, (request) => app.fetch(request))).toBeUndefined();
    open();
    await setImmediate();
    expect(lines()).toMatchObject([{ message: "late", trace_id: traceId ?? expect.stringMatching(/^[0-9a-f]{32}$/) }]);
  });

  it("is on the lines of listeners to a disconnect of its client", async () => {
    const heard = gate();
    const feed = get(
      Path.of("feed"),
      { inputs: { clientGone }, returns: Returns.events([Event.text("word")]) },
      ({ clientGone }) =>
        async (send) => {
          clientGone.addEventListener("abort", () => (shop.info("gone"), heard.open()));
          await send(Event.make(Event.text("word"), "one"));
          await heard.passed;
          shop.info("after");
        },
    );
    const { port } = await start([feed]);
    const client = await RawClient.to(port);
    client.send("GET /feed HTTP/1.1", "host: h", "", "");
    await client.sees("one");
    client.leave();
    await heard.passed;
    await eventually(() => expect(lines().map(({ message }) => message)).toContain("after"));
    const ofShop = lines().filter((line) => line["logger.name"] === "shop");
    expect(ofShop.map(({ message, request_id }) => [message, typeof request_id])).toEqual([
      ["gone", "string"],
      ["after", "string"],
    ]);
  });
});

/** What a garbage collection leaves of a request that was answered: undefined if nothing keeps it. */
async function leftOf(headers: Headers, answer: (request: Request) => unknown): Promise<Request | undefined> {
  // A function of its own: otherwise this one would keep the request while it waits.
  const ask = async (): Promise<WeakRef<Request>> => {
    const request = new Request("http://shop.test/", { headers });
    await answer(request);
    return new WeakRef(request);
  };
  const request = await ask();
  await memory();
  return request.deref();
}
