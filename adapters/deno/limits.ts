import type { ServeOptions } from "../../src/app/listening.ts";
import { Refused } from "./target.ts";

/** Bytes of a head that Deno takes, whatever it is asked for. */
const mostHeaderBytes = 65_536;

const tooLong = new Refused(431, "a head past its limit");

/**
 * Whether a head is longer than it may be, in the bytes it has to have: Deno tells them to nobody. They are counted where
 * an application asked for a limit of its own, for it takes every header to be read.
 */
export function refusedLength(request: Request, maxHeaderBytes: number): Refused | undefined {
  let bytes = request.method.length + request.url.length;
  for (const [name, value] of request.headers) bytes += name.length + value.length + 4;
  return bytes > maxHeaderBytes ? tooLong : undefined;
}

/** What was asked for and cannot be had, in words for the log. */
export function unkept(options: ServeOptions): readonly string[] {
  const { headTimeoutMs, idleTimeoutMs, maxConnections, maxHeaderBytes = 0 } = options;
  const why: string[] = [];
  if (headTimeoutMs !== undefined) why.push("headTimeoutMs is not kept on Deno, which waits for a head for ever");
  if (idleTimeoutMs !== undefined) why.push("idleTimeoutMs is not kept on Deno, which keeps a connection for ever");
  if (maxConnections !== undefined) why.push("maxConnections is not kept on Deno, which takes every connection");
  if (maxHeaderBytes > mostHeaderBytes) why.push(`maxHeaderBytes is at most ${mostHeaderBytes} on Deno`);
  return why;
}
