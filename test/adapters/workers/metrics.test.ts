/** Figures of a Worker, whose bundle has OpenTelemetry's packages in it (facts 11.4). */
import { expect, it } from "vitest";
import { bundle, newestOpenTelemetry, start } from "./running.ts";

const packagesWith = (serializer: string) => `import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
  import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus${serializer}";
  const packages = { MeterProvider, MetricReader, PrometheusSerializer };`;

const programWith = (options: string, packages = "") => `import { Metrics, Path, Returns, get } from "usher-http";
  import { worker } from "../../../adapters/workers/index.ts";
  ${packages}
  export default worker([
    get(Path.of("hello"), { returns: Returns.text }, () => "hi"),
    ...Metrics.routes(${options}),
  ]);`;

it.each([
  // Its index is CommonJS: a bundle would have all of it, and Node's `http`.
  ["2", "/build/src/PrometheusSerializer.js", undefined],
  ["3", "", newestOpenTelemetry],
])("MT-06 are served by a Worker that has the packages of OpenTelemetry %s", async (_version, serializer, modules) => {
  const contents = programWith("{ packages }", packagesWith(serializer));
  const script = await bundle({ contents, opentelemetry: modules });
  expect(script).not.toMatch(/from\s*"(?:http|url)"/);
  const { client } = await start(script);
  const asking = await client();
  for (let i = 0; i < 3; i++) expect((await asking.ask("GET /hello").answer()).body).toBe("hi");
  const { status, body } = await asking.ask("GET /metrics").answer();
  expect(status).toBe(200);
  expect(body).toContain(
    'http_server_request_duration_seconds_count{http_request_method="GET",url_scheme="http",http_route="/hello",http_response_status_code="200"} 3',
  );
  expect(body).toContain("http_server_active_requests 1");
  // It knows nothing of connections.
  expect(body).not.toContain("open_connections");
});

it("without them it reports what it needs", async () => {
  const { client, line } = await start(await bundle({ contents: programWith("") }));
  expect((await (await client()).ask("GET /metrics").answer()).status).toBe(500);
  const [sdk, prometheus] = ["@opentelemetry/sdk-metrics", "@opentelemetry/exporter-prometheus"];
  const needs = `${sdk} and ${prometheus}, or their classes in a bundle: npm install ${sdk} ${prometheus}`;
  await line(`GET /metrics: internal: Metrics.routes needs ${needs}`);
});
