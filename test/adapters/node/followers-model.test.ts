/** Streams of events of a hub compared with a model: clients connect, read slowly, disconnect or resume, and the server stops. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { held } from "../../support/eventually.ts";
import { play } from "../../support/followers/play.ts";
import { script } from "../../support/followers/script.ts";
import { keepsNothing } from "../../support/memory.ts";
import { runs } from "../../support/runs.ts";

describe("streams of events", { timeout: 600_000 }, () => {
  it("behave like their model, and leave nothing open", async () => {
    await held(fc.assert(fc.asyncProperty(script, play), runs(60)));
  });

  it("leave nothing in memory", async () => {
    const scripts = fc.sample(script, { seed: runs(1).seed, numRuns: 10 });
    await keepsNothing(async () => {
      for (const script of scripts) await play(script);
    });
  });
});
