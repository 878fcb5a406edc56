/** A store that is bounded in total and by caller, compared with a model that counts everything again at each step. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairStore, shareOf } from "../src/fair-store.ts";
import { played } from "./models/seeds.ts";

interface Known {
  readonly key: string;
  readonly owner: string;
  readonly value: number;
  readonly weight: number;
}

/** The entries in the order in which they were set. */
class Model {
  entries: readonly Known[] = [];

  set(entry: Known): void {
    const known = this.entries.find(({ key }) => key === entry.key);
    this.delete(entry.key);
    this.entries = [...this.entries, { ...entry, owner: known?.owner ?? entry.owner }];
  }

  delete(key: string): void {
    this.entries = this.entries.filter((entry) => entry.key !== key);
  }

  rename(key: string, next: string, value: number): void {
    const entry = this.entries.find((entry) => entry.key === key);
    if (entry === undefined || this.entries.some((entry) => entry.key === next)) return;
    this.delete(key);
    this.entries = [...this.entries, { ...entry, key: next, value }];
  }

  /** The oldest entry of the caller that holds the most; of callers that hold the same, the oldest of all. */
  evict(kept: string | undefined): string | undefined {
    const weights = new Map<string, number>();
    for (const { owner, weight } of this.entries) weights.set(owner, (weights.get(owner) ?? 0) + weight);
    const owners = [...weights.keys()].toSorted((one, other) => {
      const first = this.entries.findIndex(({ owner }) => owner === one);
      const second = this.entries.findIndex(({ owner }) => owner === other);
      return (weights.get(other) ?? 0) - (weights.get(one) ?? 0) || first - second;
    });
    const oldest = owners.map((owner) => this.entries.filter((entry) => entry.owner === owner && entry.key !== kept));
    const evicted = oldest.find((entries) => entries.length > 0)?.[0];
    if (evicted !== undefined) this.delete(evicted.key);
    return evicted?.key;
  }
}

const key = fc.nat({ max: 12 }).map((n) => `k${n}`);
const owner = fc.constantFrom("a", "b", "c", "d", "");
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("set" as const), key, owner, weight: fc.nat({ max: 5 }), value: fc.nat() }),
  },
  fc.record({ do: fc.constant("delete" as const), key }),
  fc.record({ do: fc.constant("rename" as const), key, next: key, value: fc.nat() }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant("evict" as const), kept: fc.option(key, { nil: undefined }) }) },
  fc.record({ do: fc.constant("sweep" as const), odd: fc.boolean() }),
);

function isSame(store: FairStore<number>, model: Model): void {
  expect(store.size).toBe(model.entries.length);
  expect(store.weight).toBe(model.entries.reduce((sum, { weight }) => sum + weight, 0));
  expect(store.owners).toBe(new Set(model.entries.map(({ owner }) => owner)).size);
  for (let n = 0; n <= 12; n++) {
    expect(store.get(`k${n}`)).toBe(model.entries.find(({ key }) => key === `k${n}`)?.value);
  }
}

describe("a store with a share for each caller", () => {
  it("behaves like its model", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
        const [store, model] = [new FairStore<number>(), new Model()];
        for (const one of commands) {
          if (one.do === "set") {
            const isNew = !model.entries.some(({ key }) => key === one.key);
            expect(store.set(one.key, one.value, () => one.owner, one.weight)).toBe(isNew);
            model.set(one);
          } else if (one.do === "delete") {
            expect(store.delete(one.key)).toBe(model.entries.some(({ key }) => key === one.key));
            model.delete(one.key);
          } else if (one.do === "rename") {
            if (model.entries.some(({ key }) => key === one.next)) continue;
            store.rename(one.key, one.next, one.value);
            model.rename(one.key, one.next, one.value);
          } else if (one.do === "evict") {
            // An entry that is kept is the newest of its caller.
            const kept = model.entries.at(-1)?.key === one.kept ? one.kept : undefined;
            expect(store.evict(kept)).toBe(model.evict(kept));
          } else {
            const isOver = (value: number) => (value % 2 === 1) === one.odd;
            expect(store.sweep(100, isOver)).toBe(model.entries.filter(({ value }) => isOver(value)).length);
            model.entries = model.entries.filter(({ value }) => !isOver(value));
          }
          isSame(store, model);
        }
      }),
      played(300),
    );
  });

  it("keeps what a caller holds whose part is smaller, however many entries another one sets", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 50 }), fc.integer({ min: 1, max: 300 }), (most, flood) => {
        const store = new FairStore<number>();
        const mine = Math.floor(most / 2);
        for (let n = 0; n < mine; n++) store.set(`mine ${n}`, n, () => "me");
        for (let n = 0; n < flood; n++) {
          store.set(`flood ${n}`, n, () => "flood");
          while (store.size > most) store.evict(`flood ${n}`);
        }
        for (let n = 0; n < mine; n++) expect(store.get(`mine ${n}`)).toBe(n);
      }),
      played(100),
    );
  });

  it.each([
    [1, 1],
    [100, 100],
    [800, 100],
    [10_000, 1250],
  ])("gives one caller of what cannot be evicted, of %i: %i", (most, share) => {
    expect(shareOf(most)).toBe(share);
  });
});
