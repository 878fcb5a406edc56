import type { ServerResponse } from "node:http";

/**
 * Bounds how long a client may take nothing of an answer. Node's own socket time-out knows whether any byte was taken
 * since it last looked, and destroys the connection where none was.
 */
export function sendWithin(response: ServerResponse, sendTimeoutMs: number): void {
  const { socket } = response;
  if (socket === null) return;
  socket.setTimeout(sendTimeoutMs);
  // Before Node's own listener, which sets the time-out of an idle connection.
  response.prependOnceListener("finish", () => socket.setTimeout(0));
}

/** Closes the connection with the answer unfinished, once what was written of it is out. */
export function hangUp(response: ServerResponse, sendTimeoutMs: number): void {
  const { socket } = response;
  if (socket === null) return;
  socket.setTimeout(sendTimeoutMs);
  // Node holds what is written to a response until the next tick.
  setImmediate(() => socket.destroySoon());
}
