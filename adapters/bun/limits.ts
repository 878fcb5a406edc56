import type { ServeOptions } from "../../src/app/listening.ts";

const mostSeconds = 255;

/**
 * A time as Bun takes one: in whole seconds, of which it looks at four at a time.
 *
 * @throws RangeError where Bun has no room for it.
 */
export function inSeconds(name: string, ms: number): number {
  if (ms <= mostSeconds * 1000) return Math.ceil(ms / 1000);
  throw new RangeError(`serve: ${name} cannot be ${ms}: on Bun it is at most ${mostSeconds * 1000}`);
}

/**
 * Has Bun take heads as long as they may be. It has one limit for the whole process, so that is never made less: each
 * server counts for itself.
 */
export async function makeRoom({ maxHeaderBytes }: ServeOptions): Promise<void> {
  if (maxHeaderBytes === undefined) return;
  // To Node it is a constant.
  const http = (await import("node:http")).default as { maxHeaderSize: number };
  if (http.maxHeaderSize < maxHeaderBytes) http.maxHeaderSize = maxHeaderBytes;
}

/** What was asked for and cannot be had, in words for the log. */
export function unkept({ headTimeoutMs, maxConnections }: ServeOptions): readonly string[] {
  const why: string[] = [];
  if (headTimeoutMs !== undefined) why.push("headTimeoutMs is not kept on Bun, where the first head has 10 s");
  if (maxConnections !== undefined) why.push("maxConnections is not kept on Bun, which takes every connection");
  return why;
}
