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

/** Sets what Bun has one of for the whole process. */
export async function keep({ maxHeaderBytes }: ServeOptions): Promise<void> {
  if (maxHeaderBytes === undefined) return;
  const http = await import("node:http");
  // To Node it is a constant; on Bun it is what every server goes by.
  (http.default as { maxHeaderSize: number }).maxHeaderSize = maxHeaderBytes;
}

/** What was asked for and cannot be had, in words for the log. */
export function unkept({ headTimeoutMs, maxConnections }: ServeOptions): readonly string[] {
  const why: string[] = [];
  if (headTimeoutMs !== undefined) why.push("headTimeoutMs is not kept on Bun, where the first head has 10 s");
  if (maxConnections !== undefined) why.push("maxConnections is not kept on Bun, which takes every connection");
  return why;
}
