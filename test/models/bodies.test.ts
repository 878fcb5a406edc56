/** Concurrent bodies: whole, slow, cut, too large, read late, read twice or not at all. The answers are compared with a model. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { App, Path, Returns, body, bodyStream, post } from "usher-http";
import { logWith, messages } from "../support/logs.ts";
import { active, keepsNothing } from "../support/memory.ts";
import { leaveAll } from "../support/raw-client.ts";
import { FetchWorld, NodeWorld, fills } from "./body-worlds.ts";
import { bodyBudget, maxBody, play, script } from "./bodies.ts";
import type { Step } from "./bodies.ts";
import { played } from "./seeds.ts";

const another = 1000;

/** Plays a script, and asks afterwards what must hold whatever it was. */
async function holds(world: FetchWorld | NodeWorld, steps: readonly Step[], base: number): Promise<void> {
  logWith({});
  await play(world, steps);
  // Used up, given back, and used up again.
  for (let round = 0; round < 2; round++) await fills(world, base + another * (round + 1));
  expect(await world.isAtRest()).toBe(true);
  expect(messages("error")).toEqual([]);
}

describe("bodies and their budget behave like their model", () => {
  it.each([bodyBudget, maxBody + 5])("on app.fetch, with a share of %i bytes for each client", async (share) => {
    const timers = active("Timeout");
    await fc.assert(
      fc.asyncProperty(script, (steps) => holds(new FetchWorld(share), steps, 0)),
      played(150),
    );
    expect(active("Timeout")).toBeLessThanOrEqual(timers);
  });

  it.each([
    ["that was held", "/whole"],
    ["that was read part by part", "/parts"],
    ["that was refused", "/small"],
  ])("keep no memory of a body that %s", async (_how, path) => {
    const routes = [
      post(Path.of("whole"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength)),
      post(
        Path.of("parts"),
        { inputs: { upload: bodyStream({ max: 100_000 }) }, returns: Returns.text },
        async ({ upload }) => String((await upload.read()).ok),
      ),
      post(
        Path.of("small"),
        { inputs: { upload: bodyStream({ max: 1 }) }, returns: Returns.text },
        async ({ upload }) => {
          const { ok } = await upload.read();
          return String(ok);
        },
      ),
    ];
    const app = App.make(routes, { bodyBudget: 100_000, bodyShare: 20_000 });
    await keepsNothing(async () => {
      for (let i = 0; i < 200; i++) {
        const request = new Request(`http://h${path}`, { method: "POST", body: new Uint8Array(10_000) });
        const response = await app.fetch(request, { peer: `10.0.${i}.1` });
        await response.text();
      }
      // Their lines are a test's to keep.
      logWith({});
    });
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
