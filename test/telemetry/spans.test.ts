/** Spans (contract 2.13; facts 11.3; rows TR-01, TR-19, TR-22, TR-24), by an exporter of the app's and by a registered provider. */
import { setTimeout as after } from "node:timers/promises";
import { SpanKind, SpanStatusCode, trace as otel } from "@opentelemetry/api";
import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import {
  Answer,
  App,
  Codec,
  Log,
  Path,
  Query,
  Refusal,
  Returns,
  Test,
  Trace,
  after as afterAnswer,
  get,
  param,
  refuse,
  route,
} from "usher-http";
import type { AppOptions } from "../../src/app/app.ts";
import { openStatement } from "../../src/telemetry/span.ts";
import { CallExchange } from "../../src/testing/call.ts";
import { lines, logWith } from "../support/logs.ts";
import { kept, named, registered } from "./kept-spans.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const caller = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${caller}-01`;
const name = Path.str("name");
const text = { returns: Returns.text };
const gone = Refusal.code("gone", { status: 410, doc: "It went." });
const shop = Log.source("shop");

class OutOfStock extends Error {}

const routes = [
  get(Path.of("hello", name), { inputs: { name: param(name), q: Query.optional("q", Codec.string) }, ...text }, () => {
    shop.info("hello");
    return "hi";
  }),
  get(Path.of("gone"), { ...text, refuses: [gone] }, () => refuse(gone)),
  get(Path.of("raises"), text, () => {
    throw new OutOfStock("secret");
  }),
  get(Path.of("busy"), text, () => refuse(Refusal.busy)),
  route("PURGE", Path.of("cache"), text, () => ""),
  get(Path.of("work"), text, async () => {
    const price = await Trace.span("price", async (span) => {
      span.set("shop.items", 2);
      shop.info("pricing");
      await after(1);
      const statement = openStatement("select $1");
      statement?.end();
      return Trace.span("tax", () => 3);
    });
    shop.info("priced");
    return String(price);
  }),
  get(Path.of("fails"), text, async () => {
    const statement = openStatement("select 1 / $1");
    statement?.fail("DivisionByZero");
    statement?.end();
    await Trace.span("stock", () => Promise.reject(new OutOfStock("secret")));
    return "";
  }),
  get(Path.of("bodiless"), { returns: Returns.response }, () => Answer.make("text", { status: 205 })),
  get(Path.of("stream"), { returns: Returns.response }, () => {
    async function* parts() {
      yield new TextEncoder().encode("a");
      await Trace.span("part", () => {});
      yield new TextEncoder().encode("b");
    }
    return Answer.stream(parts());
  }),
];

const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan) => span.spanContext().spanId;

/** The ways in which spans leave an app. */
const ways = [
  ["an exporter", () => kept()],
  ["a registered provider", () => ({ ...registered(), trace: undefined })],
  ["a registered provider without a context manager", () => ({ ...registered({ context: false }), trace: undefined })],
] as const;

type Begin = (typeof ways)[number][1];

/** Calls the app and returns its spans. */
const calling =
  (begin: Begin) =>
  async (method: string, target: string, headers: { readonly [name: string]: string } = {}) => {
    const { trace, spans } = begin();
    const options: AppOptions = trace === undefined ? {} : { trace };
    const answered = await Test.call(Test.app(routes, options), method, target, { headers });
    return { answered, spans: spans() };
  };

describe.each(ways)("by %s: names and times", (_way, begin) => {
  const call = calling(begin);

  it("TR-01 the span of a request is a server span, named by method and route, and a child of its caller's span", async () => {
    const { spans } = await call("GET", "/hello/kim?q=secret", { traceparent });
    expect(spans).toHaveLength(1);
    const [span] = spans as [ReadableSpan];
    expect([span.name, span.kind, parentOf(span), span.parentSpanContext?.isRemote]).toEqual([
      "GET /hello/{name}",
      SpanKind.SERVER,
      caller,
      true,
    ]);
    expect(span.spanContext().traceId).toBe(traceId);
    expect(span.attributes).toEqual({
      "http.request.method": "GET",
      "url.path": "/hello/kim",
      "url.scheme": "http",
      "http.route": "/hello/{name}",
      "http.response.status_code": 200,
      "http.response.body.size": 2,
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(lines().map((line) => [line["trace_id"], line["span_id"]])).toEqual(
      Array.from({ length: 2 }, () => [traceId, idOf(span)]),
    );
  });

  it.each([
    ["HEAD", "/hello/kim", 200],
    ["GET", "/bodiless", 205],
  ])("the body size is the number of sent bytes: none to %s %s", async (method, target, status) => {
    const { spans } = await call(method, target);
    expect(spans[0]?.attributes).toMatchObject({
      "http.response.status_code": status,
      "http.response.body.size": 0,
    });
  });

  it("the times are those of `now`, with the real duration", async () => {
    const before = Date.now();
    const { spans } = await call("GET", "/work");
    const span = named(spans, "GET /work");
    const at = ([seconds, nanoseconds]: readonly [number, number]) => seconds * 1000 + nanoseconds / 1e6;
    expect(at(span.startTime)).toBeGreaterThanOrEqual(before);
    expect(at(span.endTime)).toBeLessThanOrEqual(Date.now() + 1);
    expect(at(span.duration)).toBeCloseTo(at(span.endTime) - at(span.startTime), 2);
    expect(at(span.duration)).toBeGreaterThanOrEqual(at(named(spans, "price").duration));
  });
});

describe.each(ways)("by %s: outcomes", (_way, begin) => {
  const call = calling(begin);

  it.each([
    ["TR-22", "/gone", 410, "gone", undefined],
    ["TR-22", "/hello/", 404, "not_found", undefined],
    ["TR-22", "/raises", 500, "internal", "500"],
    ["TR-22", "/busy", 503, "busy", "503"],
  ])("%s %s", async (_id, target, status, code, failed) => {
    const { spans } = await call("GET", target);
    const [span] = spans as [ReadableSpan];
    expect(span.attributes).toMatchObject({ "http.response.status_code": status, "framework.refusal.code": code });
    expect(span.attributes["error.type"]).toBe(failed);
    expect([span.status.code, span.status.message]).toEqual(
      failed === undefined ? [SpanStatusCode.UNSET, undefined] : [SpanStatusCode.ERROR, failed],
    );
  });

  it.each([
    ["GET", "/nowhere/at/all", "GET"],
    ["POST", "/hello/kim", "POST"],
    ["HEAD", "/hello/kim", "HEAD /hello/{name}"],
    ["PURGE", "/cache", "HTTP /cache"],
    ["PROPFIND", "/cache", "HTTP"],
  ])("TR no span is named by a path or a text of the client: %s %s", async (method, target, expected) => {
    const { spans } = await call(method, target);
    const [span] = spans as [ReadableSpan];
    expect(span.name).toBe(expected);
    const isKnown = !expected.startsWith("HTTP");
    expect(span.attributes["http.request.method"]).toBe(isKnown ? method : "_OTHER");
    expect(span.attributes["http.request.method_original"]).toBe(isKnown ? undefined : method);
  });
});

describe.each(ways)("by %s: inner spans", (_way, begin) => {
  const call = calling(begin);

  it("TR-19 spans of the application, and of statements, are inside it; lines have the innermost span", async () => {
    const { spans, answered } = await call("GET", "/work");
    expect(answered.body).toBe("3");
    const [request, price, tax, statement] = ["GET /work", "price", "tax", "postgresql"].map((name) =>
      named(spans, name),
    );
    expect([price, tax, statement].map((span) => parentOf(span as ReadableSpan))).toEqual([
      idOf(request as ReadableSpan),
      idOf(price as ReadableSpan),
      idOf(price as ReadableSpan),
    ]);
    expect([price?.kind, price?.attributes]).toEqual([SpanKind.INTERNAL, { "shop.items": 2 }]);
    expect([statement?.kind, statement?.attributes]).toEqual([
      SpanKind.CLIENT,
      { "db.system.name": "postgresql", "db.query.text": "select $1" },
    ]);
    expect(lines().map((line) => [line["message"], line["span_id"]])).toEqual([
      ["pricing", idOf(price as ReadableSpan)],
      ["priced", idOf(request as ReadableSpan)],
      ["GET /work 200", idOf(request as ReadableSpan)],
    ]);
    expect(new Set(lines().map((line) => line["request_id"])).size).toBe(1);
  });

  it("TR-24 a span whose code throws has the kind of the error, and the error passes", async () => {
    const { spans, answered } = await call("GET", "/fails");
    expect(answered.status).toBe(500);
    const [stock, statement] = [named(spans, "stock"), named(spans, "postgresql")];
    expect([stock.status, stock.attributes]).toEqual([
      { code: SpanStatusCode.ERROR, message: "OutOfStock" },
      { "exception.type": "OutOfStock", "error.at": expect.stringContaining("spans.test.ts") },
    ]);
    expect(statement.status).toEqual({ code: SpanStatusCode.ERROR, message: "DivisionByZero" });
    expect(lines()[0]).toMatchObject({ level: "error", "error.kind": "OutOfStock" });
    expect(JSON.stringify(spans.map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain(
      "secret",
    );
  });

  it("spans of a stream are inside its request's span, which ended with its head", async () => {
    const { spans } = await call("GET", "/stream");
    expect(parentOf(named(spans, "part"))).toBe(idOf(named(spans, "GET /stream")));
  });

  it("with every source of logs off they are recorded, too", async () => {
    logWith({ level: undefined });
    const { spans } = await call("GET", "/work");
    expect(parentOf(named(spans, "price"))).toBe(idOf(named(spans, "GET /work")));
  });
});

it("with every source of logs off, a task of an unsampled request has no span of another request", async () => {
  logWith({ level: undefined });
  const { trace, spans } = kept();
  const route = get(Path.of("x"), { inputs: { after: afterAnswer }, ...text }, ({ after }) => {
    after(() => Trace.span("task", () => {}));
    return "x";
  });
  const app = App.make([route], { trace });
  class OwnTurn extends CallExchange {
    readonly ownsTurn = true;
  }
  // Each in its own turn; their tasks share one.
  for (const flags of ["01", "00"]) {
    const headers = { traceparent: `00-${traceId}-${caller}-${flags}` };
    setImmediate(() => void app.answer(new OwnTurn("GET", "/x", { headers }, undefined)));
  }
  await new Promise(setImmediate);
  await app.settled(60_000);
  expect(spans().map(({ name }) => name)).toEqual(["GET /x", "task"]);
});

describe("sampling", () => {
  const app = (trace: Trace.Exporter) => Test.app(routes, { trace });

  it.each([
    [1, 200],
    [2, 200],
    [0, 0],
    [-1, 0],
  ])("of traces that begin here, at ratio %d: %d of 200", async (ratio, expected) => {
    const { trace, spans } = kept(ratio);
    for (let i = 0; i < 200; i++) await Test.call(app(trace), "GET", "/hello/kim");
    expect(spans()).toHaveLength(expected);
  });

  it("at a ratio between 0 and 1 depends on the trace id", async () => {
    const { trace, spans } = kept(0.5);
    for (let i = 0; i < 1000; i++) await Test.call(app(trace), "GET", "/hello/kim");
    // Three in a million million are outside of it.
    expect(spans().length).toBeGreaterThan(390);
    expect(spans().length).toBeLessThan(610);
    for (const span of spans())
      expect(Number.parseInt(span.spanContext().traceId.slice(-13), 16)).toBeLessThan(2 ** 51);
  });

  it.each([
    ["01", 1],
    ["00", 0],
    ["03", 1],
    ["02", 0],
  ])("follows the sampled flag of the caller, at any ratio: flags %s", async (flags, expected) => {
    for (const ratio of [0, 1]) {
      const { trace, spans } = kept(ratio);
      const headers = { traceparent: `00-${traceId}-${caller}-${flags}` };
      await Test.call(app(trace), "GET", "/work", { headers });
      expect(spans()).toHaveLength(expected * 4);
    }
    expect(lines().filter((line) => line["trace_id"] !== traceId)).toEqual([]);
  });

  it("records nothing after the exporter's shutdown", async () => {
    const { trace, spans } = kept();
    await trace.shutdown();
    expect((await Test.call(app(trace), "GET", "/work")).status).toBe(200);
    expect(spans()).toEqual([]);
  });

  it("records nothing without an exporter and a provider, and every line has its trace", async () => {
    await Test.call(Test.app(routes), "GET", "/work", { headers: { traceparent } });
    expect(lines()).toHaveLength(3);
    expect(new Set(lines().map((line) => line["trace_id"]))).toEqual(new Set([traceId]));
    expect(new Set(lines().map((line) => line["span_id"])).size).toBe(1);
  });

  it.each([["a", Number.NaN]])("refuses a ratio that is not a number", (_what, ratio) => {
    expect(() => kept(ratio)).toThrow("Trace: ratio cannot be NaN");
  });

  it("a span processor that throws fails no request", async () => {
    const raise = () => {
      throw new Error("no");
    };
    const processor = {
      onStart: raise,
      onEnd: raise,
      forceFlush: () => Promise.reject(new Error("no")),
      shutdown: () => Promise.reject(new Error("no")),
    };
    const trace = Trace.exporter({ processor });
    expect((await Test.call(app(trace), "GET", "/work")).body).toBe("3");
    await trace.flush();
    await trace.shutdown();
  });
});

describe("with a registered provider", () => {
  it("spans that other libraries open in a handler are inside the request's span, and the framework's inside theirs", async () => {
    const { spans } = registered();
    const theirs = otel.getTracer("theirs");
    const mixed = get(Path.of("mixed"), text, async () => {
      await after(1);
      await theirs.startActiveSpan("their work", async (span) => {
        await Trace.span("our work", () => {});
        span.end();
      });
      return "";
    });
    await Test.call(Test.app([mixed]), "GET", "/mixed", { headers: { traceparent } });
    const [request, their, our] = ["GET /mixed", "their work", "our work"].map((name) => named(spans(), name));
    expect([parentOf(request as ReadableSpan), parentOf(their as ReadableSpan), parentOf(our as ReadableSpan)]).toEqual(
      [caller, idOf(request as ReadableSpan), idOf(their as ReadableSpan)],
    );
  });

  it("a request that it does not sample is not recorded, and begins no trace of its own", async () => {
    const { spans } = registered({ sampler: new AlwaysOffSampler() });
    await Test.call(Test.app(routes), "GET", "/work", { headers: { traceparent } });
    expect(spans()).toEqual([]);
    expect(new Set(lines().map((line) => line["trace_id"]))).toEqual(new Set([traceId]));
  });

  it("an app with an exporter of its own uses that", async () => {
    const theirs = registered();
    const own = kept();
    await Test.call(Test.app(routes, { trace: own.trace }), "GET", "/work");
    expect([own.spans().length, theirs.spans().length]).toEqual([4, 0]);
  });

  it("a tracestate reaches it unchanged", async () => {
    const { spans } = registered();
    await Test.call(Test.app(routes), "GET", "/hello/kim", { headers: { traceparent, tracestate: "a=1,b=2" } });
    const state = spans()[0]?.parentSpanContext?.traceState;
    expect([state?.serialize(), state?.get("b"), state?.set("c", "3").unset("a").serialize()]).toEqual([
      "a=1,b=2",
      "2",
      "c=3,b=2",
    ]);
  });

  it("a span outside of requests is the root of its trace", async () => {
    const { spans } = registered();
    await Trace.span("start", () => Trace.span("inner", () => shop.info("starting")));
    const [start, inner] = [named(spans(), "start"), named(spans(), "inner")];
    expect([parentOf(start), parentOf(inner)]).toEqual([undefined, idOf(start)]);
    expect(lines()[0]).toMatchObject({ trace_id: start.spanContext().traceId, span_id: idOf(inner) });
    expect(lines()[0]).not.toHaveProperty("request_id");
  });
});

it("outside of requests, without a provider, a span has only its ids", async () => {
  const ids = await Trace.span("start", ({ traceId, spanId }) => [traceId, spanId]);
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{16}$/)]);
});
