/** A clock that a test holds, for the deadlines of requests. */
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { App, Meta, Path, Returns } from "usher-http";
import type { AppOptions, Route } from "usher-http";

/** One clock for a file: the requests of a test that are not answered end with it. */
export function holdClock(): void {
  beforeAll(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
  afterEach(() => void vi.advanceTimersByTime(70_000));
  afterAll(() => void vi.useRealTimers());
}

export const at = Path.of("x");
export const text = { inputs: {}, returns: Returns.text };
export const own = (ms: number | "none"): Meta => Meta.empty.add(Meta.deadline, ms);
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
