/** `npm run bench -- --publish`, with given figures for the host and the parts: what it refuses, and what it writes. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Bar {
  readonly id: string;
  readonly what: string;
  readonly part: string;
  readonly series: string;
  readonly row: string;
  readonly to: string;
  readonly by: "ratio" | "more";
  readonly group?: string;
  readonly max?: number;
  readonly min?: number;
  readonly unit?: string;
}

interface Meter {
  readonly quietProbe: () => Promise<readonly number[]>;
  readonly probe: () => Promise<readonly number[]>;
  readonly run: (part: string) => Promise<object>;
  readonly bars: readonly Bar[];
  readonly kept: string;
}

const { publish } = (await import(join(root, "bench/publish/index.mjs"))) as {
  readonly publish: (names: readonly string[], options: object, meter: Meter) => Promise<boolean>;
};
const { outcomesOf } = (await import(join(root, "bench/publish/outcomes.mjs"))) as {
  readonly outcomesOf: (bars: readonly Bar[], parts: object) => readonly object[];
};
const { listed, reasons } = (await import(join(root, "bench/publish/bars.mjs"))) as {
  readonly listed: readonly Bar[];
  readonly reasons: Readonly<Record<string, string>>;
};
const { parts } = (await import(join(root, "bench/parts.mjs"))) as { readonly parts: readonly string[] };

const even = [10, 10.5, 10.2, 10.1];
const uneven = [10, 13, 10, 10];
const bar = { part: "server", series: "CPU", row: "usher", to: "by hand", by: "ratio" } as const;
const bars: readonly Bar[] = [
  { ...bar, id: "met", what: "met", max: 1.6 },
  { ...bar, id: "bun-get", what: "missed", max: 1.1 },
  { ...bar, id: "more", what: "more", by: "more", max: 3, unit: "µs" },
  { ...bar, id: "other", what: "of another part", part: "start", min: 1 },
];

/** Both rows in two rounds, of which only the ratios within a round are 1.5. */
function section(part: string): object {
  const rows = [
    { name: "by hand", values: [10, 20] },
    { name: "usher", values: [15, 30] },
  ];
  const about = { kind: "bars", title: "CPU", unit: "µs", better: "less", baseline: "by hand" };
  return { text: `## ${part}\n\nAs measured.`, series: [{ ...about, groups: [{ name: "GET /", rows }] }] };
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Publishes `server` and `forms`; the probes are given one after the other. */
function published(probes: readonly (readonly number[])[]) {
  const [into, kept] = ["pages", "records"].map((name) => mkdtempSync(join(tmpdir(), `usher-${name}-`))) as [
    string,
    string,
  ];
  folders.push(into, kept);
  const said: string[] = [];
  const run: string[] = [];
  const left = [...probes];
  const probe = async () => left.shift() ?? even;
  const meter: Meter = {
    quietProbe: probe,
    probe,
    run: async (part) => {
      run.push(part);
      return section(part);
    },
    bars,
    kept,
  };
  const go = (isContinued: boolean) =>
    publish(
      ["server", "forms"],
      { quick: false, into, isContinued, print: (text: string) => void said.push(text) },
      meter,
    );
  return { go, into, said, run };
}

describe("on a noisy host", () => {
  it("nothing is measured if the first probe is noisy", async () => {
    const { go, into, said, run } = published([uneven]);
    expect(await go(false)).toBe(false);
    expect({ run, written: readdirSync(into) }).toEqual({ run: [], written: [] });
    expect(said.at(-1)).toContain(
      "Not published: rounds of the hand-written server may differ by 25 % on a quiet host",
    );
  });

  it("nothing is published if a part is noisy twice; the good parts are kept for a run that continues", async () => {
    const { go, into, said, run } = published([even, even, even, uneven, even, uneven]);
    expect(await go(false)).toBe(false);
    expect(run).toEqual(["server", "forms", "forms"]);
    expect(readdirSync(into)).toEqual([]);
    expect(said.at(-1)).toContain("- forms: rounds of the host's probe differ by 30 % (10.0 to 13.0 µs)");
    expect(await go(true)).toBe(true);
    expect(run).toEqual(["server", "forms", "forms", "forms"]);
  });
});

describe("on a quiet host", () => {
  it("the results, the page and the charts are written", async () => {
    const { go, into, run } = published([]);
    expect(await go(false)).toBe(true);
    expect(run).toEqual(["server", "forms"]);
    const [charts, json, page] = readdirSync(into).toSorted() as [string, string, string];
    expect([json, page]).toEqual([`${charts}.json`, `${charts}.md`]);
    expect(readdirSync(join(into, charts)).toSorted()).toEqual(["forms-1.svg", "server-1.svg"]);
    expect(readFileSync(join(into, charts, "server-1.svg"), "utf8")).toContain("@media (prefers-color-scheme: dark)");
    const { versions, commit, command, parts: measured } = JSON.parse(readFileSync(join(into, json), "utf8"));
    expect(versions).toMatchObject({
      Node: process.versions.node,
      Usher: expect.any(String),
      Fastify: expect.any(String),
    });
    expect(commit).toMatch(/^[0-9a-f]{12}/);
    expect(command).toBe("npm run bench -- --publish server forms");
    expect(Object.keys(measured)).toEqual(["server", "forms"]);
    expect(measured.server.host).toMatchObject({ cores: expect.any(Number), os: expect.any(String) });
    const text = readFileSync(join(into, page), "utf8");
    expect(text).toContain(`| met, GET / | ≤ 1.60 | 1.50 (1.50 to 1.50) |  |`);
    expect(text).toContain(`| missed, GET / | ≤ 1.10 | **1.50 (1.50 to 1.50)** | ${reasons["bun-get"]} |`);
    expect(text).toContain(`| more, GET / | ≤ 3 µs | **7.50 (5.00 to 10.0)** | no reason is written yet |`);
    expect(text).toContain("| of another part | ≥ 1.00 | not measured |  |");
    expect(text).toContain(`![CPU](${charts}/server-1.svg)`);
    expect(text).toMatch(
      /Measured on .* cores of .* Load before .*\n## Versions\n.*\| Usher \| .*\| Node \| .*\| Bun \| /s,
    );
  });
});

describe("the bars", () => {
  it("are of existing parts, each with an id of its own, and every reason belongs to one of them", () => {
    const ids = listed.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(listed.filter(({ part }) => !parts.includes(part))).toEqual([]);
    expect(listed.filter(({ max, min }) => (max === undefined) === (min === undefined))).toEqual([]);
    expect(Object.keys(reasons).filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each([
    { wrong: { series: "Another" }, message: 'no series "Another"' },
    { wrong: { group: "PUT /" }, message: 'no group "PUT /"' },
    { wrong: { row: "Usher" }, message: 'no row "Usher"' },
  ])("fail if a part lacks the series, group or row: $message", ({ wrong, message }) => {
    const one = { ...bar, id: "one", what: "one", max: 1, ...wrong };
    expect(() => outcomesOf([one], { server: section("server") })).toThrow(`the bar "one": server has ${message}`);
  });

  it.each([
    { module: "server/candidates.mjs", part: "server" },
    { module: "orders/candidates.mjs", part: "orders" },
    { module: "http2/candidates.mjs", part: "http2" },
  ])("of $part name its candidates", async ({ module, part }) => {
    const { candidates } = (await import(join(root, "bench", module))) as {
      readonly candidates: Readonly<Record<string, { readonly name: string }>>;
    };
    const names = new Set(Object.values(candidates).map(({ name }) => name.replaceAll("`", "")));
    const rows = listed.filter((one) => one.part === part).flatMap(({ row, to }) => [row, to]);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => !names.has(row))).toEqual([]);
  });
});
