/** Anything that may happen to a pool, one after the other. */
import fc from "fast-check";
import type { PoolOptions } from "usher-http/postgres";

/** What is done in a transaction, or with a connection that is lent. */
export type Step =
  | { readonly step: "write" | "hold" | "sleep" | "unawaited" | "nested" | "conflict" | "late" | "savepoint" }
  /** Fails when it is prepared, or when it runs; the caller may continue. */
  | { readonly step: "fail"; readonly at: "prepare" | "run"; readonly isCaught: boolean };

export interface Transaction {
  readonly do: "transaction";
  readonly steps: readonly Step[];
  readonly end: "commit" | "refuse" | "keep" | "throw";
  readonly retries: number;
}

export type Network = "cut" | "cutAll" | "hush" | "speak" | "hold" | "letIn" | "turnAway" | "refuse";

export type Act =
  | { readonly do: "exec"; readonly fails: "prepare" | "run" | undefined }
  | { readonly do: "use"; readonly steps: readonly Step[] }
  | Transaction
  | { readonly do: "release" | "abort"; readonly which: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "kill"; readonly which: number; readonly all: boolean }
  | { readonly do: "restart"; readonly ending: "fast" | "immediate" }
  | { readonly do: "close" }
  | { readonly do: Network };

const which = fc.nat(9);
const failing: fc.Arbitrary<Step> = fc.record({
  step: fc.constant("fail" as const),
  at: fc.constantFrom("prepare" as const, "run" as const),
  isCaught: fc.boolean(),
});
const plain = fc.record({ step: fc.constantFrom("write", "write", "hold", "hold", "sleep", "unawaited", "savepoint") });
const inTransaction = fc.record({ step: fc.constantFrom("nested" as const, "conflict" as const, "late" as const) });
const step = fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: failing });

const callers: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    do: fc.constant("exec" as const),
    fails: fc.constantFrom(undefined, undefined, undefined, "prepare" as const, "run" as const),
  }),
  fc.record({
    do: fc.constant("use" as const),
    steps: fc.array(fc.record({ step: fc.constantFrom("write", "hold", "sleep") }), { maxLength: 3 }),
  }),
  fc.record({
    do: fc.constant("transaction" as const),
    steps: fc.array(fc.oneof({ weight: 4, arbitrary: step }, { weight: 1, arbitrary: inTransaction }), {
      maxLength: 4,
    }),
    end: fc.constantFrom("commit" as const, "commit" as const, "refuse" as const, "keep" as const, "throw" as const),
    retries: fc.nat(2),
  }),
);

const world: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constantFrom("cut", "cutAll", "hush", "speak", "hold", "letIn", "turnAway", "refuse") }),
  fc.record({ do: fc.constant("kill" as const), which, all: fc.boolean() }),
);

const own: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constantFrom("release" as const, "abort" as const), which }),
  fc.record({ do: fc.constant("release" as const), which }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(0, 10, 100, 250, 1000, 1000, 6000, 20_000) }),
);

const rare: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("close" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("restart" as const),
      ending: fc.constantFrom("fast" as const, "immediate" as const),
    }),
  },
);

const act = fc.oneof(
  { weight: 40, arbitrary: callers },
  { weight: 25, arbitrary: own },
  { weight: 14, arbitrary: world },
  { weight: 1, arbitrary: rare },
);

/** What happens, and how many turns of the event loop later the next thing does. */
export const sequence: fc.Arbitrary<readonly { readonly act: Act; readonly turns: number }[]> = fc.array(
  fc.record({ act, turns: fc.oneof(fc.nat(3), fc.nat(40)) }),
  { minLength: 1, maxLength: 25, size: "max" },
);

export const options: fc.Arbitrary<PoolOptions> = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  waitMs: fc.constantFrom(100, 5000),
  // Where a text is all of a message, and so found in it, statements are not kept prepared.
  statementCache: fc.constantFrom(0, 256),
  reset: fc.constantFrom("use" as const, "always" as const, "never" as const),
  maxLifetimeMs: fc.constantFrom(1000, 1_800_000),
  idleCheckMs: fc.constantFrom(400, 60_000),
});
