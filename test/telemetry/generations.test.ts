/** Spans and metrics with each generation of OpenTelemetry, as an installed package finds it (rows TR-25, MT-01, MT-06). */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { Collector } from "./collector.ts";
import { installedBeside } from "./installed.ts";
import type { Generation } from "./installed.ts";
import { expectPost } from "./wire.ts";

interface Observed {
  readonly lines: readonly { readonly level: string; readonly message: string }[];
  readonly pages: readonly string[];
}

const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"];

async function observed(
  binary: string,
  flags: readonly string[],
  generation: Generation,
): Promise<Observed & { readonly collector: Collector }> {
  const collector = await Collector.up();
  const args = [...flags, "observed-program.mjs", collector.endpoint, generation];
  const { stdout } = await promisify(execFile)(binary, args, { cwd: installedBeside(generation) });
  return { ...(JSON.parse(stdout) as Observed), collector };
}

describe.each([
  ["2 on Node 20", "2", runtimes["node-oldest"], []],
  ["2 on Bun", "2", runtimes.bun, []],
  ["2 on Deno", "2", runtimes.deno, deno],
  ["3 on Node 22", "3", runtimes["node-22"], []],
  ["3 on Bun", "3", runtimes.bun, []],
  ["3 on Deno", "3", runtimes.deno, deno],
] as const)("OpenTelemetry %s", (_where, generation, binary, flags) => {
  it("TR-25 MT-06 spans are sent in each way, and metrics are read in each", async () => {
    const { collector, lines, pages } = await observed(binary(), flags, generation);
    expect(lines.map(({ message }) => message)).toEqual(Array(4).fill(expect.stringContaining("GET /raises")));
    const services = collector.posts.map(({ resource }) => resource[0]?.value);
    const names = ["imported", "given", "processor"].map((stringValue) => ({ stringValue }));
    expect(services.slice(0, 3)).toEqual(names);
    expect(collector.posts).toHaveLength(4);
    for (const post of collector.posts) expectPost(post);
    const [own = "", registered = ""] = pages;
    for (const page of pages) {
      expect(page).toContain("# TYPE http_server_request_duration_seconds histogram\n");
      expect(page).toContain("# TYPE http_server_active_requests gauge\nhttp_server_active_requests 1\n");
      expect(page).toContain(
        'http_server_request_duration_seconds_count{http_request_method="GET",url_scheme="http",http_route="/hello/{name}",http_response_status_code="200"} 1',
      );
    }
    const shop =
      '# HELP shop_hits_total Pages served\n# TYPE shop_hits_total counter\nshop_hits_total{shop_page="home"} 2\n';
    expect([own.includes(shop), registered.includes(shop)]).toEqual([false, true]);
  });
});

it("without any of its packages, log lines name the missing ones", async () => {
  const { collector, lines } = await observed(process.execPath, [], "none");
  expect(collector.posts).toEqual([]);
  expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    "error: no spans are sent: Trace.otlp needs @opentelemetry/sdk-trace and @opentelemetry/exporter-trace-otlp-http (ERR_MODULE_NOT_FOUND): npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http",
    "error: GET /raises: internal: it raised",
    "warn: dropped 4 spans: the packages are missing",
    expect.stringMatching(
      /Metrics\.routes needs @opentelemetry\/sdk-metrics and .*: npm install @opentelemetry\/sdk-metrics @opentelemetry\/exporter-prometheus$/,
    ),
  ]);
});
