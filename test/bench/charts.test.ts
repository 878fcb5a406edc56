/** The page and the charts that are drawn from the figures of a run. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

const folder = mkdtempSync(join(tmpdir(), "usher-charts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const rows = [
  { name: "by hand", values: [10, 20, 10] },
  { name: "usher", values: [15, 30, 20] },
];
const lines = [
  { name: "usher", points: [10, 100].map((x) => ({ x, values: [x, x] })) },
  { name: "A & B", points: [10, 100].map((x) => ({ x, values: [2, 3] })) },
];
const about = { unit: "µs", better: "less" };
const series = [
  { kind: "bars", title: "CPU", baseline: "by hand", ...about, groups: [{ name: "GET /", rows }] },
  { kind: "curves", title: "Growth", x: "routes", ...about, lines },
];
const host = { cores: 2, model: "A processor", memoryGb: 8, os: "Linux 6", loadBefore: 0.1, loadAfter: 1.2 };
const server = {
  part: "server",
  date: "2026-10-01",
  startedAt: "2026-10-01T10:00:00Z",
  commit: "abc",
  command: "npm run bench",
  versions: { Usher: "1", Node: "24" },
  host,
  seconds: 61,
  probes: [[10, 11]],
  text: "## Server\n\nAs measured.\n\n| a |\n| --- |\n| 1 |",
  series,
};
writeFileSync(
  join(folder, "2026-11-25.json"),
  JSON.stringify({ date: "2026-11-25", commit: "def", command: "npm run bench -- --publish", parts: { server } }),
);

function draw(...args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  const script = join(root, "bench/charts/draw-results.mjs");
  return spawnSync(process.execPath, [script, folder, ...args], { encoding: "utf8" });
}

function chart(name: string): string {
  return readFileSync(join(folder, "2026-11-25", name), "utf8");
}

describe("the results of a run", () => {
  it("make a page, with the part's own date, host and charts", () => {
    expect(draw().status).toBe(0);
    const page = readFileSync(join(folder, "2026-11-25.md"), "utf8");
    expect(page).toContain("Measured on 2026-10-01 at `abc` in 61 s: 2 cores of A processor, 8 GB, Linux 6.");
    expect(page).toContain("Load before 0.1, after 1.2; the rounds of the hand-written server differed by 10 %.");
    expect(page).toContain("## Server\n\nMeasured");
    expect(page).toContain("## Versions\n\n| | version |\n| --- | --- |\n| Usher | 1 |\n| Node | 24 |\n");
    expect(page).toContain("![CPU](2026-11-25/server-1.svg)\n\n![Growth](2026-11-25/server-2.svg)\n\nAs measured.");
  });

  it("are on a page that an index links", () => {
    expect(readFileSync(join(folder, "README.md"), "utf8")).toMatch(/\n\n- \[2026-11-25\]\(2026-11-25\.md\)\n$/);
  });

  it("are bars as long as the ratios of the same round, with their range", () => {
    const svg = chart("server-1.svg");
    const widths = [...svg.matchAll(/class="(?:own|other)" [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toHaveLength(2);
    expect((widths[1] ?? 0) / (widths[0] ?? 1)).toBeCloseTo(1.5, 2);
    const [, from, until] = /<path class="spread" d="M([\d.]+) [\d.]+H([\d.]+)/.exec(svg) ?? [];
    expect((Number(until) - Number(from)) / (widths[0] ?? 1)).toBeCloseTo(0.5, 2);
    expect(svg).toContain(">10.0 µs<");
    expect(svg).toContain(">1.50<");
  });

  it("are curves, whose names are escaped", () => {
    const svg = chart("server-2.svg");
    expect(svg.match(/<circle /g)).toHaveLength(4);
    expect(svg).toContain(">A &amp; B<");
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it.each(["server-1.svg", "server-2.svg"])("have %s for light and dark", (name) => {
    expect(chart(name)).toContain("@media (prefers-color-scheme: dark)");
  });

  it("are checked: a chart with other values fails", () => {
    expect(draw("--check").status).toBe(0);
    writeFileSync(join(folder, "2026-11-25/server-1.svg"), chart("server-1.svg").replace("1.50", "1.40"));
    const { status, stderr } = draw("--check");
    expect(status).toBe(1);
    expect(stderr).toContain("server-1.svg is not what the figures say");
  });
});
