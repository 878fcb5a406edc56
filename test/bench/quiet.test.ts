/** Which rounds of a benchmark are kept. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Quiet {
  readonly quietRounds: <A>(
    count: number,
    play: (round: number) => Promise<A>,
    byHand: (round: A) => readonly number[],
  ) => Promise<{ readonly rounds: readonly A[]; readonly leftOut: number }>;
  readonly roundsText: (played: { readonly rounds: readonly unknown[]; readonly leftOut: number }) => string;
}

const { quietRounds, roundsText } = (await import(join(root, "bench/harness/quiet.mjs"))) as Quiet;

const played = (count: number, figures: readonly (readonly number[])[]) =>
  quietRounds(
    count,
    (round) => Promise.resolve(figures[round] as readonly number[]),
    (round) => round,
  );

describe("the rounds of a benchmark", () => {
  it.each([
    { about: "are all kept on a quiet host", figures: [[10], [11], [12]], kept: [[10], [11], [12]], leftOut: 0 },
    {
      about: "are played again where one differs",
      figures: [[10], [14], [11], [12]],
      kept: [[10], [11], [12]],
      leftOut: 1,
    },
    {
      about: "are played again where one is too quick",
      figures: [[7], [10], [11], [10], [11]],
      kept: [[10], [11], [10], [11]],
      leftOut: 1,
    },
    {
      about: "are played again where a later one differs, too",
      figures: [[10], [14], [11], [15], [12]],
      kept: [[10], [11], [12]],
      leftOut: 2,
    },
    {
      about: "are judged by each case",
      figures: [
        [10, 20],
        [10, 30],
        [11, 21],
        [12, 22],
      ],
      kept: [
        [10, 20],
        [11, 21],
        [12, 22],
      ],
      leftOut: 1,
    },
  ])("$about", async ({ figures, kept, leftOut }) => {
    expect(await played(kept.length, figures)).toEqual({ rounds: kept, leftOut });
  });

  it("are at most four more, whatever they show", async () => {
    const endless = Array.from({ length: 20 }, (_, i) => [2 ** i]);
    const { rounds, leftOut } = await played(7, endless);
    expect({ rounds: rounds.length, leftOut }).toEqual({ rounds: 7, leftOut: 4 });
  });

  it("are printed with the number of left out ones", () => {
    expect(roundsText({ rounds: [1, 2], leftOut: 0 })).toBe("rounds: 2");
    expect(roundsText({ rounds: [1, 2], leftOut: 1 })).toContain("rounds: 2, and 1 that are left out");
  });
});
