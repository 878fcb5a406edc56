/** What a publication of the benchmarks decides: whether the host was quiet, what is left of a run, and what a page keeps. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Series {
  readonly kind: "bars";
  readonly title: string;
  readonly unit: string;
  readonly better: "less";
  readonly baseline?: string;
  readonly judgesHost?: boolean;
  readonly groups: readonly {
    readonly name: string;
    readonly rows: readonly { readonly name: string; readonly values: readonly number[] }[];
  }[];
}

interface Part {
  readonly part: string;
  readonly date: string;
  readonly commit: string;
  readonly seconds: number;
  readonly probes: readonly (readonly number[])[];
  readonly series: readonly Series[];
}

interface Records {
  readonly doubtsOf: (record: Part) => readonly string[];
  readonly leftOf: (names: readonly string[], records: readonly Part[]) => readonly string[];
  readonly mergedWith: (
    previous: { readonly parts: Readonly<Record<string, Part>> } | undefined,
    records: readonly Part[],
  ) => Readonly<Record<string, Part>>;
  readonly durationOf: (
    names: readonly string[],
    previous: { readonly parts: Readonly<Record<string, Part>> } | undefined,
  ) => { readonly seconds: number; readonly unknown: readonly string[] };
  readonly store: (folder: string) => { read: () => readonly Part[]; write: (record: Part) => void };
}

const records = (await import(join(root, "bench/publish/records.mjs"))) as Records;
const steady = [100, 104, 98, 101, 99, 103, 102];

function part(name: string, changed: Partial<Part> = {}): Part {
  return { part: name, date: "2026-11-25", commit: "abc", seconds: 60, probes: [steady], series: [], ...changed };
}

function barsOf(values: readonly number[], judgesHost: boolean): Series {
  const rows = [
    { name: "by hand", values },
    { name: "another", values: [1, 9] },
  ];
  const about = { kind: "bars", title: "CPU of a request", unit: "µs", better: "less", baseline: "by hand" } as const;
  return { ...about, ...(judgesHost ? { judgesHost } : {}), groups: [{ name: "GET /", rows }] };
}

describe("a host is quiet", () => {
  it.each([
    { about: "with rounds that differ by a few percent", probes: [steady], doubts: 0 },
    { about: "with rounds that differ by 25 %", probes: [[100, 125]], doubts: 0 },
    { about: "not with one round that is 26 % above another", probes: [[100, 126, 101]], doubts: 1 },
    { about: "not where it was noisy only afterwards", probes: [steady, [100, 180]], doubts: 1 },
    { about: "not where nothing shows it", probes: [], doubts: 1 },
  ])("$about", ({ probes, doubts }) => {
    expect(records.doubtsOf(part("start", { probes }))).toHaveLength(doubts);
  });

  it("also by the hand-written server of the part itself", () => {
    const noisy = part("server", { series: [barsOf([10, 14, 11], true)] });
    expect(records.doubtsOf(noisy)).toEqual([
      "server: rounds of by hand, GET /, differ by 40 % (CPU of a request, 10.0 to 14.0 µs)",
    ]);
    expect(records.doubtsOf(part("server", { series: [barsOf([10, 12, 11], true)] }))).toEqual([]);
  });

  it("whatever the other series show", () => {
    expect(records.doubtsOf(part("compress", { series: [barsOf([10, 14, 11], false)] }))).toEqual([]);
  });
});

describe("a run that was interrupted", () => {
  it("continues with the parts that are not measured, or on a noisy host", () => {
    const done = [part("server"), part("runtimes", { probes: [[100, 200]] })];
    expect(records.leftOf(["server", "runtimes", "start"], done)).toEqual(["runtimes", "start"]);
  });

  it("has ended when each part is measured", () => {
    expect(records.leftOf(["server"], [part("server"), part("start")])).toEqual([]);
  });
});

describe("the records of a run", () => {
  const folder = mkdtempSync(join(tmpdir(), "usher-records-"));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("are read as they were written, the last one of a part", () => {
    const store = records.store(folder);
    expect(store.read()).toEqual([]);
    store.write(part("server", { seconds: 1 }));
    store.write(part("server", { seconds: 2 }));
    store.write(part("start"));
    // What is left of a process that ended while it wrote.
    writeFileSync(join(folder, "runtimes.json.part"), "{");
    expect(store.read()).toEqual([part("server", { seconds: 2 }), part("start")]);
    expect(readdirSync(folder).toSorted()).toEqual(["runtimes.json.part", "server.json", "start.json"]);
  });
});

describe("a publication", () => {
  const before = { parts: { server: part("server", { date: "2026-11-01" }), start: part("start", { seconds: 90 }) } };

  it("keeps the newest record of a part that was not measured, with its own date", () => {
    const merged = records.mergedWith(before, [part("start", { date: "2026-11-30" })]);
    expect(Object.values(merged).map(({ part, date }) => [part, date])).toEqual([
      ["server", "2026-11-01"],
      ["start", "2026-11-30"],
    ]);
  });

  it("works without an earlier one", () => {
    expect(Object.keys(records.mergedWith(undefined, [part("forms")]))).toEqual(["forms"]);
  });

  it("prints its duration by the last run, and the parts without one", () => {
    expect(records.durationOf(["server", "start", "forms"], before)).toEqual({ seconds: 150, unknown: ["forms"] });
    expect(records.durationOf(["forms"], undefined)).toEqual({ seconds: 0, unknown: ["forms"] });
  });
});
