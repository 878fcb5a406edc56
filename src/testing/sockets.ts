import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Protocol } from "../sockets/message.ts";
import { OpenSocket } from "../sockets/open-socket.ts";
import type { Socket, SocketEnd, SocketListener, SocketTransport } from "../sockets/socket.ts";
import { CallExchange, answeredBy, failOnUndeclared } from "./call.ts";
import type { TestAnswer, TestCallOptions, TestApp } from "./call.ts";

/** The two ends of a connection with no wire between them. */
function linkedPair(): readonly [SocketTransport, SocketTransport] {
  const [one, other] = [new MemoryLink(), new MemoryLink()];
  one.peer = other;
  other.peer = one;
  return [one, other];
}

type Said = (heard: SocketListener) => void;

class MemoryLink implements SocketTransport {
  /** The other end, once it has one. */
  peer: MemoryLink = this;
  #heard: SocketListener | undefined = undefined;
  /** What the other side said and this one has not taken. */
  readonly #arrived: Said[] = [];
  #isPaused = false;
  #isDelivering = false;
  readonly #whenTaken: (() => void)[] = [];
  #isOver = false;

  start(heard: SocketListener): void {
    this.#heard = heard;
    this.#deliver();
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    const { peer } = this;
    if (this.#isOver) return false;
    // Bytes are the sender's own to change once they are sent.
    const sent = typeof data === "string" ? data : data.slice();
    peer.#take((heard) => heard.message(sent));
    if (!peer.#isPaused) return true;
    return new Promise((resolve) => peer.#whenTaken.push(() => resolve(!this.#isOver)));
  }

  ping(): void {
    this.peer.#take((heard) => heard.frame());
    this.#take((heard) => heard.frame());
  }

  close(code = 1005, reason = ""): void {
    this.peer.#take((heard) => heard.closed(code, reason));
    this.peer.#over();
    this.#take((heard) => heard.closed(code, reason));
    this.#over();
  }

  terminate(): void {
    this.peer.#take((heard) => heard.lost("the connection ended without a close"));
    this.peer.#over();
    this.#over();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  #take(said: Said): void {
    this.#arrived.push(said);
    this.#deliver();
  }

  // Later, as what is on a wire comes; one after the other, as long as the socket takes them.
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    queueMicrotask(() => {
      this.#isDelivering = false;
      const heard = this.#heard;
      while (heard !== undefined && !this.#isPaused && this.#arrived.length > 0) this.#arrived.shift()?.(heard);
      if (this.#arrived.length === 0) for (const taken of this.#whenTaken.splice(0)) taken();
    });
  }

  #over(): void {
    this.#isOver = true;
    // The close is behind what was said before it, and nobody waits for room any more.
    this.resume();
    for (const taken of this.#whenTaken.splice(0)) taken();
  }
}

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
  options: TestCallOptions = {},
): Promise<Result<A, TestAnswer | SocketEnd>> {
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

function pairsOf(headers: NonNullable<TestCallOptions["headers"]>): readonly (readonly [string, string])[] {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.map(([name, value]) => [name.toLowerCase(), value] as const);
}
