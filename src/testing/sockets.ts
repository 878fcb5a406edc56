import type { OpenedSocket } from "../app/exchange.ts";
import { isObject, needs, needsFunction } from "../arguments.ts";
import { following } from "../following.ts";
import type { Following } from "../following.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Protocol, Socket } from "../sockets/socket.ts";
import { OpenSocket } from "../sockets/open-socket.ts";
import { CallExchange, answeredBy, checkCall, failOnAnswer, headersIn, settleMs } from "./call.ts";
import type { TestAnswer, TestApp, TestCallOptions } from "./call.ts";
import type { SocketListener, SocketTransport } from "../exchange/transport.ts";

/** The two ends of a connection in memory. */
function linkedPair(): readonly [MemoryTransport, MemoryTransport] {
  const [one, other] = [new MemoryTransport(), new MemoryTransport()];
  one.peer = other;
  other.peer = one;
  return [one, other];
}

type Delivery = (listener: SocketListener) => void;

/** Sent bytes that the other end may leave unread before a `send` waits, about as on a connection. */
const maxUnreadBytes = 65_536;
/** About what an empty message takes. */
const messageOverhead = 64;

class MemoryTransport implements SocketTransport {
  /** The other end, set after construction. */
  peer: MemoryTransport = this;
  #listener: SocketListener | undefined = undefined;
  /** What the other end sent and this one has not read. */
  readonly #arrived: Delivery[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #isDelivering = false;
  readonly #whenDrained: (() => void)[] = [];
  #isOver = false;

  start(listener: SocketListener): void {
    this.#listener = listener;
    this.#deliver();
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    const { peer } = this;
    if (this.#isOver) return false;
    // The sender may change its bytes after sending.
    const sent = typeof data === "string" ? data : data.slice();
    const bytes = sent.length + messageOverhead;
    peer.#unreadBytes += bytes;
    peer.#enqueue((listener) => {
      peer.#unreadBytes -= bytes;
      listener.message(sent);
    });
    // Where both ends send before they read, neither waits for the other.
    if (!peer.#isPaused || peer.#unreadBytes < maxUnreadBytes) return true;
    return new Promise((resolve) => peer.#whenDrained.push(() => resolve(!this.#isOver)));
  }

  ping(): void {
    this.peer.#enqueue((listener) => listener.frame());
    this.#enqueue((listener) => listener.frame());
  }

  close(code = 1005, reason = ""): void {
    this.peer.#enqueue((listener) => listener.closed(code, reason));
    this.peer.#finish();
    this.#enqueue((listener) => listener.closed(code, reason));
    this.#finish();
  }

  /** Ends the connection without a close, as a reset does. */
  cut(): void {
    for (const end of [this, this.peer]) {
      end.#enqueue((listener) => listener.lost("the connection ended without a close"));
      end.#finish();
    }
  }

  // Not called: pings and closes in memory are always answered.
  terminate(): void {
    this.close();
  }

  // After the end no more arrives than the messages before it, and a handler that reads none of them still gets the end.
  pause(): void {
    this.#isPaused = !this.#isOver;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  #enqueue(delivery: Delivery): void {
    this.#arrived.push(delivery);
    this.#deliver();
  }

  // Asynchronous, like a network; one after another, until the socket pauses.
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    queueMicrotask(() => {
      this.#isDelivering = false;
      const listener = this.#listener;
      while (listener !== undefined && !this.#isPaused && this.#arrived.length > 0) this.#arrived.shift()?.(listener);
      if (this.#arrived.length === 0) for (const drained of this.#whenDrained.splice(0)) drained();
    });
  }

  #finish(): void {
    this.#isOver = true;
    // The close comes after earlier messages, and waiting senders are released.
    this.resume();
    for (const drained of this.#whenDrained.splice(0)) drained();
  }
}

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

// The client sends no pings: the server's are enough.
const keepAliveMs = 2 ** 31 - 1;
// The client does not limit the server's messages.
const maxMessage = Number.MAX_SAFE_INTEGER;

/**
 * Opens a WebSocket in memory and runs `talk` as its client. When `talk` returns, the socket closes, and its value is the
 * result. The error is the answer that opened no socket, as a 401.
 */
export async function websocket<Client, Server, Given, Got, A>(
  tested: TestApp,
  protocol: Protocol<Client, Server, Given, Got>,
  target: string,
  talk: (socket: Socket<Got, Given>) => Promise<A>,
  options: TestCallOptions = {},
): Promise<Result<A, TestAnswer>> {
  return openWebSocket(tested, protocol, target, talk, options, () => {});
}

/** `websocket`; `onHead` gets the headers of every answer, before `talk` runs. */
export async function openWebSocket<Client, Server, Given, Got, A>(
  tested: TestApp,
  protocol: Protocol<Client, Server, Given, Got>,
  target: string,
  talk: (socket: Socket<Got, Given>) => Promise<A>,
  options: TestCallOptions,
  onHead: (headers: Headers) => void,
): Promise<Result<A, TestAnswer>> {
  checkCall("Test.websocket", tested, target, options);
  needs(
    isObject(protocol) && isObject(protocol.server),
    "Test.websocket: its protocol",
    protocol,
    "made by Socket.protocol",
  );
  needsFunction("Test.websocket: its function", talk);
  const { app } = tested;
  const { headers = [] } = options;
  const names = protocol.subprotocols.join(", ");
  const offered = names === "" ? {} : { "sec-websocket-protocol": names };
  const own = pairsOf(headers);
  const ours = Object.entries({ ...handshake, ...offered }).filter(([name]) => !own.some(([given]) => given === name));
  const going = following([options.gone]);
  const { signal: gone } = going;
  const exchange = new CallExchange("GET", target, { ...options, headers: [...ours, ...own], gone }, undefined);
  try {
    const sent = await app.answer(exchange);
    failOnAnswer(sent);
    onHead(headersIn(sent));
    if (sent.socket === undefined) return error(await answeredBy(sent, gone));
    return ok(await talkOver(sent.socket, protocol, going, talk));
  } finally {
    going.release();
    await app.settled(settleMs);
  }
}

/** Runs both ends of an open socket. */
async function talkOver<Client, Server, Given, Got, A>(
  { open, subprotocol }: OpenedSocket,
  { client, server }: Protocol<Client, Server, Given, Got>,
  going: Following,
  talk: (socket: Socket<Got, Given>) => Promise<A>,
): Promise<A> {
  const { signal: gone } = going;
  const [near, far] = linkedPair();
  const served = open(far);
  const cut = (): void => near.cut();
  gone.addEventListener("abort", cut, { once: true });
  if (gone.aborted) cut();
  const warn = (message: string): void => {
    throw new Error(`Test.websocket: ${message}`);
  };
  const socket = new OpenSocket<Got, Given>(near, {
    client: server.atClient ?? server,
    server: client.atClient ?? client,
    keepAliveMs,
    maxMessage,
    warn,
    subprotocol,
  });
  try {
    return await talk(socket);
  } finally {
    await socket.close();
    gone.removeEventListener("abort", cut);
    // The connection ends with its close: `clientGone` aborts.
    going.abort(undefined);
    await served;
  }
}

function pairsOf(headers: NonNullable<TestCallOptions["headers"]>): readonly (readonly [string, string])[] {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.map(([name, value]) => [name.toLowerCase(), value] as const);
}
