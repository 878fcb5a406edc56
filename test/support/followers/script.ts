/** What happens to streams of events that follow a hub: who comes, reads, goes, publishes, and when the server stops. */
import fc from "fast-check";

export const clients = 4;
export const topics = ["a", "b"] as const;
export type Topic = (typeof topics)[number];
export const keepAliveMs = 1000;

export type Step =
  /** Connects, and continues after the last event that it received if it `resumes`. */
  | { readonly does: "come"; readonly on: number; readonly topic: Topic; readonly resumes: boolean }
  | { readonly does: "stop reading" | "read on" | "leave" | "reset"; readonly on: number }
  | { readonly does: "publish"; readonly topic: Topic; readonly size: number }
  | { readonly does: "wait"; readonly ms: number }
  | { readonly does: "close the hub" | "stop" };

const on = fc.nat(clients - 1);
const topic = fc.constantFrom(...topics);
const come = fc.record({ does: fc.constant("come" as const), on, topic, resumes: fc.boolean() });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: come },
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constantFrom("stop reading", "read on", "leave", "reset"), on }),
  },
  {
    weight: 8,
    // The largest fill what a client that does not read is sent ahead.
    arbitrary: fc.record({ does: fc.constant("publish" as const), topic, size: fc.constantFrom(0, 1, 100, 600_000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      ms: fc.constantFrom(1, keepAliveMs / 2, keepAliveMs / 2, keepAliveMs, 3 * keepAliveMs),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ does: "close the hub" }, { does: "stop" }) },
);

export const script: fc.Arbitrary<readonly Step[]> = fc
  .tuple(come, fc.array(step, { maxLength: 40, size: "max" }))
  .map(([first, steps]) => [first, ...steps]);
