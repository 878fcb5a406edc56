/** Things around a request may fail: the application's clock, tracer, meter and codecs. */
import { ROOT_CONTEXT, context, metrics, trace } from "@opentelemetry/api";
import { afterEach, describe, expect, it } from "vitest";
import { Answer, App, Codec, HttpClient, Path, Returns, Socket, Test, Trace, get, param } from "usher-http";
import { openStatement } from "../../src/telemetry/span.ts";
import { serverOfTest } from "../support/http-server.ts";
import { lines, logged } from "../support/logs.ts";
import { start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";
import { internal } from "../support/refusals.ts";

afterEach(() => {
  trace.disable();
  metrics.disable();
  context.disable();
});

const text = { returns: Returns.text };
const hello = get(Path.of("hello"), text, () => "hi");
const later = get(Path.of("later"), text, async () => "hi");
const raise = (): never => {
  throw new RangeError("s3cret");
};
const errors = () => lines().filter(({ level }) => level === "error");

describe("a clock that fails", () => {
  it.each([
    ["that raises", raise],
    ["that says nothing", () => undefined as never],
    ["that says a number", () => 0 as never],
    ["that says no time", () => new Date(Number.NaN)],
    ["that says a time before all calendars", () => new Date(-8.64e15)],
  ])("%s is a 500, and the process continues", async (_what, now) => {
    const app = App.make([hello, later], { now, notFound: () => Answer.make("none", { status: 404 }) });
    for (const path of ["/hello", "/later", "/nowhere"]) {
      const response = await app.fetch(new Request(`http://h${path}`));
      const body = await response.text();
      if (response.status !== 500) {
        expect(Date.parse(response.headers.get("date") ?? "")).not.toBeNaN();
        continue;
      }
      expect([response.status, body]).toEqual([500, internal]);
      expect(errors().length).toBeGreaterThan(0);
    }
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  it("cancels a stream that is then not sent", async () => {
    let cancelled = 0;
    const stream = new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ });
    const route = get(Path.root, { returns: Returns.response }, () => Answer.stream(stream));
    const { fetch } = App.make([route], { now: () => new Date(Number.NaN) });
    expect((await fetch(new Request("http://h/"))).status).toBe(500);
    expect(cancelled).toBe(1);
  });
});

const span = {
  spanContext: () => ({ traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1 }),
  setAttribute: raise,
  updateName: raise,
  setStatus: raise,
  end: raise,
};

const ways: readonly (readonly [what: string, register: () => void])[] = [
  ["a tracer that raises", () => trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: raise }) as never })],
  ["no tracer", () => trace.setGlobalTracerProvider({ getTracer: raise })],
  [
    "a span that raises",
    () => trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) as never }),
  ],
  ["a meter that raises", () => metrics.setGlobalMeterProvider({ getMeter: raise })],
  [
    "instruments that raise",
    () => {
      const instrument = () => ({ record: raise, add: raise, addCallback: () => {} });
      const names = ["createHistogram", "createCounter", "createUpDownCounter", "createObservableGauge"];
      const more = ["createGauge", "createObservableCounter", "createObservableUpDownCounter"];
      const meter = Object.fromEntries([...names, ...more].map((name) => [name, instrument]));
      metrics.setGlobalMeterProvider({ getMeter: () => ({ ...meter, addBatchObservableCallback() {} }) as never });
    },
  ],
];

describe("an OpenTelemetry object of the application that fails", () => {
  it.each(ways)("%s: the request is answered, and the log has the error", async (_what, register) => {
    register();
    const app = App.make([hello, later]);
    for (const path of ["/hello", "/later"]) {
      const response = await app.fetch(new Request(`http://h${path}`));
      expect([response.status, await response.text()]).toEqual([200, "hi"]);
    }
    expect(errors()[0]).toMatchObject({ "error.kind": "RangeError" });
    expect(logged().join("\n")).not.toContain("s3cret");
  });

  it.each(ways)("%s: the code of a span runs, inside a request and outside", async (_what, register) => {
    const { url } = await serverOfTest((_request, response) => void response.end("fine"));
    register();
    const client = HttpClient.make();
    const work = (): Promise<string> =>
      Trace.span("work", async (span) => {
        span.set("shop.items", 2);
        const failed = await Trace.span("fails", raise).catch((thrown: unknown) => thrown);
        const statement = openStatement("select 1");
        statement?.fail("23505");
        statement?.end();
        const unreachable = await client.fetch("http://127.0.0.1:1/").catch((thrown: unknown) => thrown);
        return `${String(failed)}, ${(unreachable as Error).name}, ${await (await client.fetch(url)).text()}`;
      });
    const done = "RangeError: s3cret, TypeError, fine";
    expect(await work()).toBe(done);
    const { status, body } = await Test.call(Test.app([get(Path.of("x"), text, work)]), "GET", "/x");
    expect([status, body]).toEqual([200, done]);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});

it("an OpenTelemetry context manager that throws is a 500, and the process continues", async () => {
  trace.setGlobalTracerProvider({
    getTracer: () =>
      ({ startSpan: () => ({ ...span, setAttribute() {}, updateName() {}, setStatus() {}, end() {} }) }) as never,
  });
  const manager = { active: () => ROOT_CONTEXT, with: raise, bind: raise };
  context.setGlobalContextManager({ ...manager, enable: () => manager, disable: () => manager } as never);
  const app = App.make([hello, later]);
  for (const path of ["/hello", "/later"]) {
    const response = await app.fetch(new Request(`http://h${path}`));
    expect([response.status, await response.text()]).toEqual([500, internal]);
  }
  expect(errors()[0]).toMatchObject({ "error.kind": "RangeError" });
  expect(logged().join("\n")).not.toContain("s3cret");
});

describe("a codec that throws", () => {
  const codec = Codec.custom({ kind: "odd", parse: raise, print: String });
  const declining = Path.param("d", codec, { unparsed: "next-route" });
  const plain = Path.param("p", codec);
  const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
  const routes = [
    hello,
    get(Path.of("declining", declining), { returns: Returns.response }, () => Answer.make("read")),
    get(Path.of("declining", declining, "socket"), { returns: Returns.websocket(protocol) }, () => async () => {}),
    get(Path.of("plain", plain), { inputs: { p: param(plain) }, returns: Returns.response }, () => Answer.make("read")),
    get(Path.of("unread", plain), { returns: Returns.websocket(protocol) }, () => async () => {}),
  ];
  const paths = ["/declining/x", "/declining/x/socket", "/plain/x"];

  it.each(paths)("is a 500: %s", async (path) => {
    const { status, body } = await Test.call(Test.app(routes), "GET", path);
    expect([status, body]).toEqual([500, internal]);
    expect(errors()[0]).toMatchObject({ "error.kind": "RangeError" });
  });

  it.each([...paths, "/unread/x"])(
    "is a 500 for a WebSocket handshake, and the process continues: %s",
    async (path) => {
      const { port } = await start(routes);
      const handshake = [
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      ];
      const client = await RawClient.to(port);
      expect((await client.ask(`GET ${path}`, handshake).answer()).status).toBe(500);
      expect((await (await RawClient.to(port)).ask("GET /hello").answer()).body).toBe("hi");
      expect(logged().join("\n")).not.toContain("s3cret");
    },
  );
});

describe("a listener of the stop of an app", () => {
  it("that throws stops neither the other listeners nor the server", async () => {
    const server = await start([hello]);
    let isTold = false;
    server.app.onDrain(raise);
    server.app.onDrain(() => (isTold = true));
    expect(await server.stop()).toBe(0);
    expect(isTold).toBe(true);
    expect(errors()).toHaveLength(1);
    await expect(fetch(`${server.url}/hello`)).rejects.toThrow("fetch failed");
    expect(() => server.app.onDrain(raise)).not.toThrow();
  });
});
