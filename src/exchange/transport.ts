import type { StreamEnd } from "../events/stream.ts";

/** An open WebSocket of a runtime. Nothing is read from it before `start`. */
export interface SocketTransport {
  start(listener: SocketListener): void;
  /** Returns true if there is room for another message, otherwise a promise: true once there is, false if the socket ended. */
  send(data: string | Uint8Array): boolean | Promise<boolean>;
  /** Absent if the runtime sends pings itself or cannot send them: then no pong is expected. */
  ping?(): void;
  /**
   * A number that changes while a message arrives, or the client takes what was sent: a ping and its answer wait behind long
   * messages. Absent if the runtime does not tell.
   */
  progress?(): number;
  /**
   * Starts the closing handshake. If messages are still pending it returns a promise that resolves once they are sent or
   * discarded.
   */
  close(code: number | undefined, reason: string): void | Promise<unknown>;
  /** Ends the connection at once, if the runtime can. */
  terminate(): void;
  /** Stops reading until `resume`. Absent if the runtime cannot. */
  pause?(): void;
  resume?(): void;
}

/** A transport that shows its listener, from `start` on. */
export interface ListenableTransport extends SocketTransport {
  readonly listener: SocketListener | undefined;
}

/** The events of a transport. */
export interface SocketListener {
  message(data: string | Uint8Array): void;
  /** A frame of any kind was received, also a pong. */
  frame(): void;
  /** The client closed it or answered our close; 1005 if it gave no code. */
  closed(code: number, reason: string): void;
  /** It ended without a Close frame, or a frame was invalid: then with the code that the runtime sent, if that is known. */
  lost(detail: string, code?: number): void;
  /** The server is stopping. */
  stopping(): void;
}

/** The request that opened a socket. */
export interface SocketRequest {
  /** Runs work in the request's context: its log lines have the request's id. */
  run<A>(work: () => A): A;
  /** Logs a bug of the application that does not affect the client. */
  warn(message: string): void;
  /**
   * Logs what the handler threw. False if the end of the connection or of its time made a call reject, which is no fault.
   *
   * @param lost How the connection had ended before.
   */
  raised(thrown: unknown, lost?: StreamEnd): boolean;
  /** Gets what ends the socket at the deadline of its route, if that has one. */
  expires(end: () => void): void;
  /** Gets what ends the connection once what an input checked is not valid any more. */
  lapses(end: () => void): void;
  /** Called once, with the code of the Close frame if there was one. */
  ended(how: string, closeCode?: number): void;
}
