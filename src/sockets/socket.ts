import { itemsOf, lists } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import { Problem, Refusal, invalidRefusal, upgradeRequired } from "../refusals.ts";
import type { Result } from "../result.ts";
import type { Encoded } from "./message.ts";

/** How a socket ended, or why a message could not be read. */
export type SocketEnd =
  | { readonly kind: "closed"; readonly code: number; readonly reason: string }
  | { readonly kind: "lost"; readonly detail: string }
  /** One message did not fit the protocol; the socket is still open. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** An open WebSocket. Iterating gives each message until it is closed, and throws for an unreadable one. */
export interface Socket<Client, Server> extends AsyncIterable<Client> {
  /** The next message. The server reads no further from the client until this is called. */
  receive(): Promise<Result<Client, SocketEnd>>;
  /** Resolves once there is room for another message. It also takes a message of `Socket.encode`. */
  send(message: Server | Encoded<Server>): Promise<Result<void, SocketEnd>>;
  /** Closes it, with code 1000 unless set. Only the first call counts. Resolves once the client has answered. */
  close(options?: { readonly code?: number; readonly reason?: string }): Promise<void>;
}

/** Handles one client. If it returns an `unreadable` end, the socket closes with code 1007. */
export type SocketHandler<Client, Server> = (socket: Socket<Client, Server>) => Promise<void | SocketEnd>;

/** Thrown by an iteration for a message that could not be read. */
export class Unreadable extends Error {
  readonly end: SocketEnd;

  constructor(detail: string) {
    super("a message that could not be read");
    this.end = { kind: "unreadable", detail };
  }
}

/** A socket's end as text for the log. */
export function socketEndText(end: SocketEnd): string {
  if (end.kind === "lost") return `lost: ${end.detail}`;
  if (end.kind === "unreadable") return `a message that could not be read: ${end.detail}`;
  return "closed";
}

/** An open WebSocket of a runtime. Nothing is read from it before `start`. */
export interface SocketTransport {
  start(listener: SocketListener): void;
  /** Returns true if there is room for another message, otherwise a promise: true once there is, false if the socket ended. */
  send(data: string | Uint8Array): boolean | Promise<boolean>;
  /** Absent if the runtime sends pings itself or cannot send them: then no pong is expected. */
  ping?(): void;
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
  /** It ended without a Close frame, or a frame was invalid. */
  lost(detail: string): void;
  /** The server is stopping. */
  stopping(): void;
}

const notOpened = "This address opens a WebSocket, and nothing else.";
const otherVersion = "This server speaks version 13 of WebSockets.";

/**
 * Checks the handshake (RFC 6455 §4.2.1). The refusal is a 426 if the request asks for no WebSocket or another version,
 * otherwise a 400 with every problem.
 *
 * @param canUpgrade False for HTTP/1.0, which has no upgrade.
 */
export function handshakeRefusal(
  request: InputRequest,
  canUpgrade: boolean,
  subprotocol: string | undefined,
): Refusal | undefined {
  if (!canUpgrade || !lists(request.lines("upgrade"), "websocket")) return upgradeRefusal(notOpened, []);
  const versions = request.lines("sec-websocket-version");
  if (versions.length !== 1 || versions[0] !== "13") {
    return upgradeRefusal(otherVersion, [["sec-websocket-version", "13"]]);
  }
  const problems: Problem[] = [];
  if (!lists(request.lines("connection"), "upgrade")) {
    problems.push(new Problem("header.connection", "required", "A WebSocket is opened with Connection: upgrade."));
  }
  const keys = request.lines("sec-websocket-key");
  // The base64 of 16 bytes; the last character holds 2 bits.
  if (keys.length !== 1 || !/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(keys[0] ?? "")) {
    problems.push(new Problem("header.sec-websocket-key", "malformed", "This is not a WebSocket key."));
  }
  if (subprotocol !== undefined && !offers(request, subprotocol)) {
    const message = `This socket speaks ${subprotocol}, which was not offered.`;
    problems.push(new Problem("header.sec-websocket-protocol", "required", message));
  }
  return problems.length === 0 ? undefined : invalidRefusal(problems);
}

function upgradeRefusal(message: string, headers: Refusal["headers"]): Refusal {
  return new Refusal(upgradeRequired, message, { headers: [["upgrade", "websocket"], ...headers] });
}

// Subprotocol names are case-sensitive (RFC 6455 §4.2.2).
function offers(request: InputRequest, subprotocol: string): boolean {
  return itemsOf(request.lines("sec-websocket-protocol")).includes(subprotocol);
}
