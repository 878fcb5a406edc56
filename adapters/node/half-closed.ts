import type { ServerResponse } from "node:http";
import { guarded } from "../../src/logging/last-net.ts";
import type { Connection } from "./connection.ts";

/** How long a stream may have nothing to write for a client that may be gone, and how often that is looked at. */
const quietMs = 500;
const everyMs = 250;

/**
 * Waits on a client that ended its side of a connection on which it is owed an answer. It listens on, as `nc -N` does, or
 * it is gone, as the client of a closed tab: a FIN is all there is to see of either, until something is written, which
 * the one takes and the other resets. So what is owed is made and written all the same. But a stream with nothing to
 * write is not kept for a client that could not be told from one that is gone, and no answer is made for one for longer
 * than `sendTimeoutMs`.
 */
export function waitOnEnded(connection: Connection, sendTimeoutMs: number): void {
  const { socket } = connection;
  if (connection.isIdle || socket.destroyed) return;
  // An answer that takes the header of it away takes from Node, too, that the connection ends behind it.
  connection.whenIdle(() => socket.end());
  let written = socket.bytesWritten;
  let quietSince = performance.now();
  const look = guarded(socket, () => {
    const isQuiet = socket.bytesWritten === written && socket.writableLength === 0;
    written = socket.bytesWritten;
    if (!isQuiet) quietSince = performance.now();
    const longest = connection.streams > 0 ? quietMs : sendTimeoutMs;
    if (performance.now() - quietSince >= longest) socket.destroy();
  });
  const timer = setInterval(look, everyMs).unref();
  socket.once("close", () => clearInterval(timer));
}

/**
 * Calls back once the client has gone with its answer unfinished: when the connection closes, or when the client ends its
 * side while the answer is still made. What a half-closed client would rather have, nobody can know; a handler that asks
 * whether its client has gone is one that would not work for nobody.
 */
export function whenGone(response: ServerResponse, act: () => void): void {
  const { socket } = response.req;
  if (response.writableFinished && !socket.destroyed) return;
  const isGone = (): boolean => socket.destroyed || (socket.readableEnded && !response.headersSent);
  if (isGone()) return act();
  // One listener for all three, and no `once`, which costs another two objects: a subscriber to events has it for hours.
  const look = guarded(socket, () => {
    // Node calls an answer finished, too, whose connection is gone from under it.
    const gone = isGone();
    if (!gone && !response.writableFinished) return;
    socket.off("close", look).off("end", look);
    response.off("finish", look);
    if (gone) act();
  });
  socket.on("close", look).on("end", look);
  response.on("finish", look);
}
