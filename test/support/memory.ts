/** The memory that a server in this process holds after a garbage collection. */
import { getActiveResourcesInfo } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, inject } from "vitest";
import { forgetLines } from "./logs.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly isProcessShared?: boolean;
  }
}

if (inject("isProcessShared") === true) {
  throw new Error("a test that counts what its process holds is named in test/support/shared.ts");
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** How many of a kind are open: `Timeout`, `TCPSocketWrap`. */
export const active = (what: string): number => getActiveResourcesInfo().filter((name) => name === what).length;

export const sockets = (): number => active("TCPSocketWrap");

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Bytes. */
export async function memory(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    await turn();
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** By sixty clients: a connection that is held on to, with its request, is 10 KiB and more. */
const LEFT_AT_MOST = 500_000;

/**
 * Has twenty clients do something, in a round, and three rounds more, which must leave no more behind than the first.
 *
 * What is kept is kept by every three rounds. What the engine compiles or caches for itself comes once, so one group of four may
 * leave more. The lines that were logged are let go: the test itself holds them, a kilobyte for each request.
 */
export async function keepsNothing(round: () => Promise<void>): Promise<void> {
  const held = (): Promise<number> => {
    forgetLines();
    return memory();
  };
  await round();
  let before = await held();
  const left: number[] = [];
  do {
    for (let i = 0; i < 3; i++) await round();
    const after = await held();
    left.push(after - before);
    before = after;
  } while (left.length < 4 && Math.min(...left) >= LEFT_AT_MOST);
  expect(Math.min(...left)).toBeLessThan(LEFT_AT_MOST);
}
