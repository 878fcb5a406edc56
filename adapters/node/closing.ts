import type { Socket } from "node:net";
import { guarded } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { connectionOf } from "./connection.ts";

/** The number of unread bytes that the server reads and drops. */
export const discardLimit = 65_536;
/** How long a client may take to send them. */
export const lingerMs = 1000;

/**
 * Closes a connection in two steps (RFC 9112 §9.6): sends a FIN, then reads and drops what the client sends until it ends
 * its side. Closing with unread bytes would reset the connection, and the client could lose the response.
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
  // Node's parser must not see these bytes: it would find requests there, or the same fault again.
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

/** Makes a connection linger after its last response, where Node would close it at once. */
export function lingerAtEnd(socket: Socket, deadlines: Deadlines): void {
  // A named constant: V8 pretenures a closure that is assigned straight to a member.
  const destroySoon = (): void => linger(socket, deadlines);
  socket.destroySoon = destroySoon;
}
