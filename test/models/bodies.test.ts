/** Bodies whole, slow, cut, too large, read late, read twice or not at all, beside each other: the answers are the model's. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messages } from "../support/logs.ts";
import { active } from "../support/memory.ts";
import { leaveAll } from "../support/raw-client.ts";
import { FetchWorld, NodeWorld, fills } from "./body-worlds.ts";
import { bodyBudget, maxBody, play, script } from "./bodies.ts";
import type { Step } from "./bodies.ts";
import { played } from "./seeds.ts";

const another = 1000;

/** Plays a script, and asks afterwards what must hold whatever it was. */
async function holds(world: FetchWorld | NodeWorld, steps: readonly Step[], base: number): Promise<void> {
  await play(world, steps);
  // Used up, given back, and used up again.
  for (let round = 0; round < 2; round++) await fills(world, base + another * (round + 1));
  expect(await world.isAtRest()).toBe(true);
  expect(messages("error")).toEqual([]);
}

describe("bodies, and the budget for them, by their model", () => {
  it.each([bodyBudget, maxBody + 5])("on app.fetch, with a share of %i bytes for each client", async (share) => {
    const timers = active("Timeout");
    await fc.assert(
      fc.asyncProperty(script, (steps) => holds(new FetchWorld(share), steps, 0)),
      played(150),
    );
    expect(active("Timeout")).toBeLessThanOrEqual(timers);
  });

  it("on usher-http/node", async () => {
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        const world = new NodeWorld();
        await world.begin();
        await holds(world, steps, 0);
        leaveAll();
      }),
      played(50),
    );
  });
});
