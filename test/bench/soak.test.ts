/** What the soak of the benchmarks takes for a fault, and a short one. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Minute {
  readonly minute: number;
  readonly heldMb: number;
  readonly rssMb: number;
  readonly handles: number;
  readonly descriptors: number;
  readonly requests: number;
  readonly failures: number;
}

const { faultsOf, timesOf } = (await import(join(root, "bench/soak/verdict.mjs"))) as {
  readonly faultsOf: (minutes: readonly Minute[]) => readonly string[];
  readonly timesOf: (times: readonly number[]) => object;
};

const { run } = (await import(join(root, "bench/soak/index.mjs"))) as {
  readonly run: (options: {
    readonly quick: boolean;
    readonly minutes: number;
    readonly minute: (answers: () => number) => Promise<void>;
    readonly program?: string;
  }) => Promise<{ readonly text: string; readonly series: readonly { readonly title: string }[] }>;
};

/** A minute is over after twenty answers, whatever time they take. */
async function minute(answers: () => number): Promise<void> {
  while (answers() < 20) await setTimeout(10);
}

/** Thirty minutes, with one figure changed. */
function minutes(changed: (minute: number) => Partial<Minute>): readonly Minute[] {
  const usual = { heldMb: 40, rssMb: 120, handles: 90, descriptors: 110, requests: 1000, failures: 0 };
  return Array.from({ length: 30 }, (_, i) => ({ minute: i + 1, ...usual, ...changed(i + 1) }));
}

describe("a soak test", () => {
  it.each([
    { about: "the same each minute", changed: () => ({}) },
    { about: "memory that rises in the warm-up alone", changed: (at: number) => ({ heldMb: Math.min(40, 10 * at) }) },
    { about: "memory that goes up and down", changed: (at: number) => ({ heldMb: at % 2 === 0 ? 40 : 60 }) },
    { about: "a few handles more", changed: (at: number) => ({ handles: 90 + at }) },
  ])("has no fault with $about", ({ changed }) => {
    expect(faultsOf(minutes(changed))).toEqual([]);
  });

  it.each([
    {
      about: "memory held",
      changed: (at: number) => ({ heldMb: 40 + at }),
      fault: /^memory held, MB: 50\.5 after the warm-up, 66\.5 at the end$/,
    },
    { about: "the process", changed: (at: number) => ({ rssMb: 120 + 5 * at }), fault: /^memory of the process/ },
    { about: "handles", changed: (at: number) => ({ handles: 90 + 10 * at }), fault: /^handles: / },
    { about: "descriptors", changed: (at: number) => ({ descriptors: 110 + 10 * at }), fault: /^descriptors: / },
  ])("has a fault when $about grow each minute", ({ changed, fault }) => {
    expect(faultsOf(minutes(changed))).toEqual([expect.stringMatching(fault)]);
  });

  it("has a fault when one request of a well-behaved client fails, or none is answered", () => {
    const failing = minutes((at) => (at === 3 ? { failures: 2 } : at === 7 ? { requests: 0 } : {}));
    expect(faultsOf(failing)).toEqual([
      "minute 3: 2 requests of well-behaved clients failed",
      "minute 7: no request was answered",
    ]);
  });

  it("has the times by percentile", () => {
    expect(timesOf(Array.from({ length: 1000 }, (_, i) => 1000 - i))).toEqual({
      p50: 501,
      p90: 901,
      p99: 991,
      p999: 1000,
    });
  });
});

describe("a short soak test", () => {
  it("of the server has a line for each minute, and its charts", async () => {
    const { text, series } = await run({ quick: true, minutes: 6, minute });
    expect(text.match(/^\| \d \| /gm)).toHaveLength(6);
    expect(series.map(({ title }) => title)).toEqual([
      "Memory in a soak",
      "Handles and descriptors in a soak",
      "Times in a soak",
    ]);
  });

  it("of a server that leaves files open and ends connections reports both", async () => {
    const program = join(root, "test/bench/failing-soak.mjs");
    const found = await run({ quick: true, minutes: 6, minute, program }).catch(String);
    expect(found).toMatch(/^descriptors: \d+\.\d after the warm-up, \d+\.\d at the end$/m);
    expect(found).toMatch(/^minute \d: \d+ requests of well-behaved clients failed$/m);
  });
});
