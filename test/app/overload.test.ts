/** Overload: above `maxInFlight`, the answer is 503 `busy` before anything of a request is read. */
import { trace } from "@opentelemetry/api";
import { afterEach, describe, expect, it, vi, onTestFinished } from "vitest";
import {
  Answer,
  App,
  Codec,
  Cors,
  Deadline,
  Event,
  Header,
  Health,
  Meta,
  Metrics,
  Overload,
  Path,
  Refusal,
  Returns,
  bodyStream,
} from "usher-http";
import { Result, Socket, get, json, param, post, refuse } from "usher-http";
import type { AppOptions, Middleware, Route } from "usher-http";
import * as v from "valibot";
import { never, settle } from "../support/clock.ts";
import { gate } from "../support/gate.ts";
import { lines, messages } from "../support/logs.ts";

const at = Path.of("x");
const text = { returns: Returns.text };
const ask = (app: App, target = "/x", request: RequestInit = {}) =>
  app.fetch(new Request(`http://h${target}`, request));
const statuses = (answers: readonly Promise<Response>[]) =>
  Promise.all(answers.map(async (answer) => (await answer).status));
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const tick = Event.text("tick");
const busy = { error: "busy", message: "The server is busy. Please try again in a moment." };
afterEach(() => trace.disable());

/** An app whose requests in flight wait at a gate, until `maxInFlight` is reached. */
function full(count: number, routes: readonly Route[] = [], options: AppOptions = {}) {
  const ready = gate<string>();
  const slow = get(Path.of("slow"), text, () => ready.passed);
  const app = App.make([slow, ...routes], { overload: Overload.make({ maxInFlight: count }), ...options });
  // Otherwise the line of what it refused since would come a minute later, in the test of another file.
  onTestFinished(() => app.drain());
  const waiting = Array.from({ length: count }, () => ask(app, "/slow"));
  return { app, waiting, ready };
}

describe("an app above maxInFlight", () => {
  it("answers 503 busy, and serves again once a request is answered", async () => {
    const { app, waiting, ready } = full(2);
    const refused = await ask(app, "/slow");
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([503, "1", busy]);
    expect(refused.headers.get("x-request-id")).not.toBeNull();
    ready.open("done");
    expect(await statuses(waiting)).toEqual([200, 200]);
    expect((await ask(app, "/slow")).status).toBe(200);
  });

  it("reads nothing of a refused request: no body, no input, no middleware", async () => {
    const read: string[] = [];
    const seen = Codec.custom<string>({
      kind: "seen",
      parse: (given) => (read.push(given), Result.ok(given)),
      print: String,
    });
    const inputs = { header: Header.optional("authorization", seen), sent: json(v.string()) };
    const middleware: Middleware = (_request, next) => (read.push("middleware"), next());
    const { app } = full(1, [post(at, { inputs, ...text }, () => "x")], { middleware: [middleware] });
    read.splice(0);
    const sent = new ReadableStream({ pull: () => void read.push("body") }, { highWaterMark: 0 });
    const request = { method: "POST", body: sent, duplex: "half", headers: { authorization: "a" } } as RequestInit;
    expect([(await ask(app, "/x", request)).status, read]).toEqual([503, []]);
  });

  it.each([
    ["a path without a route", "/nowhere", {}, 503],
    ["another method", "/x", { method: "DELETE" }, 503],
    ["OPTIONS", "/x", { method: "OPTIONS" }, 503],
    ["a WebSocket", "/socket", { headers: { upgrade: "websocket" } }, 503],
    ["an event stream", "/events", {}, 503],
    ["a page of another site", "/x", { method: "POST", headers: { origin: "http://elsewhere.example" } }, 503],
    // A browser does not show a refused preflight to the page. The request after it is refused, with its reason.
    [
      "the preflight of a browser",
      "/x",
      { method: "OPTIONS", headers: { origin: "http://shop.example", "access-control-request-method": "GET" } },
      204,
    ],
    ["a probe", "/livez", {}, 200],
    ["the other probe", "/readyz", {}, 200],
    ["the metrics", "/metrics", {}, 200],
    ["a route that says so", "/exempt", {}, 200],
  ] as const)("answers %s", async (_what, target, request, status) => {
    const routes = [
      get(at, text, () => "x"),
      get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async () => {}),
      get(Path.of("events"), { returns: Returns.events([tick]) }, () => async () => {}),
      get(Path.of("exempt"), { ...text, meta: Meta.empty.add(Meta.overload, "exempt") }, () => "x"),
      ...Health.routes([Health.check("db", () => Result.ok(undefined))]),
      ...Metrics.routes(),
    ];
    const cors = Cors.make({ origins: ["http://shop.example"] });
    const { app } = full(1, routes as readonly Route[], { cors });
    expect((await ask(app, target, request)).status).toBe(status);
  });

  it("lets pages of allowed other origins read the 503, in the format and language of the app", async () => {
    const cors = Cors.make({ origins: ["http://shop.example"] });
    const { app } = full(1, [], { cors, secureHeaders: undefined as never });
    const answer = await ask(app, "/slow", { headers: { origin: "http://shop.example" } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([503, "http://shop.example"]);
    const head = await ask(app, "/slow", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([503, ""]);
  });
});

describe("a request that is refused above maxInFlight", () => {
  it("is logged in one line for all, and has no access line", async () => {
    const { app } = full(1);
    await statuses(Array.from({ length: 1000 }, () => ask(app, "/slow")));
    expect(messages("warn")).toEqual(["requests refused with 503 busy past maxInFlight (1): 1"]);
    expect(lines()).toHaveLength(1);
    // The others are logged within a minute, or when the server stops earlier.
    app.drain();
    expect(messages("warn").slice(1)).toEqual(["requests refused with 503 busy past maxInFlight (1): 999"]);
  });

  it("is counted in the metrics", async () => {
    const { app } = full(1, Metrics.routes());
    const counted = async () => {
      const page = await (await ask(app, "/metrics")).text();
      return Number(
        /^framework_server_overload_refused_total\{framework_overload_bound="maxInFlight"\} (\d+)$/mu.exec(page)?.[1],
      );
    };
    const before = await counted();
    await statuses([ask(app, "/slow"), ask(app, "/slow")]);
    expect(await counted()).toBe(before + 2);
  });

  it("is never one that Meta.overload exempts, which holds no place", async () => {
    const ready = gate<string>();
    const meta = Meta.empty.add(Meta.overload, "exempt");
    const app = App.make([get(at, { ...text, meta }, () => ready.passed), get(Path.of("y"), text, () => "y")], {
      overload: Overload.make({ maxInFlight: 1 }),
    });
    const waiting = [ask(app), ask(app), ask(app)];
    expect((await ask(app, "/y")).status).toBe(200);
    ready.open("x");
    expect(await statuses(waiting)).toEqual([200, 200, 200]);
  });
});

const number = Path.int("n");
const later = async () => "x";
const raises = (): never => {
  throw new Error("no");
};
const sent = post(at, { inputs: { sent: json(v.string()) }, ...text }, later);
const headers = { "content-type": "application/json" };
const posted = (body: string): RequestInit => ({ method: "POST", body, headers });

type Row = readonly [what: string, route: Route, target?: string, request?: RequestInit, options?: AppOptions];
const ends: readonly Row[] = [
  ["an answer at once", get(at, text, () => "x")],
  ["an answer later", get(at, text, later)],
  ["a refusal", get(at, { ...text, refuses: [Refusal.notFound] }, () => refuse(Refusal.notFound))],
  ["a handler that throws", get(at, text, raises)],
  ["a handler that rejects", get(at, text, async () => raises())],
  ["an invalid input", get(Path.of("x", number), { ...text, inputs: { n: param(number) } }, later), "/x/no"],
  ["no route", get(at, text, later), "/nowhere"],
  ["a function for that which throws", get(at, text, later), "/nowhere", {}, { notFound: raises }],
  ["another site's page", post(at, text, later), "/x", { method: "POST", headers: { origin: "http://e.example" } }],
  ["middleware that answers", get(at, text, later), "/x", {}, { middleware: [async () => new Response("m")] }],
  ["middleware that throws", get(at, text, later), "/x", {}, { middleware: [raises] }],
  ["an answer that cannot be written", get(at, text, () => 1 as never)],
  ["a clock that throws", get(at, text, later), "/x", {}, { now: raises }],
  ["a deadline", get(at, text, never), "/x", {}, { deadline: Deadline.make(1) }],
  ["a body", sent, "/x", posted('"a"')],
  ["a wrong body", sent, "/x", posted("{")],
  ["a body that is too long", sent, "/x", posted("a".repeat(9)), { maxBody: 8 }],
  ["a body as it arrives", post(at, { inputs: { sent: bodyStream({ max: 6 }) }, ...text }, later), "/x", posted("a")],
  ["HEAD", get(at, text, later), "/x", { method: "HEAD" }],
];

describe("a place of maxInFlight", () => {
  it.each(ends.map((row) => [row[0], row] as const))("is free after %s", async (_what, row) => {
    const [, route, target, request, options] = row;
    const app = App.make([route], { overload: Overload.make({ maxInFlight: 1 }), ...options });
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await (await ask(app, target, request)).text());
    expect(answers.join()).not.toContain(busy.message);
  });

  it("is free although the application's tracer throws", async () => {
    const span = { spanContext: raises, setAttribute: raises, updateName: raises, setStatus: raises, end: raises };
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) as never });
    const app = App.make([get(at, text, later)], { overload: Overload.make({ maxInFlight: 1 }) });
    expect(await statuses([await ask(app), await ask(app)].map((answer) => Promise.resolve(answer)))).not.toContain(
      503,
    );
  });

  it("is free while an event stream is open, from its head on", async () => {
    const over = gate();
    const events = get(at, { returns: Returns.events([tick]) }, () => async (send) => {
      await send(Event.make(tick, "one"));
      await over.passed;
    });
    const app = App.make([events], { overload: Overload.make({ maxInFlight: 1 }) });
    const streams = [await ask(app), await ask(app), await ask(app)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    over.open();
    expect(await Promise.all(streams.map((stream) => stream.text()))).toHaveLength(3);
  });

  it("is not held while a body arrives slowly; without a place at its end, the answer is 503", async () => {
    const slow = gate<string>();
    const slowly = post(at, { inputs: { sent: json(v.string()) }, ...text }, () => slow.passed);
    const app = App.make([slowly, get(Path.of("y"), text, later)], { overload: Overload.make({ maxInFlight: 1 }) });
    const uploads = [upload(app), upload(app), upload(app)];
    await settle();
    expect((await ask(app, "/y")).status).toBe(200);
    for (const { end } of uploads) end('"a"');
    await settle();
    slow.open("x");
    const answers = await Promise.all(uploads.map(async ({ answer }) => answer));
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await ask(app, "/x", posted('"a"'))).status).toBe(200);
    expect(messages("info")).toEqual(["GET /y 200", "POST /x 200", "POST /x 200"]);
  });

  it("is not available for a body; middleware may replace the 503, and its answer has an access line", async () => {
    const held = gate<string>();
    const middleware: Middleware = async (_request, next) => {
      const answer = await next();
      return answer.refused === undefined ? answer : Answer.make("later");
    };
    const app = App.make([sent, get(Path.of("held"), text, () => held.passed)], {
      overload: Overload.make({ maxInFlight: 1 }),
      middleware: [middleware],
    });
    const { answer, end } = upload(app);
    await settle();
    const holding = ask(app, "/held");
    end('"a"');
    expect(await (await answer).text()).toBe("later");
    held.open("x");
    await holding;
    expect(messages("info")).toEqual(["POST /x 200", "GET /held 200"]);
  });

  it.each(['"a"', ""])("is not taken by a body that ends after the deadline of its request: %j", async (body) => {
    const app = App.make([sent], { overload: Overload.make({ maxInFlight: 1 }), deadline: Deadline.make(1) });
    const { answer, end } = upload(app);
    expect((await answer).status).toBe(503);
    end(body);
    await settle();
    expect(await (await ask(app, "/nowhere")).json()).toMatchObject({ error: "not_found" });
  });
});

it("a place is freed once, also by a request whose body fails", async () => {
  const held = gate<string>();
  const app = App.make([sent, get(Path.of("held"), text, () => held.passed)], {
    overload: Overload.make({ maxInFlight: 1 }),
  });
  const { answer, fail } = upload(app);
  await settle();
  fail();
  expect((await answer).status).toBe(400);
  const answers = [ask(app, "/held"), ask(app, "/held")];
  await settle();
  held.open("x");
  expect(await statuses(answers)).toEqual([200, 503]);
});

/** A request whose body has begun. */
function upload(app: App) {
  let sending: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sending = controller) });
  const answer = ask(app, "/x", { method: "POST", body, headers, duplex: "half" });
  const end = (text: string): void => {
    if (text !== "") sending.enqueue(new TextEncoder().encode(text));
    sending.close();
  };
  return { answer, end, fail: () => sending.error(new Error("cut")) };
}

describe("Overload.make", () => {
  it.each<readonly [options: object, sentence: string]>([
    [{}, "set maxInFlight, maxEventLoopDelayMs or both"],
    [{ maxInFlight: 0 }, "maxInFlight is a whole number, 1 or more, and not 0"],
    [{ maxInFlight: 1.5 }, "maxInFlight is a whole number, 1 or more, and not 1.5"],
    [{ maxInFlight: "many" }, 'maxInFlight is a whole number, 1 or more, and not "many"'],
    [{ maxInFlight: null }, "maxInFlight is a whole number, 1 or more, and not null"],
    [
      { maxEventLoopDelayMs: 9 },
      "maxEventLoopDelayMs is a whole number of milliseconds from 10 to 2147483647, and not 9",
    ],
    [
      { maxEventLoopDelayMs: Number.NaN },
      "maxEventLoopDelayMs is a whole number of milliseconds from 10 to 2147483647, and not NaN",
    ],
  ])("refuses %o", (options, sentence) => {
    expect(() => Overload.make(options)).toThrow(`Overload.make: ${sentence}`);
  });
});

describe("App.make", () => {
  it("counts for each app by itself, also where they have one value", async () => {
    const ready = gate<string>();
    const routes = [get(at, text, () => ready.passed)];
    const overload = Overload.make({ maxInFlight: 1 });
    const [one, other] = [App.make(routes, { overload }), App.make(routes, { overload })];
    onTestFinished(() => [one, other].forEach((app) => app.drain()));
    const waiting = [ask(one), ask(other)];
    expect(await statuses([ask(one), ask(other)])).toEqual([503, 503]);
    ready.open("x");
    expect(await statuses(waiting)).toEqual([200, 200]);
  });

  it.each([
    ["overload", 10, "overload is a number, and not made by Overload.make: write Overload.make({ maxInFlight })"],
    [
      "overload",
      { maxInFlight: 1 },
      "overload is another object, and not made by Overload.make: write Overload.make({ maxInFlight })",
    ],
    ["maxInFlight", 10, "maxInFlight is no option of an app: write overload: Overload.make({ maxInFlight })"],
    [
      "maxEventLoopDelayMs",
      50,
      "maxEventLoopDelayMs is no option of an app: write overload: Overload.make({ maxEventLoopDelayMs })",
    ],
  ])("refuses %s: %o, and says what to write", (name, value, sentence) => {
    expect(() => App.make([get(at, text, later)], { [name]: value })).toThrow(`App.make: ${sentence}`);
  });

  it("refuses a value of Meta.overload that is not valid, and names the route", () => {
    const route = get(at, { ...text, meta: Meta.empty.add(Meta.overload, true as never) }, later);
    expect(() => App.make([route])).toThrow('App.make: GET /x: its Meta.overload is "exempt", and not a boolean');
  });

  it("refuses overload on Workers", () => {
    const overload = Overload.make({ maxInFlight: 100 });
    vi.stubGlobal("WebSocketPair", Object);
    expect(() => App.make([get(at, text, later)], { overload })).toThrow("App.make: overload is not for Workers");
    vi.unstubAllGlobals();
  });
});
