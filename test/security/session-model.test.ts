/** Sessions compared with a model: concurrent requests of several browsers, where each call of the store may be slow or fail. */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Sessions } from "usher-http";
import { logWith } from "../support/logs.ts";
import { runs } from "../support/runs.ts";
import { Play } from "../support/sessions/play.ts";
import { script } from "../support/sessions/script.ts";

beforeEach(() => {
  logWith({ level: undefined });
});

describe("sessions in memory behave like their model", () => {
  it.each([
    ["with room for all", 100_000],
    ["with room for two", 2],
  ])("%s", { timeout: 600_000 }, async (_what, most) => {
    const played = fc.assert(
      fc.asyncProperty(script, async (script) => new Play(Sessions.memory({ most }), most).play(script)),
      runs(400),
    );
    await expect(played).resolves.toBeUndefined();
  });
});
