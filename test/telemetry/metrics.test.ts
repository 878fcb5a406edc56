/** Metrics (facts 11.4; rows MT), as Prometheus reads them and as a registered provider receives them. */
import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { afterEach, describe, expect, it } from "vitest";
import {
  App,
  Background,
  Codec,
  Dep,
  Header,
  HttpClient,
  Metrics,
  Path,
  Refusal,
  Returns,
  Test,
  after,
  body,
  get,
  post,
  refuse,
  route,
} from "usher-http";
import { measurePool } from "../../src/telemetry/measure.ts";
import { lines, logWith } from "../support/logs.ts";
import { gate, start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";

const text = { returns: Returns.text };
afterEach(() => metrics.disable());

/** The lines of a page, by the text before the value. */
function samples(page: string): ReadonlyMap<string, number> {
  const told = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    told.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

const page = async (app: Test.TestApp, at = "/metrics") => (await Test.call(app, "GET", at)).body;
/** The number of requests of a route with this status. */
const count = (page: string, method: string, pattern: string | undefined, status: number) => {
  const error = status >= 500 ? `,error_type="${status}"` : "";
  const route = pattern === undefined ? "" : `http_route="${pattern}",`;
  const labels = `http_request_method="${method}",url_scheme="http",${route}http_response_status_code="${status}"${error}`;
  return samples(page).get(`http_server_request_duration_seconds_count{${labels}}`);
};

const held = gate<string>();
const routes = [
  ...Metrics.routes(),
  get(Path.of("hello", Path.str("name")), text, () => "hi"),
  get(Path.of("raises"), text, () => {
    throw new Error("no");
  }),
  get(Path.of("held"), text, () => held.passed),
  post(Path.of("body"), { inputs: { body }, ...text }, () => ""),
  route("PURGE", Path.of("cache"), text, () => ""),
];
const app = Test.app(routes);

describe("GET /metrics: requests", () => {
  it("is text in Prometheus' format, and its access line is at debug", async () => {
    await page(app);
    const answered = await Test.call(app, "GET", "/metrics");
    expect(answered.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answered.body).toContain("# TYPE http_server_request_duration_seconds histogram\n");
    expect(answered.body).toContain("# HELP http_server_request_duration_seconds Duration of HTTP server requests.\n");
    expect(answered.body).toContain("# TYPE http_server_active_requests gauge\nhttp_server_active_requests 1\n");
    for (const line of answered.body.trim().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? [\d.e+-]+)$/);
    }
    expect(lines()).toEqual([]);
    logWith({ level: "debug" });
    await page(app);
    expect(lines()).toHaveLength(1);
  });

  it("MT-06 counts requests by method, route and status, and by no text of a client", async () => {
    const before = await page(app);
    await Test.call(app, "GET", "/hello/kim?q=secret");
    await Test.call(app, "GET", "/hello/lee");
    await Test.call(app, "GET", "/raises");
    await Test.call(app, "GET", "/no/where");
    await Test.call(app, "PROPFIND", "/cache");
    await Test.call(app, "PURGE", "/cache");
    const now = await page(app);
    const grown = (...of: [string, string | undefined, number]) =>
      (count(now, ...of) ?? 0) - (count(before, ...of) ?? 0);
    expect(grown("GET", "/hello/{name}", 200)).toBe(2);
    expect(grown("GET", "/raises", 500)).toBe(1);
    expect(grown("GET", undefined, 404)).toBe(1);
    expect(grown("_OTHER", undefined, 501)).toBe(1);
    expect(grown("_OTHER", "/cache", 200)).toBe(1);
    expect(now).not.toMatch(/kim|secret|PROPFIND/);
  });

  it("MT-04 has their duration in seconds, in the recommended buckets", async () => {
    await Test.call(app, "GET", "/hello/kim");
    const told = samples(await page(app));
    const prefix = "http_server_request_duration_seconds";
    const labels =
      'http_request_method="GET",url_scheme="http",http_route="/hello/{name}",http_response_status_code="200"';
    const buckets = [...told.keys()].filter((key) => key.startsWith(`${prefix}_bucket{${labels},le=`));
    expect(buckets.map((key) => /le="(.*)"/.exec(key)?.[1])).toEqual(
      "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf".split(" "),
    );
    const count = told.get(`${prefix}_count{${labels}}`) as number;
    expect(told.get(buckets.at(-1) as string)).toBe(count);
    expect(told.get(`${prefix}_sum{${labels}}`)).toBeGreaterThan(0);
    expect(told.get(`${prefix}_sum{${labels}}`)).toBeLessThan(10 * count);
  });
});

describe("GET /metrics: work", () => {
  it("has tasks after answers, and background work, until they end", async () => {
    const ready = gate();
    const background = Background.create();
    const route = get(Path.of("x"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
      after(() => ready.passed);
      background.start("a report", () => ready.passed);
      return "x";
    });
    const { fetch } = App.make([route]);
    const names = ["framework_server_after_active", "framework_background_active"];
    const figures = async () => {
      const told = samples(await page(app));
      return names.map((name) => told.get(name)).join();
    };
    for (let turn = 0; turn < 2; turn++) await fetch(new Request("http://h/x"));
    expect(await figures()).toBe("2,2");
    ready.open();
    await expect.poll(figures).toBe("0,0");
  });
});

describe("GET /metrics: connections and calls", () => {
  it("MT-06 has the requests in flight, and the bytes that are held", async () => {
    const { url, port } = await start(routes);
    const asked = fetch(`${url}/held`);
    const client = await RawClient.to(port);
    client.send("POST /body HTTP/1.1", "host: h", "content-length: 6", "", "abc");
    const figures = async () => {
      const told = samples(await (await fetch(`${url}/metrics`)).text());
      return [told.get("http_server_active_requests"), told.get("framework_server_body_budget_used_bytes")];
    };
    while ((await figures()).join() !== "3,3") await new Promise((resolve) => setTimeout(resolve, 2));
    held.open("held");
    client.send("def");
    expect([(await (await asked).text()).length, (await client.answer()).status]).toEqual([4, 200]);
    expect(await figures()).toEqual([1, 0]);
  });

  it("MT-06 has the open connections, of a listener that counts them", async () => {
    const server = await start(routes);
    const { url, port } = server;
    const figure = async () => samples(await page(app)).get("framework_server_open_connections");
    await (await fetch(`${url}/metrics`)).text();
    const before = (await figure()) as number;
    const clients = await Promise.all([RawClient.to(port), RawClient.to(port)]);
    while ((await figure()) !== before + 2) await new Promise((resolve) => setTimeout(resolve, 2));
    for (const client of clients) client.leave();
    while ((await figure()) !== before) await new Promise((resolve) => setTimeout(resolve, 2));
    await server.stop();
    expect(await figure()).toBe(before - 1);
  });

  it("MT-10 has the connections of each pool", async () => {
    const ends = [
      measurePool("postgres", () => ({ idle: 1, used: 2, pending: 0 })),
      measurePool("reports", () => ({ idle: 0, used: 4, pending: 7 })),
    ];
    const pool = (name: string) => `db_client_connection_pool_name="${name}"`;
    const told = samples(await page(app));
    for (const [name, idle, used, pending] of [
      ["postgres", 1, 2, 0],
      ["reports", 0, 4, 7],
    ] as const) {
      expect(told.get(`db_client_connection_count{${pool(name)},db_client_connection_state="idle"}`)).toBe(idle);
      expect(told.get(`db_client_connection_count{${pool(name)},db_client_connection_state="used"}`)).toBe(used);
      expect(told.get(`db_client_connection_pending_requests{${pool(name)}}`)).toBe(pending);
    }
    for (const end of ends) end();
    expect(samples(await page(app)).get(`db_client_connection_pending_requests{${pool("reports")}}`)).toBe(0);
  });

  it("has the calls that were made, by their host and their result", async () => {
    const { url, port } = await start([get(Path.root, text, () => "hi")]);
    const client = HttpClient.make();
    await (await client.fetch(`${url}/?q=secret`)).text();
    await (await client.fetch(`${url}/no/where`)).text();
    await client.fetch("http://127.0.0.1:1").catch(() => {});
    const told = await page(app);
    const called = (to: number, how: string) =>
      samples(told).get(
        `http_client_request_duration_seconds_count{http_request_method="GET",server_address="127.0.0.1",server_port="${to}",${how}}`,
      );
    expect(called(port, 'http_response_status_code="200"')).toBe(1);
    expect(called(port, 'http_response_status_code="404",error_type="404"')).toBe(1);
    expect(called(1, 'error_type="unreachable"')).toBe(1);
    expect(told).not.toContain("secret");
  });
});

describe("GET /metrics: the page", () => {
  it("has everything, with every source of logs off", async () => {
    logWith({ level: undefined });
    const before = count(await page(app), "GET", "/hello/{name}", 200) ?? 0;
    await Test.call(app, "GET", "/hello/kim");
    expect(count(await page(app), "GET", "/hello/{name}", 200)).toBe(before + 1);
  });

  it("is at the path of its option", async () => {
    const moved = Test.app(Metrics.routes({ at: Path.of("internal", "figures") }));
    expect(await page(moved, "/internal/figures")).toContain("http_server_active_requests");
    expect((await Test.call(moved, "GET", "/metrics")).status).toBe(404);
  });

  it("MT-07 is only for callers that its guard accepts", async () => {
    const keyless = Refusal.code("keyless", { status: 403, doc: "The figures' key is missing." });
    const key = Header.optional("x-key", Codec.string);
    const guard = Dep.join({ key }, ({ key }) => (key === "k" ? key : refuse(keyless)), { refuses: [keyless] });
    const guarded = Test.app(Metrics.routes({ guard }));
    const without = await Test.call(guarded, "GET", "/metrics");
    expect([without.status, without.body]).toEqual([
      403,
      '{"error":"keyless","message":"The figures\' key is missing."}',
    ]);
    expect((await Test.call(guarded, "GET", "/metrics", { headers: { "x-key": "k" } })).body).toContain("# TYPE");
  });
});

class OnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
/** A provider of the application, and a page of what its meter receives. */
function meter() {
  const reader = new OnDemand();
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  const app = Test.app([...Metrics.routes({ reader }), get(Path.of("theirs"), text, () => "")]);
  return { shop: provider.getMeter("shop"), app };
}

describe("with a provider that the application registered: exporters", () => {
  it("its exporters receive the framework's metrics", async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    await Test.call(Test.app([get(Path.of("theirs"), text, () => "")]), "GET", "/theirs");
    await reader.forceFlush();
    const told = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    const duration = told.find(({ descriptor }) => descriptor.name === "http.server.request.duration");
    expect([duration?.descriptor.unit, duration?.dataPoints.map(({ attributes }) => attributes)]).toEqual([
      "s",
      [
        {
          "http.request.method": "GET",
          "url.scheme": "http",
          "http.route": "/theirs",
          "http.response.status_code": 200,
        },
      ],
    ]);
    await reader.shutdown();
  });

  it("MT-01 Metrics.routes serves its own instruments next to them", async () => {
    const { shop, app } = meter();
    const hits = shop.createCounter("shop.hits", { description: "Pages served" });
    for (const page of ["home", "home", 'a"b\\c\nd', ""]) hits.add(1, { "shop.page": page });
    await Test.call(app, "GET", "/theirs");
    const told = await page(app);
    expect(told).toContain(
      [
        "# HELP shop_hits_total Pages served",
        "# TYPE shop_hits_total counter",
        'shop_hits_total{shop_page="home"} 2',
        'shop_hits_total{shop_page="a\\"b\\\\c\\nd"} 1',
        "",
      ].join("\n"),
    );
    // An empty label counts as absent (Prometheus's data model).
    expect(told).toMatch(/^shop_hits_total 1$/m);
    expect(count(told, "GET", "/theirs", 200)).toBe(1);
  });
});

describe("with a provider that the application registered: the page", () => {
  it.each([
    ["By", "shop_cache_bytes 1.5"],
    ["bytes", "shop_cache_bytes 1.5"],
    ["ms", "shop_cache_milliseconds 1.5"],
    ["%", "shop_cache_percent 1.5"],
    ["{page}", "shop_cache 1.5"],
    ["", "shop_cache 1.5"],
  ])("MT-03 a sampled gauge has its unit in its name, %j", async (unit, expected) => {
    const { shop, app } = meter();
    shop.createObservableGauge("shop.cache", { unit }).addCallback((result) => result.observe(1.5));
    expect((await page(app)).split("\n")).toContain(expected);
  });

  it("MT-04 a histogram has its buckets, its sum and its count", async () => {
    const { shop, app } = meter();
    const sizes = shop.createHistogram("shop.size", { advice: { explicitBucketBoundaries: [10, 100] } });
    for (const size of [5, 50, 500.5]) sizes.record(size, { "shop.kind": "pen" });
    const told = samples(await page(app));
    const bucket = (le: string) => told.get(`shop_size_bucket{shop_kind="pen",le="${le}"}`);
    expect([bucket("10"), bucket("100"), bucket("+Inf")]).toEqual([1, 2, 3]);
    expect([told.get('shop_size_sum{shop_kind="pen"}'), told.get('shop_size_count{shop_kind="pen"}')]).toEqual([
      555.5, 3,
    ]);
  });

  it("MT-09 a gauge whose sampling fails is left out, and the page is sent", async () => {
    const { shop, app } = meter();
    shop.createObservableGauge("shop.fails").addCallback(() => {
      throw new Error("no");
    });
    shop.createObservableGauge("shop.rejects").addCallback(() => Promise.reject(new Error("no")));
    shop.createObservableGauge("shop.goes").addCallback((result) => result.observe(1));
    const answered = await Test.call(app, "GET", "/metrics");
    expect(answered.status).toBe(200);
    expect(answered.body).toMatch(/^shop_goes 1$/m);
    expect(answered.body).not.toMatch(/^shop_(fails|rejects)/m);
  });
});
