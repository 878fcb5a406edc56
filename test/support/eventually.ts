import { expect, vi } from "vitest";
import { waitMs } from "./patience.ts";

/** Asks again and again until it holds: how long that takes is the machine's affair. */
export function eventually<A>(check: () => A | Promise<A>): Promise<A> {
  return vi.waitFor(check, { timeout: waitMs(), interval: 10 });
}

/** Waits until a count has begun and grows no more. */
export async function stalled(count: () => number): Promise<void> {
  await eventually(() => expect(count()).toBeGreaterThan(0));
  for (let before = -1; before !== count();) {
    before = count();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** Waits for what should come, by the machine's clock: an error says what did not. */
export async function comes<A>(what: string, awaited: Promise<A>): Promise<A> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`did not come: ${what}`)), waitMs());
  });
  try {
    return await Promise.race([awaited, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a test waited for is there: a wait that ends is what it asserts, and a test without an assertion fails. */
export function came(isThere: boolean): void {
  expect(isThere).toBe(true);
}

/** Counts a property of fast-check as the assertion that it is. */
export async function held(property: Promise<void> | void): Promise<void> {
  await expect(Promise.resolve(property)).resolves.toBeUndefined();
}

/**
 * Runs what takes its times from a factor: again with times that are five times as long where it did not hold, because the
 * machine may have stood still for one of them. What is wrong whatever the speed does not hold for any of them.
 */
export async function atSomeSpeed(run: (factor: number) => Promise<void>): Promise<void> {
  for (const factor of [1, 5]) {
    const isRight = await run(factor).then(
      () => true,
      () => false,
    );
    if (isRight) return;
  }
  await run(25);
}
