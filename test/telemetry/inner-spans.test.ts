/** Spans of the application's own: a refusal that their code throws, and code that is not to be traced. */
import { SpanStatusCode, context } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { HttpClient, Log, Path, Refusal, Returns, Test, Trace, get, refuse } from "usher-http";
import { serverOfTest } from "../support/http-server.ts";
import { lines } from "../support/logs.ts";
import { kept, named, registered } from "./kept-spans.ts";

const gone = Refusal.code("gone", { status: 410, doc: "It went." });
const shop = Log.source("shop");

describe.each([
  ["an exporter", () => kept()],
  ["a registered provider", () => ({ ...registered(), trace: undefined })],
])("by %s", (_way, begin) => {
  it.each([
    [gone, SpanStatusCode.UNSET],
    [Refusal.busy, SpanStatusCode.ERROR],
  ])("a refusal that its code throws is no error below 500: %j", async (code, status) => {
    const { trace, spans } = begin();
    const refusing = get(Path.of("refusing"), { returns: Returns.text, refuses: [gone] }, () =>
      Trace.span("find", () => {
        throw refuse(code);
      }),
    );
    await Test.call(Test.app([refusing], trace === undefined ? {} : { trace }), "GET", "/refusing");
    const span = named(spans(), "find");
    expect([span.status.code, span.attributes]).toEqual([status, { "framework.refusal.code": code.name }]);
  });
});

describe("where the application suppresses tracing, as a job that polls does", () => {
  /** What `suppressTracing` of `@opentelemetry/core` sets. */
  const suppressed = () =>
    context.active().setValue(Symbol.for("OpenTelemetry SDK Context Key SUPPRESS_TRACING"), true);
  const poll = async () => {
    const traceparents: unknown[] = [];
    const { url } = await serverOfTest((request, response) => {
      traceparents.push(request.headers["traceparent"]);
      response.end("fine");
    });
    const client = HttpClient.make({ baseUrl: url });
    await context.with(suppressed(), () =>
      Trace.span("poll", async () => {
        shop.info("polling");
        await (await client.fetch("/")).text();
      }),
    );
    return traceparents;
  };

  it("no span is made, and no trace is passed on", async () => {
    const { spans } = registered();
    expect(await poll()).toEqual([undefined]);
    expect(spans()).toEqual([]);
    expect(lines()[0]).not.toHaveProperty("trace_id");
  });

  it("in a request, lines and calls have the trace of that", async () => {
    const { spans } = registered();
    let traceparents: unknown[] = [];
    const polling = get(Path.of("polling"), { returns: Returns.text }, async () => {
      traceparents = await poll();
      return "";
    });
    await Test.call(Test.app([polling]), "GET", "/polling");
    const { traceId } = named(spans(), "GET /polling").spanContext();
    expect(traceparents).toEqual([expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`)]);
    expect(lines().map((line) => line["trace_id"])).toEqual([traceId, traceId]);
    expect(spans()).toHaveLength(1);
  });
});
