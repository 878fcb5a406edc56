import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { logListener } from "../../src/doors/apps.ts";
import type { OpenStream, StreamEnd } from "../../src/doors/events.ts";
import { guarded } from "../../src/doors/logging.ts";
import { connectionOf } from "./connection.ts";
import { lingerMs } from "../../src/doors/server.ts";
import { responseBeingWritten } from "./private.ts";
import { SendWatch } from "./send-watch.ts";
import { StreamWriter } from "./stream-writer.ts";
import type { ServerState } from "./stream-writer.ts";

/**
 * Limits how long a client may read nothing of a response, by Node's socket timeout, which calls `timedOut`, and for a client that
 * sends meanwhile by a watch.
 */
export function sendWithin(response: ServerResponse, server: ServerState): void {
  const { sendTimeoutMs, isMounted } = server;
  const { socket } = response.req;
  const connection = connectionOf(socket);
  const { writing } = connection;
  writing.sendWatch ??= new SendWatch(socket, server, (isSlow) => {
    if (isSlow) connection.cut();
    else timedOut(socket, sendTimeoutMs);
  });
  writing.sendWatch.start();
  writing.count(response);
  if (!isMounted) socket.setTimeout(sendTimeoutMs);
  // Another server handles timeouts of its connections, unless the response that is being written listens for them.
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
  // Before Node's own listener, which sets the keep-alive timeout.
  response.prependOnceListener(
    "finish",
    guarded(socket, () => {
      socket.setTimeout(before);
    }),
  );
  socket.setTimeout(sendTimeoutMs);
}

/** Handles a connection without traffic for a time: it is closed if the client is the cause. */
export function timedOut(socket: Socket, sendTimeoutMs: number): void {
  const connection = connectionOf(socket);
  if (unsentBytes(socket) > 0) {
    logListener("info", `closed a connection whose client stopped reading for ${sendTimeoutMs / 1000}s`);
    connection.cut();
  } else if (connection.writing.isIdle && !connection.reading.isTimed) socket.destroy();
}

// Bun's sockets do not count their unsent bytes; its response does.
function unsentBytes(socket: Socket): number {
  return socket.writableLength || (responseBeingWritten(socket)?.writableLength ?? 0);
}

/** Closes the connection with the response incomplete, once its written part is sent. */
function hangUp(response: ServerResponse, server: ServerState): void {
  const { socket } = response.req;
  if (socket.destroyed || response.writableEnded) return;
  sendWithin(response, server);
  // Called once everything before it is with the socket; Node holds it back behind earlier responses.
  response.write(
    "",
    guarded(socket, () => socket.destroySoon()),
  );
}

/** Writes a body as it is made, at most one part ahead of the client. */
export function stream(
  response: ServerResponse,
  body: OpenStream,
  isEventStream: boolean,
  server: ServerState,
  whenEnded?: () => void,
): void {
  const { writing } = connectionOf(response.req.socket);
  writing.beginStream();
  if (!isEventStream) writing.trackSent(response);
  // It is emitted once, and `once` would keep two more objects while the stream is open.
  response.on(
    "close",
    guarded(response.req.socket, () => writing.endStream()),
  );
  response.flushHeaders();
  new NodeStream(response, body, isEventStream, server, whenEnded).run();
}

/** A response of HTTP/1.1. */
class NodeStream extends StreamWriter<Socket> {
  readonly #response: ServerResponse;
  readonly #whenEnded: (() => void) | undefined;

  constructor(
    response: ServerResponse,
    body: OpenStream,
    isEventStream: boolean,
    server: ServerState,
    whenEnded: (() => void) | undefined,
  ) {
    // The connection's `close` and not the response's: Node 20 emits it only on the response that is being written.
    super(response.req.socket, body, isEventStream, server);
    this.#response = response;
    this.#whenEnded = whenEnded;
  }

  protected get maxPartBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  // Code of another server may have ended the response, and a write after that would end the process.
  protected get isGone(): boolean {
    return this.channel.destroyed || this.#response.writableEnded;
  }

  protected get stoppedReading(): boolean {
    return connectionOf(this.channel).writing.isCut;
  }

  protected send(part: Uint8Array): boolean {
    const response = this.#response;
    if (response.writableLength === 0) return response.write(part);
    // What was written before waits. Parts that are shorter than the buffer wait for no `drain`.
    const { writing } = connectionOf(this.channel);
    const isBelow = response.write(part, () => writing.count(response));
    writing.count(response);
    return isBelow;
  }

  override ended(how: StreamEnd): void {
    this.#whenEnded?.();
    super.ended(how);
  }

  protected finish(): void {
    sendWithin(this.#response, this.server);
    this.#response.end();
  }

  protected abort(): void {
    hangUp(this.#response, this.server);
  }

  protected abortInTime(): void {
    this.abort();
    this.#closeInTime();
  }

  protected finishInTime(): void {
    this.finish();
    this.#closeInTime();
  }

  #closeInTime(): void {
    // Behind another response it is not being written yet, and the other one has its own timeout.
    if (this.#response.socket === null) return;
    const expire = (): void => {
      // Another server may answer a further request on it.
      if (!this.#response.writableFinished) this.channel.destroy();
    };
    this.server.deadlines.time(lingerMs, { expire });
  }

  protected whenDrained(act: () => void): void {
    const response = this.#response;
    const socket = this.channel;
    const settle = (): void => {
      connectionOf(socket).writing.streamTaken();
      response.off("drain", settle);
      socket.off("close", settle).off("drain", check);
      act();
    };
    // Node forwards the socket's `drain` to a response, but not for a socket that it gave to a later request.
    const check = guarded(socket, () => {
      if (response.writableLength === 0) settle();
    });
    sendWithin(response, this.server);
    response.once("drain", settle);
    socket.once("close", settle).on("drain", check);
  }
}
