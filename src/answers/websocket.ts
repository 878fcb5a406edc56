import type { Protocol } from "../streams/sockets/message.ts";
import type { SocketHandler } from "../streams/sockets/socket.ts";
import { speak } from "../streams/sockets/speak.ts";
import { none } from "./answer.ts";
import type { Answer, SocketBody } from "./answer.ts";
import { Unwritable } from "./unwritable.ts";

/** Bytes. */
export const defaultMaxMessage = 1_048_576;
/** Bytes. */
export const defaultMaxUnheard = 16_777_216;

/** How a socket is kept. */
export interface SocketOptions {
  /** Quiet for that long, it is pinged, and quiet for as long again, it is lost: 15,000 unless set. */
  readonly keepAliveMs?: number;
  /** Bytes of a message: 1 MiB unless set. A longer one closes the socket with 1009. */
  readonly maxMessage?: number;
  /**
   * Bytes that are sent while the client says nothing, where the runtime tells nobody how much it takes (Workers): 16 MiB
   * unless set. Then `send` waits for a message of the client's, and after 30 s the socket is lost.
   */
  readonly maxUnheard?: number;
}

/** The answer that opens a WebSocket, and has the handler speak on it. */
export function socketAnswer<Client, Server>(
  handler: unknown,
  { client, server, subprotocol }: Protocol<Client, Server>,
  { keepAliveMs = 15_000, maxMessage = defaultMaxMessage, maxUnheard = defaultMaxUnheard }: SocketOptions,
): Answer {
  if (typeof handler !== "function") throw new Unwritable("a WebSocket without a function that speaks on it");
  const body: SocketBody = {
    subprotocol,
    maxMessage,
    keepAliveMs,
    maxUnheard,
    speak: (link, request) =>
      speak(link, handler as SocketHandler<Client, Server>, { client, server, keepAliveMs, maxMessage }, request),
  };
  return { status: 101, headers: none, cookies: none, body, closes: false };
}
