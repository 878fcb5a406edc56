/** Rate limits compared with a model: many keys that are used up and refilled by time, in a table that is full or not. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Codec, Dep, Form, Header, Path, Rate, Returns, Test, get, post } from "usher-http";
import type { RateRule } from "usher-http";
import "../support/logs.ts";
import { memory } from "../support/memory.ts";
import { runs } from "../support/runs.ts";

const begin = Date.parse("2026-11-22T12:00:00.000Z");

/** The generic cell rate algorithm as a table that is simple and slow (ITU-T I.371). */
class TableModel {
  readonly #most: number;
  /** The time when each key is refilled; the key that passed longest ago is first. */
  readonly #usedUp = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The waiting time of a request: 0 if it passes. */
  take(key: string, { intervalMs, burst }: RateRule, now: number): number {
    // After a clock was set back, no request waits longer than a burst takes.
    const known = this.#usedUp.get(key) ?? now;
    const usedUp = Math.min(Math.max(known, now), now + intervalMs * burst);
    const ahead = usedUp - now - intervalMs * (burst - 1);
    const passes = ahead <= 0;
    if (passes || usedUp < known) {
      this.#usedUp.delete(key);
      this.#usedUp.set(key, usedUp + (passes ? intervalMs : 0));
    }
    if (!passes) return ahead;
    for (const oldest of this.#usedUp.keys()) {
      const characters = [...this.#usedUp.keys()].join("").length;
      // The key that was counted last stays: otherwise a key longer than the table's text would have no limit.
      if (oldest === key || (this.#usedUp.size <= this.#most && characters <= 64 * this.#most)) break;
      this.#usedUp.delete(oldest);
    }
    return 0;
  }
}

const keys = ["a", "b", "c", "d", "e", "kim", "x".repeat(70), "y".repeat(140), "z".repeat(500)];
const step = fc.oneof(
  // Often enough that a key is used up.
  { weight: 4, arbitrary: fc.record({ key: fc.constantFrom(...keys), times: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.constantFrom(1, 499, 500, 501, 999, 1000, 2500, 60_000).map((ms) => ({ ms })) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -1000, -3_600_000).map((ms) => ({ ms })) },
);
const limits = fc.record({ perMs: fc.constantFrom(500, 1000, 2000), burst: fc.integer({ min: 1, max: 4 }) });

describe("rate limits in memory behave like their model", () => {
  it.each([
    ["with room for all", 1000],
    ["full of keys that are not over", 3],
  ])("%s", { timeout: 600_000 }, async (_what, most) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), limits, async (steps, { perMs, burst }) => {
        const rate = Rate.make({ limit: 1, perMs, burst, store: Rate.memory({ most }) });
        const slowly = Rate.limit(rate, { key: Header.required("x-key", Codec.string) });
        const app = Test.app([get(Path.root, { inputs: { slowly }, returns: Returns.empty() }, () => {})]);
        const model = new TableModel(most);
        let now = begin;
        for (const step of steps) {
          if ("ms" in step) {
            now += step.ms;
            continue;
          }
          for (let i = 0; i < step.times; i++) {
            const asked = { headers: { "x-key": step.key }, now: new Date(now) };
            const { status, headers } = await Test.call(app, "GET", "/", asked);
            const wait = model.take(step.key, { intervalMs: perMs, burst }, now);
            const told = wait === 0 ? [204, null] : [429, String(Math.ceil(wait / 1000))];
            expect([status, headers.get("retry-after")]).toEqual(told);
          }
        }
      }),
      runs(200),
    );
  });
});

describe("a table of rate limits", () => {
  const rule = { intervalMs: 1000, burst: 1 };
  const key = (name: string, length: number): string => name.padEnd(length, "x");

  it("holds keys up to its limit, and is empty after they expire: filled, emptied and filled again", async () => {
    const store = Rate.memory({ most: 40_000 });
    const take = (name: string, length: number, ms: number) =>
      store.take(key(name, length), rule, new Date(begin + ms));
    take("first", 64, 0);
    const before = await memory();
    const held: number[] = [];
    for (let round = 1; round <= 3; round++) {
      const at = round * 100_000;
      // Five times as many as it holds, each longer than the average that it has space for.
      let passed = 0;
      for (let i = 0; i < 100_000; i++) if (take(`key ${i}`, 200, at) === 0) passed++;
      expect(passed).toBe(100_000);
      // The last keys are present, and the first were evicted for them.
      expect([take("key 99999", 200, at), take("key 90000", 200, at)]).toEqual([1000, 1000]);
      expect([take("key 0", 200, at), take("key 80000", 200, at)]).toEqual([0, 0]);
      held.push((await memory()) - before);
      // When all have expired, another key passes repeatedly.
      const often = { intervalMs: 0.01, burst: 1 };
      for (let i = 0; i < 40_000; i++) store.take("another", often, new Date(at + begin + 2000 + i));
      held.push((await memory()) - before);
    }
    for (const [i, bytes] of held.entries()) {
      expect(bytes, `after ${i + 1} halves of a round`).toBeLessThan(i % 2 === 0 ? 8_000_000 : 1_000_000);
    }
  });

  it("does not drop the keys of others for a few that are long, which differ by their begin, their end or their length", () => {
    const store = Rate.memory();
    const at = new Date(begin);
    const long = ["a", "b"].flatMap((name) => [name.padEnd(1_000_000, "x"), name.padStart(1_000_000, "x")]);
    const keys = ["ada", ...long, "a".padEnd(1_000_001, "x")];
    for (const expected of [0, 1000]) {
      expect(keys.map((key) => store.take(key, rule, at))).toEqual(keys.map(() => expected));
    }
    for (let i = 0; i < 100; i++) store.take(`${i}`.padEnd(100_000, "x"), rule, at);
    expect(store.take("ada", rule, at)).toBe(1000);
  });

  it("holds no body of which a key is a part", async () => {
    const name = Form.required("name", Codec.string);
    const rate = Rate.make({ limit: 1, perMs: 60_000 });
    const slowly = Rate.limit(rate, { key: Dep.map(name, (name) => name.toLowerCase()) });
    const app = Test.app([post(Path.root, { inputs: { slowly }, returns: Returns.empty() }, () => {})]);
    const ask = async (at: number) => {
      const body = `name=the-account-of-${at}&password=${"x".repeat(900_000)}`;
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      expect((await Test.call(app, "POST", "/", { headers, body })).status).toBe(204);
    };
    await ask(0);
    const before = await memory();
    for (let i = 1; i <= 30; i++) await ask(i);
    expect((await memory()) - before).toBeLessThan(5_000_000);
  });
});
