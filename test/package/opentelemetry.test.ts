/** The package with each generation of OpenTelemetry: the versions that npm resolves, and the types that the compiler accepts. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { installedBeside } from "../telemetry/installed.ts";
import { startCatalog } from "./catalog.ts";
import { compilerOptions, newest } from "./compilers.ts";
import { onPath } from "./projects.ts";

const run = promisify(execFile);

describe("in an empty folder npm resolves", () => {
  let catalog: string;
  const folder = mkdtempSync(join(tmpdir(), "usher-resolved-"));
  beforeAll(async () => {
    catalog = await startCatalog();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The versions after the packages were installed in turn. npm takes no version that its own Node is too old for. */
  async function resolved(node: string, turns: readonly string[]): Promise<(name: string) => string> {
    const cwd = mkdtempSync(join(folder, "project-"));
    const options = ["--package-lock-only", "--no-audit", "--no-fund", `--cache=${join(folder, "npm")}`];
    for (const turn of turns) {
      const args = [onPath("npm"), "install", ...options, `--registry=${catalog}`, ...turn.split(" ")];
      await run(node, args, { cwd, env: { PATH: process.env["PATH"], HOME: folder } });
    }
    const lock = JSON.parse(readFileSync(join(cwd, "package-lock.json"), "utf8")) as {
      readonly packages: { readonly [path: string]: { readonly version?: string } };
    };
    return (name) => lock.packages[`node_modules/${name}`]?.version ?? "none";
  }

  const traces = "@opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http";
  const metrics = "@opentelemetry/sdk-metrics @opentelemetry/exporter-prometheus";
  const [node20, node22] = [runtimes["node-oldest"](), runtimes["node-22"]()];
  it.each([
    ["the newest packages", node22, ["usher-http", `${traces} ${metrics}`], ["3", "3", "0.301", "1.10"]],
    ["those for Node 20 on Node 20", node20, [`usher-http ${traces} ${metrics}`], ["2", "2", "0.223", "1.9"]],
    [
      "those for Node 20 where they are named",
      node22,
      ["usher-http", "@opentelemetry/sdk-trace@2 @opentelemetry/exporter-trace-otlp-http@0.223"],
      ["2", "2", "0.223", "1.9"],
    ],
  ])("%s", async (_what, node, turns, expected) => {
    const version = await resolved(node, turns);
    expect(version("usher-http")).not.toBe("none");
    const names = ["sdk-trace", "sdk-metrics", "exporter-trace-otlp-http", "api"];
    const found = names.map((name) => version(`@opentelemetry/${name}`));
    expect(found).toEqual(expected.map((start) => expect.stringMatching(new RegExp(`^${start}(?:\\.|$)`))));
  });
});

const classes = `
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import type { SpanProcessor } from "@opentelemetry/sdk-trace";
import { Metrics, Trace } from "usher-http";

const exporter = new OTLPTraceExporter({ url: "http://localhost:4318/v1/traces" });
export const endpoint = "http://localhost:4318";
Trace.otlp({ endpoint, service: "shop", packages: { BatchSpanProcessor, OTLPTraceExporter } });
Trace.exporter({ processor: new BatchSpanProcessor({ exporter }) });
Trace.exporter({ processor: new SimpleSpanProcessor({ exporter }) });
declare const processor: SpanProcessor;
Trace.exporter({ processor });
// @ts-expect-error an exporter goes in a processor first
Trace.exporter({ processor: exporter });

class OnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
const reader = new OnDemand();
Metrics.routes({ reader, packages: { MeterProvider, MetricReader, PrometheusSerializer } });
`;

it("the compiler accepts the classes of the newest packages without a cast", async () => {
  const folder = installedBeside("3");
  writeFileSync(join(folder, "classes.ts"), classes);
  const settings = { compilerOptions: { ...compilerOptions, types: [] }, files: ["classes.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const tsc = run(process.execPath, [join(newest, "bin/tsc"), "-p", folder]);
  const { stdout } = await tsc.catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});
