import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { say } from "../../src/app/listener-log.ts";
import { guarded } from "../../src/logging/last-net.ts";
import { connectionOf } from "./connection.ts";
import type { Writing } from "./writing.ts";

/**
 * Bounds how long a client may take nothing of an answer. Node's own socket time-out knows whether any byte was taken
 * since it last looked; `timedOut` is what it then does.
 */
export function sendWithin(response: ServerResponse, { sendTimeoutMs, isMounted }: Writing): void {
  const { socket } = response.req;
  if (!isMounted) socket.setTimeout(sendTimeoutMs);
  // Another's server does what it will when a connection times out, but where the answer whose turn it is hears of it.
  else if (response.socket === null)
    response.once(
      "socket",
      guarded(socket, () => sendWithinMounted(response, socket, sendTimeoutMs)),
    );
  else sendWithinMounted(response, socket, sendTimeoutMs);
}

function sendWithinMounted(response: ServerResponse, socket: Socket, sendTimeoutMs: number): void {
  if (response.listenerCount("timeout") > 0) {
    socket.setTimeout(sendTimeoutMs);
    return;
  }
  const before = socket.timeout ?? 0;
  response.on(
    "timeout",
    guarded(socket, () => timedOut(socket, sendTimeoutMs)),
  );
  // Ahead of Node's own listener, which sets how long the connection may then be idle.
  response.prependOnceListener(
    "finish",
    guarded(socket, () => {
      socket.setTimeout(before);
    }),
  );
  socket.setTimeout(sendTimeoutMs);
}

/** A connection on which nothing went either way for a time: closed where its client is what kept it. */
export function timedOut(socket: Socket, sendTimeoutMs: number): void {
  const connection = connectionOf(socket);
  if (unsentBytes(socket) > 0) {
    say("info", `closed a connection whose client stopped reading for ${sendTimeoutMs / 1000}s`);
    connection.stoppedReading = true;
    socket.destroy();
  } else if (connection.isIdle && !(connection.isFresh && connection.mayHaveBegun)) {
    // Half of its first head has a time of its own.
    socket.destroy();
  }
}

// Bun's sockets know of nothing that waits in them, its answers do; Node's own name for the one whose turn it is.
function unsentBytes(socket: Socket): number {
  const answer = Reflect.get(socket, "_httpMessage") as ServerResponse | null | undefined;
  return socket.writableLength || (answer?.writableLength ?? 0);
}

/** Closes the connection with the answer unfinished, once what was written of it is out. */
export function hangUp(response: ServerResponse, writing: Writing): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  sendWithin(response, writing);
  // Called once everything before it is with the socket: Node holds it back, and behind the answers before it.
  response.write(
    "",
    guarded(socket, () => socket.destroySoon()),
  );
}
