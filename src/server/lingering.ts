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

/** The number of unread bytes that a server reads and drops to keep a connection. */
export const discardLimit = 65_536;
/** How long a client may take to send them. */
export const lingerMs = 1000;

const maxSeconds = 5;
/** What is read of it in one second at most. */
export const lingerBytes: number = 8 * 1024 * 1024;
