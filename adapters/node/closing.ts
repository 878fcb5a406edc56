import type { Socket } from "node:net";
import { guarded } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { connectionOf } from "./connection.ts";

/** Bytes of what nobody reads that are taken off the wire. */
export const discardLimit = 65_536;
/** How long a client may take to send them. */
export const lingerMs = 1000;

/**
 * Ends a connection in two steps (RFC 9112 §9.6): tells that nothing more comes, and drops what the client still sends
 * until it ends its own side. A close with bytes unread would reset it, and the client could lose the answer.
 */
export function linger(socket: Socket, deadlines: Deadlines): void {
  let dropped = 0;
  const close = guarded(socket, () => {
    deadline.clear();
    if (socket.writableFinished) socket.destroy();
    else socket.once("finish", destroy);
  });
  const deadline = deadlines.time(lingerMs, { expire: close });
  connectionOf(socket).closing = true;
  socket.end();
  // Node's parser is to see none of it: it would find requests there, or the same fault again.
  const drop = guarded(socket, (part: Buffer) => {
    dropped += part.byteLength;
    if (dropped > discardLimit) close();
  });
  socket.removeAllListeners("data").on("data", drop);
  socket.once("end", close).once("close", close).resume();
  if (socket.readableEnded) close();
}

function destroy(this: Socket): void {
  this.destroy();
}

/** Has a connection linger after its last answer, where Node would close it at once. */
export function lingerAtEnd(socket: Socket, deadlines: Deadlines): void {
  // By a name, and not put straight in its place: V8 makes such a closure old at once.
  const destroySoon = (): void => linger(socket, deadlines);
  socket.destroySoon = destroySoon;
}
