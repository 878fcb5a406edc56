/** How long a client that sends behind the last response of its connection is read (RFC 9112 §9.6). */
import { expect, it } from "vitest";
import { Lingering, discardLimit, lingerBytes } from "../../src/server/lingering.ts";

/** The seconds that a client gets that sends these bytes in each of them. */
function secondsOf(bytesInSecond: readonly number[]): number {
  const lingering = new Lingering();
  let seconds = 0;
  for (const bytes of bytesInSecond) {
    seconds++;
    lingering.takes(bytes);
    if (!lingering.continues()) return seconds;
  }
  return Number.POSITIVE_INFINITY;
}

const fast = discardLimit + 1;

it.each<readonly [what: string, bytesInSecond: readonly number[], seconds: number]>([
  ["sends nothing", [0, 0], 1],
  ["sends little", [discardLimit, fast], 1],
  ["sends fast", [fast, fast, fast, fast, fast, fast], 5],
  ["stops", [fast, fast, 0, fast], 3],
  ["sends as fast as it can", Array<number>(6).fill(lingerBytes), 5],
])("a client that %s gets %j seconds", (_what, bytesInSecond, seconds) => {
  expect(secondsOf(bytesInSecond)).toBe(seconds);
});

it("reads 8 MiB in a second, and as much in the next one", () => {
  const lingering = new Lingering();
  for (let second = 0; second < 2; second++) {
    expect(lingering.takes(lingerBytes - 1)).toBe(true);
    expect(lingering.takes(1)).toBe(false);
    expect(lingering.continues()).toBe(true);
  }
});
