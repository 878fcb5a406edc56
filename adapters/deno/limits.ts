import type { ServeOptions } from "../../src/app/listening.ts";

/** Bytes of a head that Deno takes, whatever it is asked for. */
const mostHeaderBytes = 65_536;

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
