/** A clock that a test holds, for the deadlines of requests. */
import { afterEach, beforeEach, vi } from "vitest";
import { App, Deadline, Meta, Path, Returns } from "usher-http";
import type { AppOptions, Route } from "usher-http";

/** Holds the clock in each test of a file. The requests that are not answered end with their test: the timer of all deadlines does. */
export function holdClock(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
  afterEach(() => {
    vi.advanceTimersByTime(70_000);
    vi.useRealTimers();
  });
}

export const at = Path.of("x");
export const text = { inputs: {}, returns: Returns.text };
export const own = (ms: number | "none"): Meta => Meta.empty.add(Meta.deadline, ms === "none" ? ms : Deadline.make(ms));
export const never = (): Promise<never> => new Promise(() => {});
/** Lets what is settled already run, and what waits for a turn of the event loop, after each other. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => {
      setImmediate(() => setTimeout(resolve, 0));
    });
  }
}

/** Asks an app of one route, and lets that much time pass. */
export async function asked(
  route: Route,
  options: AppOptions,
  passes: number,
  request: RequestInit = {},
): Promise<Response | "no answer"> {
  const answer = App.make([route], options).fetch(new Request("http://h/x", request));
  await settle();
  vi.advanceTimersByTime(passes);
  return Promise.race([answer, settle().then(() => "no answer" as const)]);
}

export const statusOf = (answer: Response | "no answer"): number | "no answer" =>
  answer === "no answer" ? answer : answer.status;
