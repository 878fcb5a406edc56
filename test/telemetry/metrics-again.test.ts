/** The metrics page in a process whose first OpenTelemetry packages could not be used (rows MT). */
import { expect, it } from "vitest";
import { Metrics, Test } from "usher-http";
import { messages } from "../support/logs.ts";

function Unusable(): never {
  throw new Error("s3cret");
}
const packages = { MeterProvider: Unusable, MetricReader: Unusable, PrometheusSerializer: Unusable } as never;

it("MT a page works although the packages of an earlier one could not be used", async () => {
  const unusable = Test.app(Metrics.routes({ packages }));
  expect((await Test.call(unusable, "GET", "/metrics")).status).toBe(500);
  expect(messages("error")[0]).toContain("Metrics.routes needs @opentelemetry/sdk-metrics");
  const page = await Test.call(Test.app(Metrics.routes()), "GET", "/metrics");
  expect([page.status, page.body.includes("http_server_active_requests")]).toEqual([200, true]);
});
