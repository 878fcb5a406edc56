/**
 * How many states the end of a request has, by the members that say where it is in its life, wherever code of the application runs.
 * The ceiling only falls. A member for one more case raises it: a case belongs into a state that exists.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { RequestState } from "../../src/app/request.ts";
import type { InputRequest } from "../../src/inputs/request.ts";
import { holdClock, settle } from "../support/clock.ts";
import { forgetLines } from "../support/logs.ts";
import { Fate, appOf, features } from "./ends.ts";
import type { Features, Step } from "./ends.ts";
import { Played } from "./ends-played.ts";

holdClock();

/** Seen: 113, and up to five more by what of two that are due at once comes first. */
const ceiling = 118;

function stateOf({ deadline, acquired, inside, ...request }: RequestState): string {
  return JSON.stringify([
    [request.isSent, request.raised, request.isOutcomeUnknown, request.isCounted, request.place],
    [request.guard !== undefined, request.route !== undefined, inside?.made !== undefined],
    deadline && [deadline.hasExpired, deadline.isAnswered, deadline.hasCommitted, deadline.handling !== undefined],
    acquired && [acquired.answer !== undefined, acquired.hasFailed, acquired.isUndone],
    acquired && [acquired.keeping !== undefined, acquired.producing !== undefined],
  ]);
}

async function play(one: Features, seen: Set<string>): Promise<void> {
  forgetLines();
  const fate = new Fate();
  const look = (state: InputRequest | undefined): void => {
    if (state instanceof RequestState) seen.add(stateOf(state));
  };
  fate.looks = look;
  const request = new Played(one, appOf(one, fate), fate);
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
  const seen = new Set<string>();
  for (const one of fc.sample(features, { numRuns: 200, seed: 7 })) await play(one, seen);
  expect(seen.size).toBeLessThanOrEqual(ceiling);
});
