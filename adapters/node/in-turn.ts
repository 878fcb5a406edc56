import { ServerResponse } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Sweep } from "../../src/app/sweep.ts";
import { guarded } from "../../src/logging/last-net.ts";
import type { Connection } from "./connection.ts";
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
  // Node takes its own listener off: without one, a client that takes nothing of the responses ahead is never left.
  const expire = guarded(socket, () => timedOut(socket, sendTimeoutMs));
  socket.on("timeout", expire);
  const take = guarded(socket, () => {
    socket.off("timeout", expire);
    const held = release();
    if (!socket.destroyed && !connection.closing) act(held);
  });
  // A response that was written at once gives the socket back at the end of the turn.
  const takeNext = (): void => {
    setImmediate(take);
  };
  const release = holdBytes(socket, head);
  if (connection.isIdle) takeNext();
  else connection.whenIdle(takeNext);
}

/**
 * Reads what a client sends while nobody takes it. A socket that is not read never tells that its client ended its side or is
 * gone: a handler that waits for that would wait for ever, and the connection with it.
 *
 * @param head What has been read already.
 * @returns Ends it, with the socket paused, and gives all that was read.
 */
export function holdBytes(socket: Socket, head: Buffer): () => Buffer {
  const held = [head];
  let bytes = head.byteLength;
  const hold = (part: Buffer): void => {
    bytes += part.byteLength;
    held.push(part);
    if (bytes > mostHeld) socket.pause();
  };
  // A listener alone does not resume a socket that was paused.
  socket.on("data", hold).resume();
  return () => {
    socket.off("data", hold).pause();
    return Buffer.concat(held);
  };
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
