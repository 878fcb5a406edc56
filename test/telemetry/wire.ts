/** The bytes of a post, from any version of OpenTelemetry. */
import { expect } from "vitest";
import type { Post } from "./collector.ts";

/**
 * A post of four spans: of `GET /hello/{name}`, of a request whose handler threw, of a piece of work, and of its request.
 */
export function expectPost(post: Post | undefined): void {
  expect([post?.url, post?.headers["content-type"]]).toEqual(["/v1/traces", "application/json"]);
  expect(post?.scope).toBe("usher-http");
  expect(post?.spans).toHaveLength(4);
  const [hello, raises, work, request] = post?.spans ?? [];
  for (const span of post?.spans ?? []) {
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(span.startTimeUnixNano).toMatch(/^\d{19}$/);
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThan(BigInt(span.startTimeUnixNano));
    expect(BigInt(span.startTimeUnixNano) / 1_000_000_000n).toBeGreaterThan(BigInt(Math.floor(Date.now() / 1000) - 60));
  }
  expect([hello?.name, hello?.kind, hello?.parentSpanId]).toEqual(["GET /hello/{name}", 2, undefined]);
  const attributes = Object.fromEntries((hello?.attributes ?? []).map(({ key, value }) => [key, value]));
  expect(attributes["http.route"]).toEqual({ stringValue: "/hello/{name}" });
  // A 64-bit number is a text or a number: a reader accepts both (OTLP, "JSON Protobuf Encoding").
  expect(Number(attributes["http.response.status_code"]?.["intValue"])).toBe(200);
  expect(raises?.status).toEqual({ code: 2, message: "500" });
  expect([work?.kind, work?.parentSpanId]).toEqual([1, request?.spanId]);
  expect(work?.attributes).toEqual([
    { key: "shop.ratio", value: { doubleValue: 0.5 } },
    { key: "shop.gift", value: { boolValue: true } },
  ]);
}
