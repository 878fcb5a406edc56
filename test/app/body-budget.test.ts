/** How much of a body budget each network holds, compared with counting each body. */
import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../src/inputs/body-budget.ts";
import type { BodyHolding } from "../../src/inputs/body-budget.ts";

interface Counted extends BodyHolding {
  asked: number;
}

function holding(network: string | undefined): Counted {
  return {
    heldBytes: 0,
    holderIndex: 0,
    asked: 0,
    get network() {
      this.asked++;
      return network;
    },
  };
}

/** A sequence of numbers that is the same for the same seed (Numerical Recipes' LCG). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
}

describe("the body budget", () => {
  it.each([1, 2, 3, 4, 5])("gives each network the same result as counting every byte (seed %i)", (seed) => {
    const next = numbers(seed);
    const [limit, share] = [400, 50];
    const budget = new BodyBudget(limit, share);
    const networks = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", undefined];
    const held: { readonly by: Counted; readonly of: string | undefined }[] = [];
    const sum = (of?: string) =>
      held.reduce((sum, one) => sum + (of === undefined || one.of === of ? one.by.heldBytes : 0), 0);
    let refused = 0;
    // One assertion at the end: 40,000 would take longer than what they check.
    const wrong: number[] = [];
    for (let step = 0; step < 20_000; step++) {
      // Long enough in one direction to fill it, and then to empty it.
      const isFilling = Math.floor(step / 300) % 2 === 0;
      if (next(4) < (isFilling ? 3 : 1)) {
        const of = networks[next(networks.length)];
        const mine = held.filter((one) => one.of === of);
        const by = mine.length > 0 && next(2) === 0 ? (mine[next(mine.length)]?.by ?? holding(of)) : holding(of);
        const bytes = next(30);
        const fits = sum() + bytes <= limit && (of === undefined || sum(of) + bytes <= share || sum() + bytes <= share);
        if (budget.hasRoom(by, bytes) !== fits || budget.take(by, bytes) !== fits) wrong.push(step);
        if (!fits) refused++;
        else if (!held.some((one) => one.by === by)) held.push({ by, of });
      } else if (held.length > 0) {
        const at = next(held.length);
        const by = held[at]?.by as Counted;
        budget.give(by, next(2) === 0 ? by.heldBytes : next(by.heldBytes + 1));
        if (by.heldBytes === 0) held.splice(at, 1);
      }
    }
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(100);
  });
});

describe("the body budget and the addresses of clients", () => {
  it("reads no address while less than one share is in use", () => {
    const budget = new BodyBudget(400, 50);
    const all = Array.from({ length: 5 }, () => holding("a"));
    for (const one of all) expect(budget.take(one, 10)).toBe(true);
    for (const one of all) budget.give(one, 10);
    expect(all.map(({ asked }) => asked)).toEqual([0, 0, 0, 0, 0]);
  });

  it("reads no address again after all bytes are returned, until more than a share is in use again", () => {
    const budget = new BodyBudget(400, 50);
    for (let round = 0; round < 3; round++) {
      const all = ["a", "b", "c"].map(holding);
      for (const one of all) expect(budget.take(one, 40)).toBe(true);
      const asked = all.map(({ asked }) => asked);
      expect(asked.every((count) => count > 0)).toBe(true);
      for (const one of all) budget.give(one, 40);
      // Counting per network continues for as many bodies as it took to begin.
      for (let i = 0; i < 3; i++) {
        const one = holding("a");
        budget.take(one, 1);
        budget.give(one, 1);
      }
      const calm = holding("a");
      budget.take(calm, 10);
      budget.give(calm, 10);
      expect(calm.asked).toBe(0);
      const after = all.map(({ asked }) => asked);
      const others = ["d", "e"].map(holding);
      for (const one of others) budget.take(one, 40);
      for (const one of others) budget.give(one, 40);
      expect(all.map(({ asked }) => asked)).toEqual(after);
      for (let i = 0; i < 4; i++) {
        const one = holding("a");
        budget.take(one, 1);
        budget.give(one, 1);
      }
    }
  });

  // One body repeatedly asks for more bytes than are free, next to many bodies that hold one byte each.
  it.each([100, 200, 400])("recounts %i holders only after as many have left", (holders) => {
    const budget = new BodyBudget(100_000, 1000);
    const all = Array.from({ length: holders }, () => holding("a"));
    for (const one of all) budget.take(one, 1);
    const steps = 10_000;
    for (let i = 0; i < steps; i++) {
      const other = holding("b");
      budget.hasRoom(other, 1000);
      budget.take(other, 1);
      budget.give(other, 1);
    }
    expect(all.reduce((sum, { asked }) => sum + asked, 0)).toBeLessThanOrEqual(2 * steps);
  });
});
