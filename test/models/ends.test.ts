/** Whatever ends a request first, nothing of it is left: values, streams, places, bytes, tasks; and it has one access line. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { figures } from "../../src/telemetry/measure.ts";
import { holdClock, settle } from "../support/clock.ts";
import { eventually, held } from "../support/eventually.ts";
import { forgetLines, lines } from "../support/logs.ts";
import { Fate, appOf, features, settled } from "./ends.ts";
import type { Features, Step } from "./ends.ts";
import { playedOf } from "./ends-played.ts";
import { played } from "./seeds.ts";

holdClock();

async function play(one: Features): Promise<void> {
  forgetLines();
  const fate = new Fate();
  const app = appOf(one, fate);
  const request = playedOf(one, app, fate);
  for (const step of one.order) await request.does(step);
  for (const step of ["body", ...fate.gates.keys()] as Step[]) await request.does(step);
  await settle();
  await request.does("middleware's second");
  const { status, type } = await request.ended();
  const none = { requests: 0, bodyBytes: 0, tasks: 0, works: 0 };
  await eventually(() => {
    expect({ ...figures, open: fate.open }).toEqual({ ...none, open: 0 });
    expect([fate.released, fate.tasks]).toEqual([fate.acquired, fate.asked]);
  });
  expect(fate.releases).toEqual(["first", "second"].slice(0, fate.acquired).toReversed());
  if (one.deadline === "none") expect(fate.kept).toEqual(settled(one, fate));
  expect(type).not.toBe("application/json");
  expect(lines().filter(({ message }) => /^(?:POST|HEAD|GET) \/x \d+$/.test(String(message)))).toEqual([
    expect.objectContaining({ "http.response.status_code": status }),
  ]);
  // Its place is free.
  expect((await app.fetch(new Request("http://h/none"))).status).not.toBe(503);
}

it("nothing is left of a request, whatever ends it first", async () => {
  await held(fc.assert(fc.asyncProperty(features, play), played(300)));
});
