import { ServerResponse } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Sweep } from "../../src/app/sweep.ts";
import type { Connection } from "./connection.ts";
import { guarded } from "./guarded.ts";
import { linger } from "./linger.ts";
import { timedOut } from "./sending.ts";

/** Bytes that are read behind a request that waits for its turn. The system keeps what comes after them. */
const mostHeld = 65_536;

/**
 * Calls `act` once the responses ahead of a `CONNECT` or an `Upgrade` are written, with what its client sent meanwhile. Node
 * emits the event as soon as it has the head, when a response of a pipelined request may still be written: a second response
 * cannot be assigned to the socket then. Never calls it where the connection ends before.
 *
 * @param head What came behind the head.
 */
export function inTurn(connection: Connection, head: Buffer, sendTimeoutMs: number, act: (head: Buffer) => void): void {
  const { socket } = connection;
  if (connection.isFresh) return act(head);
  const held = [head];
  let bytes = head.byteLength;
  // It is read on, so that the end of a client that leaves is seen.
  const hold = (part: Buffer): void => {
    bytes += part.byteLength;
    held.push(part);
    if (bytes > mostHeld) socket.pause();
  };
  // Node takes its own listener off: without one, a client that takes nothing of the responses ahead is never left.
  const expire = guarded(socket, () => timedOut(socket, sendTimeoutMs));
  socket.on("timeout", expire);
  const take = guarded(socket, () => {
    socket.off("timeout", expire).off("data", hold);
    if (socket.destroyed || connection.closing) return;
    socket.pause();
    act(Buffer.concat(held));
  });
  // A response that was written at once gives the socket back at the end of the turn.
  const takeNext = (): void => void setImmediate(take);
  if (connection.isIdle) return takeNext();
  socket.on("data", hold);
  connection.whenIdle(takeNext);
}

/** The response to a request whose connection Node handed over. It is the connection's last. */
export function lastResponse(request: IncomingMessage, socket: Socket, sweep: Sweep): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  // Nobody reads what the client sent behind the request, and a close with bytes unread would reset the connection.
  response.once(
    "finish",
    guarded(socket, () => linger(socket, sweep)),
  );
  return response;
}
