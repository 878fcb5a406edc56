import fc from "fast-check";
import { expect, it } from "vitest";
import { seed } from "./runs.ts";
import { isWide } from "./wide.ts";

it("a property without a seed has that of the run, except in the wide run", () => {
  const tried = (given?: number): readonly number[] =>
    fc.sample(fc.nat(), { numRuns: 5, ...(given ? { seed: given } : {}) });
  if (isWide) expect(tried()).not.toEqual(tried());
  else expect(tried()).toEqual(tried(seed));
});
