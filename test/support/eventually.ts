import { vi } from "vitest";

/** Asks again and again until it holds: how long that takes is the machine's affair. */
export function eventually<A>(check: () => A | Promise<A>): Promise<A> {
  return vi.waitFor(check, { timeout: 30_000, interval: 10 });
}
