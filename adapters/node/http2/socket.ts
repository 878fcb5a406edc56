/** WebSockets on streams of HTTP/2 (RFC 8441). */
import { constants } from "node:http2";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { Duplex } from "node:stream";
import type { App } from "../../../src/doors/apps.ts";
import type { OpenedSocket, WireResponse } from "../../../src/app/exchange.ts";
import type { Deadline, DeadlineListener, Recipient, Unsent } from "../../../src/doors/server.ts";
import { lingerMs } from "../../../src/doors/server.ts";
import type { RequestHandler } from "../handler.ts";
import { agreedExtensions } from "../upgrade.ts";
import type { Upgrades } from "../upgrade.ts";
import { Http2Exchange } from "./exchange.ts";
import type { ExchangeConnection, RequestHead } from "./exchange.ts";
import { closeLater, destroyLater, endWithReset, guardedBy } from "./resets.ts";
import { partBytes, sendHead } from "./stream.ts";

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;

/** Whether it is an extended CONNECT (RFC 8441 §4). */
export function isExtendedConnect(headers: IncomingHttpHeaders): boolean {
  return headers[":protocol"] !== undefined;
}

/** What a handshake has in HTTP/1.1 only. `ws` needs a key, and its proof of it is dropped with the 101. */
const http1Handshake: { readonly [name: string]: readonly string[] | undefined } = {
  upgrade: ["websocket"],
  connection: ["Upgrade"],
  "sec-websocket-key": ["AAAAAAAAAAAAAAAAAAAAAA=="],
};

/**
 * An extended CONNECT. For a path with a WebSocket it is the GET of HTTP/1.1 that would open it. For any other it stays a CONNECT,
 * which no route answers: with a 2xx its client would take the socket for open.
 */
export class ConnectExchange extends Http2Exchange {
  override readonly method: string;
  readonly match: ReturnType<App["match"]>;
  readonly canUpgrade: boolean;

  constructor(stream: ServerHttp2Stream, head: RequestHead, connection: ExchangeConnection, app: App) {
    super(stream, head, connection);
    const match = app.match("GET", this.target);
    this.canUpgrade = match?.route.route.returns.node.kind === "websocket";
    this.match = this.canUpgrade ? match : undefined;
    this.method = this.canUpgrade ? "GET" : "CONNECT";
  }

  /** Its DATA frames are the socket's. */
  override get body(): undefined {
    return undefined;
  }

  override lines(name: string): readonly string[] {
    return (this.canUpgrade ? http1Handshake[name] : undefined) ?? super.lines(name);
  }
}

/** Answers with a WebSocket (RFC 8441 §5). */
export function openSocket(
  exchange: Http2Exchange,
  sent: WireResponse,
  upgrades: Upgrades,
  handler: RequestHandler,
): void {
  const { stream } = exchange;
  const opened = sent.socket as OpenedSocket;
  const extensions = agreedExtensions(exchange, opened);
  const { subprotocol } = opened;
  const head = ["date", exchange.date, ...sent.head];
  if (subprotocol !== undefined) head.push("sec-websocket-protocol", subprotocol);
  if (extensions !== undefined) head.push("sec-websocket-extensions", extensions);
  sendHead(stream, { status: 200, head }, false);
  const [key] = exchange.lines("sec-websocket-key");
  endWithReset(stream);
  const channel = new StreamSocket(exchange, handler);
  if (!upgrades.open(channel, opened, { key, extensions, headers: [] }, Buffer.alloc(0))) sent.unsent?.();
}

type WhenSent = (error?: Error | null) => void;

/**
 * The bytes of a WebSocket on a stream, as `ws` reads and writes them. An end is END_STREAM, and a connection that is dropped is
 * RST_STREAM with CANCEL (RFC 8441 §5).
 */
class StreamSocket extends Duplex implements DeadlineListener, Recipient {
  bytesRead = 0;
  bytesTaken = 0;
  readonly #exchange: Http2Exchange;
  readonly #stream: ServerHttp2Stream;
  readonly #handler: RequestHandler;
  readonly #unsent: Unsent;
  /** What waits of it, as its connection counts. */
  #waiting = 0;
  #timeoutMs = 0;
  #deadline: Deadline | undefined = undefined;
  /** `ws` writes the 101 of HTTP/1.1 first, which is dropped. */
  #hasHead = false;

  constructor(exchange: Http2Exchange, handler: RequestHandler) {
    const { stream } = exchange;
    super({
      read: () => {
        stream.resume();
      },
      write: (part: Buffer, _encoding, written) => this.#write(part, written),
      writev: (parts, written) => this.#write(Buffer.concat(parts.map(({ chunk }) => chunk as Buffer)), written),
      final: (ended) => this.#end(ended),
      destroy: (error, destroyed) => this.#drop(error, destroyed),
    });
    this.#stream = stream;
    this.#exchange = exchange;
    this.#handler = handler;
    this.#unsent = handler.unsent.of(this);
    const received = guardedBy(stream, (part: Buffer) => {
      this.bytesRead += part.byteLength;
      if (!this.push(part)) stream.pause();
    });
    const ended = guardedBy(stream, () => {
      // Node ends the body of a stream that was reset, too.
      if (stream.aborted) this.destroy();
      else this.push(null);
    });
    const closed = guardedBy(stream, () => this.destroy());
    stream.on("data", received).on("end", ended).on("close", closed).pause();
    // Where nothing arrived before the client ended its side, Node has emitted that already.
    if (stream.readableEnded) ended();
  }

  get network(): string | undefined {
    const exchange = this.#exchange;
    return this.#handler.app.networkOf(exchange.peer, (name) => exchange.lines(name));
  }

  get taken(): number {
    return this.bytesTaken;
  }

  // In a later turn: it may be within a write of this channel.
  cut(): void {
    setImmediate(guardedBy(this.#stream, () => this.destroy()));
  }

  /** Sets how many bytes wait for the client. It may be disconnected for them. */
  waits(bytes: number): void {
    this.#exchange.share.add(bytes - this.#waiting);
    this.#waiting = bytes;
    this.#unsent.wait(bytes);
  }

  /** Emits `timeout` once the client has taken nothing for `ms`; 0 for never. */
  setTimeout(ms: number): this {
    this.#timeoutMs = ms;
    this.#restart();
    return this;
  }

  expire(): void {
    this.emit("timeout");
  }

  #write(part: Buffer, written: WhenSent): void {
    if (this.#hasHead) return this.#send(part, written);
    this.#hasHead = true;
    written();
  }

  #end(ended: () => void): void {
    this.#restart();
    this.#stream.end(ended);
  }

  #drop(error: Error | null, destroyed: (error: Error | null) => void): void {
    this.#timeoutMs = 0;
    this.#deadline?.clear();
    this.waits(0);
    this.#unsent.end();
    const stream = this.#stream;
    const isSent = this.writableFinished;
    if (!stream.closed && !(isSent && this.readableEnded))
      closeLater(stream, isSent ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
    // Node 20 leaves a stream open whose client sends DATA behind its end.
    this.#handler.deadlines.time(lingerMs, { expire: () => destroyLater(stream) });
    destroyed(error);
  }

  /** Sends the next part once the client has taken the one before. */
  #send(bytes: Buffer, written: WhenSent): void {
    let at = 0;
    let taken = 0;
    const next = guardedBy(this.#stream, (error?: Error | null) => {
      this.#restart();
      this.bytesTaken += at - taken;
      taken = at;
      if (error || at >= bytes.byteLength) return written(error);
      const part = bytes.subarray(at, at + partBytes);
      at += part.byteLength;
      this.#stream.write(part, next);
    });
    next();
  }

  #restart(): void {
    this.#deadline?.clear();
    this.#deadline = this.#timeoutMs === 0 ? undefined : this.#handler.deadlines.time(this.#timeoutMs, this);
  }
}
