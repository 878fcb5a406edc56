/** Spans on Workers, where nothing runs between requests (contract 8). */
import { describe, expect, it } from "vitest";
import { Path, Returns, Trace, after, get } from "usher-http";
import { worker as workerOf } from "../../../adapters/workers/index.ts";
import { Collector } from "../../telemetry/collector.ts";
import { bundle, newestOpenTelemetry, start } from "./running.ts";

// A Worker is one file: OpenTelemetry's processor and exporter are in it.
const otlp = (endpoint: string) => `Trace.otlp({ endpoint: "${endpoint}", service: "shop", packages })`;
const exporterOf = (endpoint: string) =>
  `new OTLPTraceExporter({ url: "${endpoint}/v1/traces", concurrencyLimit: 1000 })`;
const ways = [
  ["Trace.otlp and OpenTelemetry 2", otlp, "sdk-trace-base", undefined],
  ["Trace.otlp and OpenTelemetry 3", otlp, "sdk-trace", newestOpenTelemetry],
  [
    "Trace.exporter and OpenTelemetry 3",
    (endpoint: string) =>
      `Trace.exporter({ processor: new BatchSpanProcessor({ exporter: ${exporterOf(endpoint)} }), service: "shop" })`,
    "sdk-trace",
    newestOpenTelemetry,
  ],
] as const;

const programWith = (trace: string, sdk: string) => `import { Answer, Path, Returns, Trace, get } from "usher-http";
  import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
  import { BatchSpanProcessor } from "@opentelemetry/${sdk}";
  import { worker } from "../../../adapters/workers/index.ts";
  const packages = { BatchSpanProcessor, OTLPTraceExporter };
  async function* parts() {
    yield new TextEncoder().encode("a");
    await Trace.span("part", () => {});
  }
  export default worker(
    [
      get(Path.of("hello"), { returns: Returns.text }, () => Trace.span("work", () => "hi")),
      get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts())),
    ],
    { trace: ${trace} },
  );`;

describe.each(ways)("by %s", (_way, traceTo, sdk, modules) => {
  const bundled = (endpoint: string) =>
    bundle({ contents: programWith(traceTo(endpoint), sdk), opentelemetry: modules });

  it("are sent with their request, and those of a stream at its end", async () => {
    const collector = await Collector.up();
    const worker = await start(await bundled(collector.endpoint));
    const client = await worker.client();
    const names = () => collector.spans.map(({ name }) => name).toSorted();
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    while (names().length < 2) await collector.came(collector.posts.length + 1);
    expect(names()).toEqual(["GET /hello", "work"]);
    expect((await client.ask("GET /stream").answer()).body).toBe("a");
    while (names().length < 4) await collector.came(collector.posts.length + 1);
    expect(names()).toEqual(["GET /hello", "GET /stream", "part", "work"]);
    expect(collector.posts[0]?.resource[0]).toEqual({ key: "service.name", value: { stringValue: "shop" } });
  });

  it("are sent by each of many concurrent requests", async () => {
    const collector = await Collector.up();
    const worker = await start(await bundled(collector.endpoint));
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const client = await worker.client();
        for (let i = 0; i < 10; i++) await client.ask("GET /hello").answer();
      }),
    );
    while (collector.spans.length < 400) await collector.came(collector.posts.length + 1);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(400);
  });
});

it("those of work after the answer are sent at its end", async () => {
  const seen: string[] = [];
  const processor = {
    onStart: () => {},
    onEnd: ({ name }: { readonly name: string }) => void seen.push(name),
    forceFlush: async () => void seen.push("sent"),
    shutdown: async () => {},
  };
  const task = get(Path.of("x"), { inputs: { after }, returns: Returns.text }, ({ after }) => {
    after(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await Trace.span("task", () => {});
    });
    return "x";
  });
  const kept: Promise<unknown>[] = [];
  const { fetch } = workerOf([task], { trace: Trace.exporter({ processor }) });
  const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work) };
  expect(await (await fetch(new Request("http://h/x"), {}, context)).text()).toBe("x");
  for (const work of kept) await work;
  expect(seen.filter((what) => what !== "sent")).toEqual(["GET /x", "task"]);
  expect(seen.at(-1)).toBe("sent");
});

it("spans that a collector did not accept are counted, by Trace.otlp", async () => {
  const collector = await Collector.up();
  collector.status = 400;
  const program = programWith(otlp(collector.endpoint), "sdk-trace");
  const worker = await start(await bundle({ contents: program, opentelemetry: newestOpenTelemetry }));
  expect((await (await worker.client()).ask("GET /hello").answer()).body).toBe("hi");
  await worker.line("could not send 2 spans to the collector: Error");
});
