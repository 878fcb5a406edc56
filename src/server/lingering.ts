import { guarded } from "../logging/raised.ts";

/**
 * How much is read of a client that sends behind the last response of its connection (RFC 9112 §9.6). Closing with unread bytes resets
 * the connection, and a client that writes its whole body before it reads loses the response: a 413 of an upload.
 *
 * It is bounded by time and by rate. In each second the client must send more than `discardLimit` bytes to get another one, up to five.
 * In one second up to 8 MiB are read.
 */
export class Lingering {
  #received = 0;
  #seconds = 1;

  /** Counts bytes that were read. Whether more may be read in this second. */
  takes(bytes: number): boolean {
    this.#received += bytes;
    return this.#received < lingerBytes;
  }

  /** A second has passed. Whether the client gets another one. */
  continues(): boolean {
    const isSending = this.#received > discardLimit;
    this.#received = 0;
    return isSending && this.#seconds++ < maxSeconds;
  }
}

/** The used part of a socket of `node:net`. */
interface LingeringSocket {
  readonly readableEnded: boolean;
  readonly writableFinished: boolean;
  end(): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
  removeAllListeners(event: "data"): unknown;
  on(event: "data", act: (part: { readonly byteLength: number }) => void): unknown;
  once(event: "resume" | "end" | "close" | "finish", act: () => void): unknown;
}

/**
 * Closes a connection in two steps (RFC 9112 §9.6): sends a FIN, then reads and drops what the client sends until it ends
 * its side. Closing with unread bytes would reset the connection, and the client could lose the response.
 *
 * @param wait Calls `expire` after `lingerMs`, unless what it returns is called before.
 */
export function lingerOn(socket: LingeringSocket, wait: (expire: () => void) => () => void): void {
  const lingering = new Lingering();
  const destroy = guarded(socket, () => {
    socket.destroy();
  });
  const close = guarded(socket, () => {
    cancel();
    if (socket.writableFinished) destroy();
    else socket.once("finish", destroy);
  });
  const expire = guarded(socket, () => {
    if (!lingering.continues()) return close();
    cancel = wait(expire);
    socket.resume();
  });
  let cancel = wait(expire);
  socket.end();
  // Node's parser must not see these bytes: it would find requests there, or the same fault again.
  const drop = guarded(socket, (part: { readonly byteLength: number }) => {
    if (!lingering.takes(part.byteLength)) socket.pause();
  });
  // Node 20 and 22 stop the handle for an unread body, and start it again in a listener of `resume`, which `on("data")` removes.
  socket.pause();
  socket.once("resume", () => {
    socket.removeAllListeners("data");
    socket.on("data", drop);
  });
  socket.once("end", close);
  socket.once("close", close);
  socket.resume();
  if (socket.readableEnded) close();
}

/** The number of unread bytes that a server reads and drops to keep a connection. */
export const discardLimit = 65_536;
/** How long a client may take to send them. */
export const lingerMs = 1000;

const maxSeconds = 5;
/** What is read of it in one second at most. */
export const lingerBytes: number = 8 * 1024 * 1024;
