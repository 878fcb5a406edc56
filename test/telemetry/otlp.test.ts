/** Spans that are sent to a collector (contract 8; facts 11.3; rows TR-25, TR-27, TR-28). */
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Path, Returns, Test, Trace, get } from "usher-http";
import { Collector as SpanCollector, batchArguments } from "../../src/telemetry/exporter.ts";
import { lines, logWith, messages } from "../support/logs.ts";
import { active, keepsNothing } from "../support/memory.ts";
import { gate, start } from "../support/node-server.ts";
import { Collector } from "./collector.ts";
import { expectPost } from "./wire.ts";

const text = { returns: Returns.text };
const routes = [
  get(Path.of("hello", Path.str("name")), text, () => "hi"),
  get(Path.of("raises"), text, () => {
    throw new Error("no");
  }),
  get(Path.of("work"), text, () =>
    Trace.span("work", (span) => (span.set("shop.ratio", 0.5), span.set("shop.gift", true), "")),
  ),
];

const made: Trace.Exporter[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(made.splice(0).map((exporter) => exporter.shutdown()));
});

function begin(endpoint: string, headers?: { readonly [name: string]: string }) {
  const trace = Trace.otlp({ endpoint, service: "shop", ...(headers === undefined ? {} : { headers }) });
  made.push(trace);
  const app = Test.app(routes, { trace });
  return {
    trace,
    ask: async (count: number, target = "/hello/kim") => {
      for (let i = 0; i < count; i++) await Test.call(app, "GET", target);
    },
  };
}

const warnings = () => lines().filter((line) => line["level"] === "warn");
const dropped = () =>
  warnings().reduce((sum, { message }) => sum + Number(/ (\d+) spans?/.exec(String(message))?.[1]), 0);

describe("a post of spans", () => {
  it("TR-25 has the format of OTLP", async () => {
    const collector = await Collector.up();
    const { trace, ask } = begin(`${collector.endpoint}/`, { "x-key": "k" });
    await ask(1);
    await ask(1, "/raises");
    await ask(1, "/work");
    await trace.flush();
    const [post] = collector.posts;
    expect(post?.headers["x-key"]).toBe("k");
    expect(post?.resource[0]).toEqual({ key: "service.name", value: { stringValue: "shop" } });
    expectPost(post);
  });

  it("is sent after 5 s", async () => {
    const collector = await Collector.up();
    const { trace, ask } = begin(collector.endpoint);
    // The packages are loaded.
    await trace.flush();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await ask(3);
    await vi.advanceTimersByTimeAsync(4999);
    expect(collector.posts).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await collector.came(1);
    expect(collector.spans).toHaveLength(3);
  });

  it("TR-27 is sent as soon as 512 spans wait; and the next after the response, if as many wait then", async () => {
    const collector = await Collector.up();
    const { ask } = begin(collector.endpoint);
    collector.hold();
    await ask(512);
    await collector.came(1);
    await ask(600);
    expect(collector.posts).toHaveLength(1);
    collector.release();
    await collector.came(2);
    expect(collector.posts.map(({ spans }) => spans.length)).toEqual([512, 512]);
    expect(warnings()).toEqual([]);
  });
});

describe("dropped spans are counted: with a slow or unreachable collector", () => {
  it("TR-28 above 2048 that wait, while the collector is slow", async () => {
    const collector = await Collector.up();
    const { trace, ask } = begin(collector.endpoint);
    collector.hold();
    await ask(512);
    await collector.came(1);
    await ask(2048 + 77);
    collector.release();
    await trace.flush();
    expect(collector.spans).toHaveLength(512 + 2048);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(512 + 2048);
    expect(warnings().map(({ message }) => message)).toEqual([
      "dropped 77 spans: more ended than the collector was sent",
    ]);
    expect(warnings()[0]).toMatchObject({ "logger.name": "framework.trace" });
  });

  it("TR-28 when the collector answers 500, and works afterwards", async () => {
    const collector = await Collector.up();
    const { trace, ask } = begin(collector.endpoint);
    collector.status = 500;
    await ask(600);
    await trace.flush();
    expect(collector.spans).toEqual([]);
    expect(warnings()).toHaveLength(2);
    expect(dropped()).toBe(600);
    expect(warnings().map(({ message }) => message)).toContain("the collector refused 512 spans: 500");
    expect(JSON.stringify(warnings())).not.toContain("secret");
    collector.status = 200;
    await ask(10);
    await trace.flush();
    expect(collector.spans.length + dropped()).toBe(610);
  });

  it("TR-28 when the collector is unreachable, and returns in time", async () => {
    const collector = await Collector.up();
    await collector.down();
    const { trace, ask } = begin(collector.endpoint);
    await ask(30);
    const flushed = trace.flush();
    await ask(30);
    await collector.up();
    await flushed;
    await trace.flush();
    expect(collector.spans.length + dropped()).toBe(60);
    expect(collector.spans).toHaveLength(60);
  }, 15_000);

  it("TR-28 when the collector stays unreachable; no request is affected", async () => {
    const collector = await Collector.up();
    await collector.down();
    const { trace, ask } = begin(collector.endpoint);
    await ask(10);
    await trace.flush();
    expect(dropped()).toBe(10);
    expect(String(warnings()[0]?.["message"])).toMatch(/^could not send 10 spans to the collector: ECONNREFUSED$/);
  }, 20_000);
});

describe("dropped spans are counted: without a response", () => {
  it("TR-28 when the collector accepts a post and never responds: given up after 10 s", async () => {
    const collector = await Collector.up();
    const { trace, ask } = begin(collector.endpoint);
    await trace.flush();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    collector.hold();
    await ask(512);
    await collector.came(1);
    await ask(7);
    const flushed = trace.flush();
    await collector.came(2);
    await vi.advanceTimersByTimeAsync(9999);
    expect(warnings()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await flushed;
    expect(warnings().map(({ message }) => message)).toEqual([
      "could not send 512 spans to the collector: timeout",
      "could not send 7 spans to the collector: timeout",
    ]);
    collector.release();
  });

  it("TR-28 in any state of the collector: the received and the dropped spans are all spans", async () => {
    const deeds = fc.record({
      status: fc.constantFrom(200, 400, 500),
      count: fc.integer({ min: 0, max: 3000 }),
      isSlow: fc.boolean(),
      then: fc.constantFrom("nothing", "flush", "another flush"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(deeds, { minLength: 1, maxLength: 4 }), async (all) => {
        logWith({});
        const collector = await Collector.up();
        const { trace, ask } = begin(collector.endpoint);
        const flushes: Promise<void>[] = [];
        for (const { status, count, isSlow, then } of all) {
          collector.status = status;
          if (isSlow) collector.hold();
          await ask(count);
          if (then !== "nothing") flushes.push(trace.flush());
          if (then === "another flush") flushes.push(trace.flush());
          collector.release();
        }
        await Promise.all([trace.shutdown(), ...flushes]);
        expect(collector.spans.length + dropped()).toBe(all.reduce((sum, { count }) => sum + count, 0));
        expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(collector.spans.length);
        await collector.down();
      }),
      { numRuns: 15 },
    );
  });

  it("a post whose timer ended with a Worker's request is given up by a later flush", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const exporter = { export: () => {}, shutdown: async () => {} };
    const collector = new SpanCollector(
      async (counted) => new BatchSpanProcessor(...batchArguments(counted(exporter))),
    );
    const trace = Trace.exporter({ processor: collector });
    await Test.call(Test.app(routes, { trace }), "GET", "/hello/kim");
    const flushed = trace.flush();
    await vi.advanceTimersByTimeAsync(0);
    vi.clearAllTimers();
    await vi.advanceTimersByTimeAsync(10_001);
    await trace.flush();
    await flushed;
    expect(warnings().map(({ message }) => message)).toEqual(["could not send 1 span to the collector: timeout"]);
  });
});

it("a post that has ended leaves nothing behind", async () => {
  const exporter = { export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }) };
  const collector = new SpanCollector(async (counted) => {
    const { export: post } = counted({ ...exporter, shutdown: async () => {} });
    const sent = async () => {};
    return { onStart: () => {}, onEnd: (span) => post([span] as never, () => {}), forceFlush: sent, shutdown: sent };
  });
  await collector.forceFlush();
  await keepsNothing(async () => {
    for (let i = 0; i < 2000; i++) collector.onEnd({} as never);
    await collector.forceFlush();
  });
});

describe("before the packages are loaded", () => {
  const exported: unknown[] = [];
  /** Created like the packages' own, when they are loaded. */
  function collect() {
    const loaded = gate<"there" | "missing">();
    const collector = new SpanCollector(async (counted) => {
      if ((await loaded.passed) === "missing")
        throw Object.assign(new Error("secret"), { code: "ERR_MODULE_NOT_FOUND" });
      const exporter = counted({
        export: (spans: readonly unknown[], done) => (exported.push(...spans), done({ code: 0 })),
        shutdown: async () => {},
      });
      return new BatchSpanProcessor(...batchArguments(exporter));
    });
    const trace = Trace.exporter({ processor: collector });
    const app = Test.app(routes, { trace });
    return { loaded, trace, call: () => Test.call(app, "GET", "/hello/kim") };
  }

  it("the same number of spans can wait, and none of them is lost", async () => {
    const { loaded, trace, call } = collect();
    for (let i = 0; i < 2048 + 3; i++) await call();
    const flushed = trace.flush();
    loaded.open("there");
    await flushed;
    await call();
    await trace.flush();
    expect(exported.splice(0)).toHaveLength(2049);
    expect(warnings().map(({ message }) => message)).toEqual([
      "dropped 3 spans: more ended than the collector was sent",
    ]);
  });

  it("without the packages, a line names them, and lines count the unsent spans", async () => {
    const { loaded, trace, call } = collect();
    await call();
    loaded.open("missing");
    await trace.flush();
    await call();
    await trace.shutdown();
    expect(lines().filter(({ level }) => level !== "info")).toMatchObject([
      {
        level: "error",
        message:
          "no spans are sent: Trace.otlp needs @opentelemetry/sdk-trace and @opentelemetry/exporter-trace-otlp-http (ERR_MODULE_NOT_FOUND): npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http",
      },
      { level: "warn", message: "dropped 1 span: the packages are missing" },
      { level: "warn", message: "dropped 1 span: the packages are missing" },
    ]);
  });
});

it.each<readonly [how: string, end: () => Promise<void>]>([
  ["ends", async () => {}],
  ["fails", async () => Promise.reject(new Error("no"))],
  ["hangs", () => new Promise(() => {})],
])("the exporter is shut down after its last post, also when that %s", async (_how, end) => {
  const calls: string[] = [];
  const collector = new SpanCollector(async (counted) => {
    const exporter = counted({
      export: (spans: readonly unknown[], done) => (calls.push(`export ${spans.length}`), done({ code: 0 })),
      shutdown: () => (calls.push("shutdown"), end()),
    });
    return new BatchSpanProcessor(...batchArguments(exporter));
  });
  const trace = Trace.exporter({ processor: collector });
  await Test.call(Test.app(routes, { trace }), "GET", "/hello/kim");
  await trace.shutdown();
  expect(calls).toEqual(["export 1", "shutdown"]);
});

it("a span that ends after the shutdown is counted, too", async () => {
  const collector = await Collector.up();
  const trace = Trace.otlp({ endpoint: collector.endpoint, service: "shop" });
  const [begun, held] = [gate(), gate<string>()];
  const app = Test.app([get(Path.of("held"), text, () => (begun.open(), held.passed))], { trace });
  const asked = Test.call(app, "GET", "/held");
  await begun.passed;
  await trace.shutdown();
  held.open("");
  await asked;
  expect(dropped()).toBe(1);
});

it.each(["throws", "rejects", "hangs"])("a processor whose flush %s does not affect the app", async (how) => {
  const fails = () => {
    if (how === "throws") throw new Error("no");
    return how === "rejects" ? Promise.reject(new Error("no")) : new Promise<void>(() => {});
  };
  const processor = { onStart: () => {}, onEnd: () => {}, forceFlush: fails, shutdown: fails };
  const trace = Trace.exporter({ processor });
  if (how === "hangs") vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const over = Promise.all([trace.flush(), trace.shutdown()]);
  if (how === "hangs") await vi.advanceTimersByTimeAsync(30_000);
  expect(await over).toEqual([undefined, undefined]);
});

it("the remaining spans are sent at the shutdown", async () => {
  const collector = await Collector.up();
  const { trace, ask } = begin(collector.endpoint);
  await ask(1300);
  await trace.shutdown();
  expect(collector.spans).toHaveLength(1300);
  made.length = 0;
});

it("a server that stops sends the waiting spans", async () => {
  const collector = await Collector.up();
  const { trace } = begin(collector.endpoint);
  const server = await start(routes, { trace });
  for (let i = 0; i < 3; i++) await (await fetch(`${server.url}/hello/kim`)).text();
  expect(collector.spans).toEqual([]);
  await server.stop();
  expect(collector.spans).toHaveLength(3);
});

it.each(["rejects", "throws"])("a server stops although the flush of its exporter %s", async (how) => {
  const failing = (): Promise<void> => {
    if (how === "throws") throw new Error("s3cret");
    return Promise.reject(new Error("s3cret"));
  };
  const trace = { tracer: { open: () => undefined }, flush: failing, shutdown: failing };
  const before = process.listenerCount("SIGTERM");
  const server = await start(routes, { trace, signals: true });
  expect(await server.stop()).toBe(0);
  expect(process.listenerCount("SIGTERM")).toBe(before);
  expect(messages("error")).toEqual(["the flush of the exporter raised"]);
  expect(messages("info").at(-1)).toBe("stopped");
});

it("a server that has stopped does not wait for a flush that has ended: its process may end", async () => {
  const done = async () => {};
  const trace = { tracer: { open: () => undefined }, flush: done, shutdown: done };
  const server = await start(routes, { trace });
  const before = active("Timeout");
  await server.stop();
  expect(active("Timeout")).toBeLessThanOrEqual(before);
});

it.each(["", "localhost:4318", "ftp://collector", "http://", "http:///v1", "/v1/traces", "http://a b"])(
  "an invalid endpoint is refused: %j",
  (endpoint) => {
    expect(() => Trace.otlp({ endpoint, service: "shop" })).toThrow(
      "Trace.otlp: endpoint must be the http or https URL",
    );
  },
);
