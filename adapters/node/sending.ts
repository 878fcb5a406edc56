import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { log } from "../../src/logging/writer.ts";
import { connectionOf } from "./connections.ts";

/**
 * Bounds how long a client may take nothing of an answer. Node's own socket time-out knows whether any byte was taken
 * since it last looked; `timedOut` is what it then does.
 */
export function sendWithin({ req }: ServerResponse, sendTimeoutMs: number): void {
  req.socket.setTimeout(sendTimeoutMs);
}

/** A connection on which nothing went either way for a time: closed where its client is what kept it. */
export function timedOut(socket: Socket, sendTimeoutMs: number): void {
  if (socket.writableLength > 0) {
    log({
      level: "info",
      source: "framework.http",
      message: `closed a connection whose client stopped reading for ${sendTimeoutMs / 1000}s`,
      fields: {},
      context: undefined,
    });
    socket.destroy();
  } else if (connectionOf(socket).isIdle) {
    socket.destroy();
  }
}

/** Closes the connection with the answer unfinished, once what was written of it is out. */
export function hangUp(response: ServerResponse, sendTimeoutMs: number): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  socket.setTimeout(sendTimeoutMs);
  // Called once everything before it is with the socket: Node holds it back, and behind the answers before it.
  response.write("", () => socket.destroySoon());
}
