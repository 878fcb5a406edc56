/** WebSockets and takeovers compared with a model, for all actions of their clients, their handlers and the server's stop. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { held } from "../../support/eventually.ts";
import { keepsNothing } from "../../support/memory.ts";
import { runs } from "../../support/runs.ts";
import { play } from "../../support/taken-over/play.ts";
import { scriptOf } from "../../support/taken-over/script.ts";

const script = scriptOf("socket", "taken");

describe("connections that speak another protocol", { timeout: 600_000 }, () => {
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
