/**
 * How many states the end of a request has, wherever code of the application runs. The ceilings only fall: one more case belongs into a
 * state that exists.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { RequestState } from "../../src/app/request.ts";
import type { InputRequest } from "../../src/inputs/request.ts";
import { holdClock, settle } from "../support/clock.ts";
import { forgetLines } from "../support/logs.ts";
import { Fate, appOf, features } from "./ends.ts";
import type { Features, Step } from "./ends.ts";
import { playedOf } from "./ends-played.ts";

holdClock();

/** Where the work and the reply are: all that decides what may happen next. */
const maxPoints = 15;
/** The same with how the request ends, and its place of `maxInFlight`. */
const maxStates = 38;

function pointOf({ ending: { at } }: RequestState): string {
  return `${at.work} / ${at.reply}`;
}

function stateOf({ ending: { at, effect, mishap }, place }: RequestState): string {
  return `${at.work} / ${at.reply} / ${effect} / ${mishap} / ${typeof place === "string" ? place : "queued"}`;
}

interface Seen {
  readonly points: Set<string>;
  readonly states: Set<string>;
}

async function play(one: Features, seen: Seen): Promise<void> {
  forgetLines();
  const fate = new Fate();
  const look = (state: InputRequest | undefined): void => {
    if (!(state instanceof RequestState)) return;
    seen.points.add(pointOf(state));
    seen.states.add(stateOf(state));
  };
  fate.looks = look;
  const request = playedOf(one, appOf(one, fate), fate);
  const steps: readonly Step[] = [
    ...one.order,
    "body",
    ...(fate.gates.keys() as Iterable<Step>),
    "middleware's second",
  ];
  for (const step of steps) {
    await request.does(step);
    look(fate.state);
  }
  await settle();
  await request.ended();
  await settle();
  look(fate.state);
}

it("the end of a request has no more states than it had", async () => {
  const seen: Seen = { points: new Set(), states: new Set() };
  for (const one of fc.sample(features, { numRuns: 200, seed: 7 })) await play(one, seen);
  console.log(`${seen.points.size} points, ${seen.states.size} with how it ends`);
  expect(seen.points.size).toBeLessThanOrEqual(maxPoints);
  expect(seen.states.size).toBeLessThanOrEqual(maxStates);
});
