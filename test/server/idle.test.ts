/** How long a connection may stay without a request, unless it is set: on each listener that has such a limit. */
import { expect, it } from "vitest";
import { inSeconds } from "../../adapters/bun/listen.ts";
import { limitsOf } from "../../src/server/options.ts";

/** For how long AWS's Application Load Balancer and nginx keep a connection to a server. */
const balancerMs = 60_000;
/** Bun looks at its connections every four seconds. */
const bunTickMs = 4000;

it("is longer than a balancer keeps its connections, also on Bun, which rounds it", () => {
  const { idleTimeoutMs } = limitsOf({});
  expect(idleTimeoutMs).toBeGreaterThan(balancerMs + 1000);
  expect(inSeconds("idleTimeoutMs", idleTimeoutMs) * 1000 - bunTickMs).toBeGreaterThan(balancerMs);
});
