/** The order in which stores in memory forget, against a plain `Map` that is slow and simple. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { OldestFirst } from "../src/oldest-first.ts";

const key = fc.constantFrom("a", "b", "c", "d", "e");
const step = fc.oneof(
  fc.record({ call: fc.constant("set" as const), key, value: fc.nat(3) }),
  fc.record({ call: fc.constant("delete" as const), key }),
  fc.record({ call: fc.constant("deleteOldest" as const) }),
  fc.record({ call: fc.constant("sweep all" as const), least: fc.nat(3) }),
);

it("keeps what a Map keeps, in its order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [kept, map] = [new OldestFirst<number>(), new Map<string, number>()];
      for (const step of steps) {
        if (step.call === "set") {
          expect(kept.set(step.key, step.value)).toBe(!map.has(step.key));
          map.delete(step.key);
          map.set(step.key, step.value);
        } else if (step.call === "delete") expect(kept.delete(step.key)).toBe(map.delete(step.key));
        else if (step.call === "deleteOldest") {
          const [oldest] = map.keys();
          if (oldest !== undefined) map.delete(oldest);
          expect(kept.deleteOldest()).toBe(oldest);
        } else {
          const expired = [...map].filter(([, value]) => value < step.least).map(([key]) => key);
          const told: string[] = [];
          const deleted = kept.sweep(
            map.size,
            (value) => value < step.least,
            (key) => told.push(key),
          );
          expect([deleted, told.toSorted()]).toEqual([expired.length, expired.toSorted()]);
          for (const key of expired) map.delete(key);
        }
        expect(kept.size).toBe(map.size);
        for (const key of "abcde") expect(kept.get(key)).toBe(map.get(key));
      }
      const order = Array.from({ length: map.size }, () => kept.deleteOldest());
      expect(order).toEqual([...map.keys()]);
      expect(kept.deleteOldest()).toBeUndefined();
    }),
  );
});

it("looks at every entry in its turn, though others are set, moved and deleted in between", () => {
  fc.assert(
    fc.property(fc.array(fc.array(key, { maxLength: 3 }), { minLength: 12, maxLength: 12 }), (rounds) => {
      const kept = new OldestFirst<string>();
      kept.set("first", "first");
      const seen = new Set<string>();
      for (const [i, keys] of rounds.entries()) {
        // At most three are set, and four are checked.
        for (const key of keys)
          if (i % 4 === 3) kept.delete(key);
          else kept.set(key, key);
        kept.sweep(4, (value) => seen.add(value) === undefined);
      }
      expect(seen).toContain("first");
    }),
  );
});
