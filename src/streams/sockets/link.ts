/** A WebSocket as a runtime hands it over, once it is open. Nothing is read from it before `start`. */
export interface SocketLink {
  /** Begins to read, and tells what comes. */
  start(heard: SocketHeard): void;
  /** Sends a message: true where there is room for another, and otherwise a promise of whether there came to be. */
  send(data: string | Uint8Array): boolean | Promise<boolean>;
  /** Absent where the runtime pings by itself, or lets nobody: then nobody waits for its pong. */
  ping?(): void;
  /**
   * Begins the closing handshake. No code says nothing of why. A promise where messages before it are still to go out: it
   * resolves once they are, or will not be any more.
   */
  close(code: number | undefined, reason: string): void | Promise<unknown>;
  /** Ends the connection at once, where the runtime can. */
  terminate(): void;
  /** Takes nothing more off the wire until `resume`. Absent where the runtime reads on whoever waits. */
  pause?(): void;
  resume?(): void;
}

/** A link that tells who hears of it, from `start` on. */
export interface HeardLink extends SocketLink {
  readonly heard: SocketHeard | undefined;
}

/** What a socket hears of its link. */
export interface SocketHeard {
  message(data: string | Uint8Array): void;
  /** Any frame came, a pong included. */
  frame(): void;
  /** The other side closed it, or answered our close; 1005 where it named no code. */
  closed(code: number, reason: string): void;
  /** It ended without a close, or what came on it was no WebSocket. */
  lost(detail: string): void;
  /** The server stops. */
  stopping(): void;
}
