/**
 * A span that an instrumentation of the server opened for a request, as `@opentelemetry/instrumentation-http` does: it starts a span of
 * kind `SERVER`, sets the metadata of the call, runs the server's listener within, and ends the span with the response.
 */
import { SpanKind, context, trace } from "@opentelemetry/api";
import type { getRPCMetadata } from "@opentelemetry/core";
import { RPCType, setRPCMetadata } from "@opentelemetry/core";
import { describe, expect, it } from "vitest";
import { App, Path, Returns, Trace, get, param } from "usher-http";
import "../support/logs.ts";
import { registered } from "./kept-spans.ts";

const id = Path.int("id");
const order = get(Path.of("orders", id), { inputs: { id: param(id) }, returns: Returns.text }, ({ id }) =>
  Trace.span("find", () => {
    if (id === 0) throw new Error("no");
    return String(id);
  }),
);
const app = App.make([order]);

/** Asks as an instrumented server does. The route that the instrumentation sees. */
async function instrumented(
  path: string,
  kind = SpanKind.SERVER,
  ask = (path: string) => app.fetch(new Request(`http://h${path}`)),
) {
  const span = trace.getTracer("instrumentation").startSpan("GET", { kind });
  const metadata: NonNullable<ReturnType<typeof getRPCMetadata>> = { type: RPCType.HTTP, span };
  const within = setRPCMetadata(trace.setSpan(context.active(), span), metadata);
  await context.with(within, async () => (await ask(path)).text());
  span.setAttribute("instrumentation", "ended");
  span.end();
  return metadata.route;
}

describe("a request within a span of an instrumentation of the server", () => {
  it("has that span alone, with its route, and its own spans are children of it", async () => {
    const { spans } = registered();
    expect(await instrumented("/orders/7")).toBe("/orders/{id}");
    const [inner, root, ...others] = spans();
    expect(others).toEqual([]);
    expect([inner?.name, root?.name, root?.kind]).toEqual(["find", "GET /orders/{id}", SpanKind.SERVER]);
    expect(inner?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
    // It is open until the instrumentation ends it.
    expect(root?.attributes).toMatchObject({
      "http.route": "/orders/{id}",
      "http.response.status_code": 200,
      "url.path": "/orders/7",
      instrumentation: "ended",
    });
  });

  it("fails it as its own, by its status", async () => {
    const { spans } = registered();
    await instrumented("/orders/0");
    const root = spans().find(({ kind }) => kind === SpanKind.SERVER);
    expect([root?.status, root?.attributes["error.type"]]).toEqual([{ code: 2, message: "500" }, "500"]);
  });

  it("keeps its name where no route answers", async () => {
    const { spans } = registered();
    expect(await instrumented("/nowhere")).toBeUndefined();
    expect(spans().map(({ name }) => name)).toEqual(["GET"]);
  });

  it("has a span of its own within one of another kind", async () => {
    const { spans } = registered();
    await instrumented("/orders/7", SpanKind.INTERNAL);
    expect(spans().map(({ name, kind }) => [name, kind])).toEqual([
      ["find", SpanKind.INTERNAL],
      ["GET /orders/{id}", SpanKind.SERVER],
      ["GET", SpanKind.INTERNAL],
    ]);
  });

  it("leaves the second request of the same span one of its own, as an app that another calls", async () => {
    const { spans } = registered();
    const front = App.make([
      get(Path.of("front"), { returns: Returns.text }, async () =>
        (await app.fetch(new Request("http://h/orders/7"))).text(),
      ),
    ]);
    await instrumented("/front", SpanKind.SERVER, (path) => front.fetch(new Request(`http://h${path}`)));
    expect(spans().map(({ name }) => name)).toEqual(["find", "GET /orders/{id}", "GET /front"]);
    const server = spans().filter(({ kind }) => kind === SpanKind.SERVER);
    expect(server[0]?.parentSpanContext?.spanId).toBe(server[1]?.spanContext().spanId);
  });
});
