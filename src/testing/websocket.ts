import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Protocol } from "../streams/sockets/message.ts";
import { OpenSocket } from "../streams/sockets/open-socket.ts";
import type { Socket, SocketEnd } from "../streams/sockets/socket.ts";
import { answeredBy, failOnUndeclared } from "./answered.ts";
import type { Answered, TestApp } from "./answered.ts";
import { CallExchange } from "./call-exchange.ts";
import type { CallOptions } from "./call-options.ts";
import { linkedPair } from "./memory-link.ts";

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

// A client in a test need not be pinged: the server's own pings reach it.
const keepAliveMs = 2 ** 31 - 1;
// What a server sends it is not its own to bound.
const maxMessage = Number.MAX_SAFE_INTEGER;

/**
 * Opens a socket as a client does, and has `talk` speak on it: both ends are in this process, and nothing is between
 * them. What `talk` returns is the answer, and with it the socket is closed. The error is an answer that opens no socket.
 */
export async function websocket<Client, Server, A>(
  { app }: TestApp,
  protocol: Protocol<Client, Server>,
  target: string,
  talk: (socket: Socket<Server, Client>) => Promise<A>,
  options: CallOptions = {},
): Promise<Result<A, Answered | SocketEnd>> {
  const { headers = [] } = options;
  const offered = protocol.subprotocol === undefined ? {} : { "sec-websocket-protocol": protocol.subprotocol };
  const given = new Map([...Object.entries({ ...handshake, ...offered }), ...pairsOf(headers)]);
  const exchange = new CallExchange("GET", target, { ...options, headers: given }, undefined);
  const sent = await app.answer(exchange);
  failOnUndeclared(sent.undeclared);
  if (sent.socket === undefined) return error(await answeredBy(sent));

  const [near, far] = linkedPair();
  const spoken = sent.socket.open(far);
  const warn = (message: string): void => {
    throw new Error(`Test.websocket: ${message}`);
  };
  const { client, server } = protocol;
  const socket = new OpenSocket<Server, Client>(near, {
    client: server,
    server: client,
    keepAliveMs,
    maxMessage,
    warn,
  });
  try {
    return ok(await talk(socket));
  } finally {
    await socket.close();
    await spoken;
  }
}

function pairsOf(headers: NonNullable<CallOptions["headers"]>): readonly (readonly [string, string])[] {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.map(([name, value]) => [name.toLowerCase(), value] as const);
}
