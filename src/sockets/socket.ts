import { itemsOf, lists } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import { Problem, Refusal, invalidRefusal, upgradeRequired } from "../refusals.ts";
import type { Result } from "../result.ts";
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
export function socketEndText(end: SocketEnd): string {
  if (end.kind === "lost") return `lost: ${end.detail}`;
  if (end.kind === "unreadable") return `a message that could not be read: ${end.detail}`;
  return "closed";
}

/** A WebSocket as a runtime hands it over, once it is open. Nothing is read from it before `start`. */
export interface SocketTransport {
  /** Begins to read, and tells what comes. */
  start(heard: SocketListener): void;
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
export interface ListenableTransport extends SocketTransport {
  readonly heard: SocketListener | undefined;
}

/** What a socket hears of its link. */
export interface SocketListener {
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

const notOpened = "This address opens a WebSocket, and nothing else.";
const otherVersion = "This server speaks version 13 of WebSockets.";

/**
 * What keeps a request from opening a WebSocket (RFC 6455 §4.2.1): a 426 where it asks for none, or for another version,
 * and otherwise every problem of its handshake in one 400.
 *
 * @param canUpgrade Whether its connection can become one at all: HTTP/1.0 cannot.
 */
export function handshakeRefusal(
  asked: InputRequest,
  canUpgrade: boolean,
  subprotocol: string | undefined,
): Refusal | undefined {
  if (!canUpgrade || !lists(asked.lines("upgrade"), "websocket")) return upgradeRefusal(notOpened, []);
  const versions = asked.lines("sec-websocket-version");
  if (versions.length !== 1 || versions[0] !== "13") {
    return upgradeRefusal(otherVersion, [["sec-websocket-version", "13"]]);
  }
  const problems: Problem[] = [];
  if (!lists(asked.lines("connection"), "upgrade")) {
    problems.push(new Problem("header.connection", "required", "A WebSocket is opened with Connection: upgrade."));
  }
  const keys = asked.lines("sec-websocket-key");
  // The base64 of 16 bytes: of its last two characters but four bits say something.
  if (keys.length !== 1 || !/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(keys[0] ?? "")) {
    problems.push(new Problem("header.sec-websocket-key", "malformed", "This is not a WebSocket key."));
  }
  if (subprotocol !== undefined && !offers(asked, subprotocol)) {
    const message = `This socket speaks ${subprotocol}, which was not offered.`;
    problems.push(new Problem("header.sec-websocket-protocol", "required", message));
  }
  return problems.length === 0 ? undefined : invalidRefusal(problems);
}

function upgradeRefusal(message: string, headers: Refusal["headers"]): Refusal {
  return new Refusal(upgradeRequired, message, { headers: [["upgrade", "websocket"], ...headers] });
}

// A subprotocol's name is compared as it is written (RFC 6455 §4.2.2).
function offers(asked: InputRequest, subprotocol: string): boolean {
  return itemsOf(asked.lines("sec-websocket-protocol")).includes(subprotocol);
}
