import type { Result } from "../../result.ts";
import type { Encoded } from "./message.ts";

/** How a socket ended, or what came on it that was no message. */
export type SocketEnd =
  | { readonly kind: "closed"; readonly code: number; readonly reason: string }
  | { readonly kind: "lost"; readonly detail: string }
  /** One message did not fit the protocol; the socket is still open. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** A socket that is open. Iterated, it gives each message until it is closed, and throws for one it could not read. */
export interface Socket<Client, Server> extends AsyncIterable<Client> {
  /** The next message. Nothing further is read from the client until it is asked for. */
  receive(): Promise<Result<Client, SocketEnd>>;
  /** Resolves once there is room for another message. One of `Socket.encode` is sent as it was written. */
  send(message: Server | Encoded<Server>): Promise<Result<void, SocketEnd>>;
  /** Closes it, 1000 unless said; the first close is the one that counts. Resolves once the other side knows. */
  close(options?: { readonly code?: number; readonly reason?: string }): Promise<void>;
}

/** Speaks with one client. What it returns after a message it could not read closes the socket with 1007. */
export type SocketHandler<Client, Server> = (socket: Socket<Client, Server>) => Promise<void | SocketEnd>;

/** A message that could not be read, thrown out of an iteration. */
export class Unreadable extends Error {
  readonly end: SocketEnd;

  constructor(detail: string) {
    super("a message that could not be read");
    this.end = { kind: "unreadable", detail };
  }
}

/** How a socket's end is told in a log. */
export function said(end: SocketEnd): string {
  if (end.kind === "lost") return `lost: ${end.detail}`;
  if (end.kind === "unreadable") return `a message that could not be read: ${end.detail}`;
  return "closed";
}
