import { expect, vi } from "vitest";

/** Asks again and again until it holds: how long that takes is the machine's affair. */
export function eventually<A>(check: () => A | Promise<A>): Promise<A> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}

/** What a test waited for is there: a wait that ends is what it asserts, and a test without an assertion fails. */
export function came(isThere: boolean): void {
  expect(isThere).toBe(true);
}

/** Counts a property of fast-check as the assertion that it is. */
export async function held(property: Promise<void> | void): Promise<void> {
  await expect(Promise.resolve(property)).resolves.toBeUndefined();
}
