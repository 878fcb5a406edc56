/** `Trace.otlp` on each runtime with files: OpenTelemetry's packages are loaded there, and count spans (rows TR-25, TR-28). */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { Collector } from "./collector.ts";
import { installedBeside } from "./installed.ts";
import type { Generation } from "./installed.ts";
import { rows } from "../support/wide.ts";

const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-all"];

type Runtime = readonly [name: string, beside: Generation, binary: () => string, flags: readonly string[]];
const all = rows<Runtime>(
  [
    ["the newest Node", "3", runtimes["node-newest"], []],
    ["Bun", "3", runtimes.bun, []],
    ["Deno", "3", runtimes.deno, deno],
  ],
  [["the oldest Node", "2", runtimes["node-oldest"], []]],
);

/** Makes a runtime end this many spans and one more; returns its warnings. */
async function warnings(runtime: Runtime, endpoint: string, count: number): Promise<readonly string[]> {
  const [, generation, binary, flags] = runtime;
  const args = [...flags, "program.mjs", endpoint, String(count)];
  const { stdout } = await promisify(execFile)(binary(), args, { cwd: installedBeside(generation) });
  return JSON.parse(stdout) as readonly string[];
}

describe.each(all)("on %s with OpenTelemetry %s", (...runtime) => {
  it("TR-25 every span arrives", async () => {
    const collector = await Collector.up();
    expect(await warnings(runtime, collector.endpoint, 1299)).toEqual([]);
    expect(collector.spans).toHaveLength(1300);
    expect(collector.posts.every(({ url, spans }) => url === "/v1/traces" && spans.length <= 512)).toBe(true);
    expect(collector.posts[0]?.headers["content-type"]).toBe("application/json");
  });

  it("TR-28 refused spans are counted", async () => {
    const collector = await Collector.up();
    collector.status = 500;
    const warned = await warnings(runtime, collector.endpoint, 699);
    expect(warned.every((line) => /^the collector refused \d+ spans?: 500$/.test(line))).toBe(true);
    const counts = warned.map((line) => Number(/ (\d+) spans?/.exec(line)?.[1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(700);
  });
});

it("TR-28 those without a collector are counted, on each of them", async () => {
  const collector = await Collector.up();
  await collector.down();
  const warned = await Promise.all(all.map((runtime) => warnings(runtime, collector.endpoint, 9)));
  const expected = ["9 spans", "1 span"].map((count) => `could not send ${count} to the collector: ECONNREFUSED`);
  expect(warned).toEqual(all.map(() => expected));
});
