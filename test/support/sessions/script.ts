/** What happens to a store of sessions: requests of several browsers that come, and their calls that are made one by one. */
import fc from "fast-check";
import { absoluteMs, idleMs } from "./model.ts";
import type { Deed } from "./model.ts";

export const browsers = 3;

export type Step =
  | {
      readonly does: "ask";
      readonly browser: number;
      /** Its own cookie, another browser's, an id that was valid once, one that never existed, or a malformed one. */
      readonly cookie: "own" | "another's" | "an old one" | "a made-up one" | "no id";
      readonly pick: number;
      readonly deeds: readonly Deed[];
      readonly isTogether: boolean;
    }
  /** One of the calls that wait is made. */
  | { readonly does: "go"; readonly pick: number }
  /** Two of them are made at once. */
  | { readonly does: "go both"; readonly pick: number; readonly other: number }
  /** One of them fails; `isMade` where the store does it, and its answer is lost. */
  | { readonly does: "fail"; readonly pick: number; readonly isMade: boolean }
  | { readonly does: "wait"; readonly ms: number }
  | { readonly does: "sweep" };

const pick = fc.nat(20);
const deed = fc.constantFrom<Deed>("read", "update", "renew", "close", "start");
const again = fc.constantFrom<Deed>("renew", "update", "close");
const two = fc.oneof(fc.tuple(deed, deed), fc.tuple(again, again)).map((deeds) => [...deeds]);
const ask = fc.record({
  does: fc.constant("ask" as const),
  browser: fc.oneof(fc.constant(0), fc.nat(browsers - 1)),
  cookie: fc.oneof(
    { weight: 8, arbitrary: fc.constant("own" as const) },
    { weight: 3, arbitrary: fc.constantFrom("another's" as const, "an old one" as const) },
    { weight: 1, arbitrary: fc.constantFrom("a made-up one" as const, "no id" as const) },
  ),
  pick,
  deeds: fc.oneof({ weight: 3, arbitrary: deed.map((deed) => [deed]) }, { weight: 1, arbitrary: two }),
  isTogether: fc.boolean(),
});
const go = fc.record({ does: fc.constant("go" as const), pick });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: ask },
  { weight: 16, arbitrary: go },
  { weight: 4, arbitrary: fc.record({ does: fc.constant("go both" as const), pick, other: pick }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant("fail" as const), pick, isMade: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      // Mostly long enough that the next request writes the last use of the session.
      ms: fc.oneof(
        { weight: 3, arbitrary: fc.constant(idleMs / 10 + 1) },
        { weight: 1, arbitrary: fc.constantFrom(1, idleMs / 10, idleMs / 2, idleMs, absoluteMs) },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ does: "sweep" }) },
);

// Most of the following requests have a session, and mostly the first browser's.
const signIns: readonly Step[] = Array.from({ length: browsers }, (_, browser) => [
  { does: "ask" as const, browser, cookie: "own" as const, pick: 0, deeds: ["start" as const], isTogether: false },
  { does: "go" as const, pick: 0 },
]).flat();

export const script: fc.Arbitrary<readonly Step[]> = fc
  .array(step, { minLength: 1, maxLength: 60, size: "max" })
  .map((steps) => [...signIns, ...steps]);
