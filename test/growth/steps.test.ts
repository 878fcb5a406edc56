/** The measure of the growth table, on what is known: what grows in step with its text, and what does not. */
import { describe, expect, it } from "vitest";
import { agreed, countSource, countWork, startCounting } from "./steps.ts";

startCounting();
const { firstValue } = await import("../../src/inputs/text.ts");

describe("the number of steps", () => {
  const natives = async (run: () => unknown): Promise<number> => (await countWork(run)).units;

  it.each([
    ["a search to the end", (text: string) => text.indexOf(";"), 1],
    ["a search from each place to the end", (text: string) => [...text].map((_, at) => text.indexOf(";", at)), 2],
    [
      "the rest, again and again",
      (text: string) => {
        for (let rest = text; rest !== "";) rest = rest.slice(1);
      },
      2,
    ],
    ["a big number", (text: string) => BigInt(text), 2],
    ["a pattern that goes on from where it failed", (text: string) => /1*;/.test(text), 2],
    ["a pattern with one place to begin", (text: string) => /^1*;/.test(text), 1],
    ["every match of a pattern", (text: string) => [...text.matchAll(/1(?=1*;)|1/g)], 2],
    ["what is replaced", (text: string) => text.replace(/1/g, "2"), 1],
  ])("%s", async (_name, run, power) => {
    const [once, twice] = [await natives(() => run("1".repeat(512))), await natives(() => run("1".repeat(1024)))];
    expect(Math.round(Math.log2(twice / once))).toBe(power);
  });

  it("includes the framework's own source, and is the same for the same run", async () => {
    const count = (times: number) => countSource(() => firstValue("%&a=".repeat(times), "q"));
    const once = await count(100);
    expect(once).toBeGreaterThan(1000);
    expect(await count(100)).toBe(once);
    expect(await count(200)).toBeGreaterThan(once * 1.9);
  });

  it("is reported with the exception", async () => {
    const { thrown } = await countWork(() => {
      try {
        decodeURIComponent("%");
      } catch {
        return undefined;
      }
      return undefined;
    });
    expect(thrown).toBe(1);
  });
});

describe("a count that two runs agree on", () => {
  const counts = (given: readonly number[]) => {
    const left = [...given];
    return agreed(async () => left.shift() ?? Number.NaN);
  };

  it.each([
    ["in turn", [7, 7], 7],
    ["where a run in between has a timer in it", [7, 71, 7], 7],
    ["where V8 has lost some of a run", [5, 7, 7], 7],
  ])("%s", async (_how, given, agreedOn) => {
    expect(await counts(given)).toBe(agreedOn);
  });

  it("fails where each run does something else", async () => {
    await expect(counts([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])).rejects.toThrow("no two of 10 runs did the same");
  });
});
