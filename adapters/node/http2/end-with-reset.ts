import type { ServerHttp2Stream } from "node:http2";
import { guarded } from "../../../src/logging/raised.ts";

/**
 * Destroys a stream that is read or written part by part once its client resets it. After a reset without an error Node waits until
 * all that arrived is read, and Node 20 to 24 until the last write ends, which may never happen: neither the stream nor its
 * connection would close.
 */
export function endWithReset(stream: ServerHttp2Stream): void {
  const end = guarded(stream, () => stream.destroy());
  // Node emits it while it closes the stream.
  stream.once("aborted", () => setImmediate(end));
}
