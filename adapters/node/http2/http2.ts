/** HTTP/2 (RFC 9113). Only a server that speaks it loads this. */
import { constants, createServer } from "node:http2";
import type {
  Http2Server,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
  ServerOptions,
} from "node:http2";
import type { Socket } from "node:net";
import { isStream } from "../../../src/doors/answers.ts";
import { isEventStream } from "../../../src/app/exchange.ts";
import type { WireResponse } from "../../../src/app/exchange.ts";
import { logRefusedHead } from "../../../src/doors/apps.ts";
import { isPending, whenResolved } from "../../../src/doors/base.ts";
import type { PeerCertificate } from "../../../src/doors/inputs.ts";
import { guarded } from "../../../src/doors/logging.ts";
import type { RefusedHead, Deadline, Deadlines } from "../../../src/doors/server.ts";
import type { CountedLog } from "../../../src/doors/apps.ts";
import { lingerMs } from "../../../src/doors/server.ts";
import type { NodeConnection } from "../connection.ts";
import type { RequestHandler } from "../handler.ts";
import type { Upgrades } from "../upgrade.ts";
import { peerCertificateOf } from "../peer-certificate.ts";
import { Allowance, limits } from "./allowance.ts";
import { Http2Exchange, refusedHead } from "./exchange.ts";
import type { ExchangeConnection, RequestHead } from "./exchange.ts";
import { ConnectExchange, isExtendedConnect, openSocket } from "./socket.ts";
import { caughtBy, closeLater, endWithReset, guardedBy } from "./resets.ts";
import { SessionOwner } from "./session.ts";
import { ConnectionShare } from "./share.ts";
import { Http2Stream, SendTimeout, sendHead, sendBody } from "./stream.ts";

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants;

/** How the first bytes of HTTP/2 begin. No method of HTTP/1.1 does. */
const preface = Buffer.from("PRI");
/** A head of up to as many bytes is answered, whatever the limit is. */
const answeredBytes = 65_536;
/** The greatest value of a setting. */
const maxSetting = 2 ** 32 - 1;

interface Http2Limits {
  readonly maxHeaderBytes: number;
  readonly idleTimeoutMs: number;
  readonly sendShare: number;
}

/** Answers the connections of a server whose clients speak HTTP/2. */
export class Http2 {
  readonly handler: RequestHandler;
  /** Undefined for an app without WebSockets and takeovers. */
  readonly upgrades: Upgrades | undefined;
  readonly idleTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** The most bytes that may wait on the streams of one connection before another one is begun. */
  readonly connectionShare: number;
  /** Counts connections that are closed because of what their client does. */
  readonly floods: CountedLog;
  readonly open: Set<Http2Connection> = new Set();
  readonly #server: Http2Server;

  constructor(handler: RequestHandler, upgrades: Upgrades | undefined, bounds: Http2Limits, floods: CountedLog) {
    const { maxHeaderBytes, idleTimeoutMs, sendShare } = bounds;
    this.connectionShare = Math.ceil(sendShare / 4);
    this.handler = handler;
    this.upgrades = upgrades;
    this.idleTimeoutMs = idleTimeoutMs;
    this.maxHeaderBytes = maxHeaderBytes;
    this.floods = floods;
    const { opensSockets: enableConnectProtocol } = handler;
    // Past these Node resets the stream: as many as a head of this length can have, so that the answer is a 431.
    const maxHeaderListPairs = Math.max(128, Math.ceil(maxHeaderBytes / 5));
    const options: ServerOptions & { readonly strictSingleValueFields: boolean } = {
      settings: {
        maxConcurrentStreams: limits.streams,
        // Likewise, once the client has acknowledged it. It counts 32 bytes more for each field (RFC 9113 §6.5.2).
        maxHeaderListSize: Math.min(Math.max(maxHeaderBytes, answeredBytes) + 32 * maxHeaderListPairs, maxSetting),
        enablePush: false,
        ...(enableConnectProtocol && { enableConnectProtocol }),
      },
      maxSettings: 32,
      maxHeaderListPairs,
      maxSessionInvalidFrames: limits.invalidFrames,
      streamResetBurst: limits.resets.burst,
      streamResetRate: limits.resets.perSecond,
      // Node's object of headers is used only for those that a request has once.
      strictSingleValueFields: false,
    };
    this.#server = createServer(options);
    // Otherwise Node ends a session without traffic.
    this.#server.setTimeout(0);
  }

  /** Calls `http1` for a connection whose client does not begin with HTTP/2 (RFC 9113 §3.4), with its first bytes put back. */
  whenKnown(socket: Socket, connection: NodeConnection, http1: () => void): void {
    const expire = (): unknown => socket.destroy();
    let first: Buffer = Buffer.alloc(0);
    const take = guarded(socket, (part: Buffer) => {
      first = Buffer.concat([first, part]);
      // TCP may cut it anywhere, and `P` begins a POST, too.
      if (first.byteLength < preface.byteLength && preface.subarray(0, first.byteLength).equals(first)) return;
      socket.off("data", take).off("timeout", expire).off("end", expire).pause();
      socket.unshift(first);
      // Node's session reads the bytes that were put back itself.
      if (first.subarray(0, preface.byteLength).equals(preface)) return this.take(socket, connection);
      http1();
      socket.resume();
    });
    socket.once("timeout", expire);
    socket.once("end", expire);
    socket.on("data", take);
  }

  /** Takes a connection over. */
  take(socket: Socket, connection: NodeConnection): void {
    connection.reading.speaksHttp2();
    socket.setTimeout(0);
    // A client that ends its side has ended the session (RFC 9113 has no half-closed connection).
    socket.allowHalfOpen = false;
    this.#server.once("session", (session) => {
      this.open.add(new Http2Connection(session, socket, connection.peer, this));
    });
    this.#server.emit("connection", socket);
  }

  /** The number of responses that their clients have not taken whole: all but streams of events. */
  get unsent(): number {
    let unsent = 0;
    for (const { sending } of this.open) unsent += sending;
    return unsent;
  }

  /** Takes no further request: each client gets a GOAWAY, and its connection ends with its last response. */
  stop(): void {
    for (const connection of this.open) connection.close();
  }
}

/** The response of a stream. */
interface Sending {
  timeout: SendTimeout | undefined;
  /** It counts as one that its client has not taken. */
  isCounted: boolean;
  readonly mayHaveBody: boolean;
  /** A stream that ends before it is answered counts as reset. */
  isAnswered: boolean;
  /** Gives up a request that waits for its connection's share. */
  forget: (() => void) | undefined;
  exchange: Http2Exchange | undefined;
}

/** One connection, with its streams. */
class Http2Connection implements ExchangeConnection {
  readonly peer: string;
  readonly scheme: "https" | undefined;
  /** The number of responses that are being sent. */
  sending = 0;
  readonly #session: SessionOwner;
  readonly #socket: Socket;
  readonly #http2: Http2;
  /** The number of handlers that run, also for streams that were reset. */
  #running = 0;
  #idle: Deadline | undefined = undefined;
  readonly share: ConnectionShare;
  readonly #resets = new Allowance(limits.resets);
  readonly #control = new Allowance(limits.control);

  constructor(session: ServerHttp2Session, socket: Socket, peer: string, http2: Http2) {
    this.#session = new SessionOwner(session, socket, () => this.#linger());
    this.#socket = socket;
    this.#http2 = http2;
    this.peer = peer;
    this.share = new ConnectionShare(http2.connectionShare);
    this.scheme = "encrypted" in socket ? "https" : undefined;
    session.on("error", ignore);
    session.on(
      "stream",
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, ...[raw]: unknown[]) => {
        try {
          this.#begin(stream, headers, flags, raw as readonly string[]);
        } catch (thrown) {
          caughtBy(thrown, stream);
        }
      },
    );
    const count = guarded(undefined, () => this.#count(this.#control));
    session.on("ping", count).on("remoteSettings", count);
    session.on("close", () => {
      this.#idle?.clear();
      http2.open.delete(this);
    });
    this.#waits();
  }

  get deadlines(): Deadlines {
    return this.#http2.handler.deadlines;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return peerCertificateOf(this.#socket);
  }

  /** Ends the connection once its streams have ended. */
  close(): void {
    this.#session.drain();
  }

  /** Closes the connection in any case: its client may take nothing any more, not even the GOAWAY. */
  #linger(): void {
    this.deadlines.time(lingerMs, { expire: () => this.#socket.destroy() });
  }

  /** No stream is open: the connection may stay so for a time. */
  #waits(): void {
    this.#idle = this.deadlines.time(this.#http2.idleTimeoutMs, { expire: () => this.close() });
  }

  /** Ends the connection of a client that sends too many of something. */
  #count(allowance: Allowance): void {
    if (!this.#session.isLive || allowance.takes(this.deadlines.now)) return;
    this.#http2.floods.count();
    // Without an error Node sends NO_ERROR, whatever the code.
    this.#session.destroy(new Error("too much"), NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #begin(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: readonly string[]): void {
    stream.on("error", ignore);
    // Node reports a stream a turn later: its client may have reset it.
    if (stream.closed) return this.#count(this.#resets);
    // Node has opened it before the GOAWAY was sent, which leaves it to another connection.
    if (!this.#session.isOpen) return closeLater(stream, NGHTTP2_REFUSED_STREAM);
    this.#idle?.clear();
    this.#session.streamBegan();
    const sending: Sending = {
      timeout: undefined,
      isCounted: false,
      mayHaveBody: (flags & NGHTTP2_FLAG_END_STREAM) === 0,
      isAnswered: false,
      forget: undefined,
      exchange: undefined,
    };
    // One listener for all: each costs a request 0.3 µs.
    const closed = guarded(this.#socket, () => this.#closed(sending));
    stream.on("close", closed);
    const head = { headers, raw, isWhole: !sending.mayHaveBody };
    const refused = refusedHead(head, this.#http2.maxHeaderBytes);
    if (refused !== undefined) {
      sending.isAnswered = true;
      return this.#refuse(refused, stream, sending);
    }
    if (!this.share.isOver) return this.#start(stream, head, sending);
    // Its client takes its other responses first.
    sending.isCounted = true;
    this.sending++;
    const begin = guardedBy(stream, () => {
      sending.isCounted = false;
      this.sending--;
      if (!stream.closed) this.#start(stream, head, sending);
    });
    // Its body is not read yet.
    endWithReset(stream);
    sending.forget = this.share.hold(begin);
  }

  #start(stream: ServerHttp2Stream, head: RequestHead, sending: Sending): void {
    if (this.#running >= limits.handlers) return closeLater(stream, NGHTTP2_REFUSED_STREAM);
    const { headers } = head;
    const { handler } = this.#http2;
    const exchange = isExtendedConnect(headers)
      ? new ConnectExchange(stream, head, this, handler.app)
      : new Http2Exchange(stream, head, this);
    sending.exchange = exchange;
    const sent = handler.app.answer(exchange);
    if (!isPending(sent)) {
      sending.isAnswered = true;
      return this.#write(exchange, sent, sending);
    }
    this.#running++;
    handler.inFlight++;
    const write = guardedBy(stream, (sent: WireResponse) => this.#write(exchange, sent, sending));
    const take = (sent: WireResponse | undefined): void => {
      this.#running--;
      handler.inFlight--;
      sending.isAnswered = true;
      if (sent !== undefined) write(sent);
      handler.settle();
    };
    whenResolved(sent, take, (thrown) => {
      caughtBy(thrown, stream);
      take(undefined);
    });
  }

  #closed(sending: Sending): void {
    sending.forget?.();
    sending.timeout?.end();
    // May answer a request whose body is not whole.
    sending.exchange?.streamClosed();
    if (sending.isCounted) this.sending--;
    if (!sending.isAnswered) this.#count(this.#resets);
    this.#session.streamEnded();
    if (this.#session.isOpen && !this.#session.hasStreams) this.#waits();
  }

  #refuse({ status, why }: RefusedHead, stream: ServerHttp2Stream, sending: Sending): void {
    logRefusedHead(status, why);
    const head = { ":status": status, "content-length": "0", date: this.deadlines.date };
    stream.respond(head, { endStream: true, sendDate: false } as object);
    sending.timeout = new SendTimeout(stream, this.#http2.handler, this.share);
    sending.timeout.start(0);
  }

  #write(exchange: Http2Exchange, sent: WireResponse, sending: Sending): void {
    const { stream } = exchange;
    // The session ends in a later turn than its socket.
    if (stream.closed || this.#socket.destroyed) return sent.unsent?.();
    const { handler, upgrades } = this.#http2;
    // An app with a route that opens sockets has them.
    if (sent.socket !== undefined) return openSocket(exchange, sent, upgrades as Upgrades, handler);
    // Its client would take a 2xx for an open socket.
    if (exchange instanceof ConnectExchange && sent.status < 300) {
      sent.unsent?.();
      return closeLater(stream, NGHTTP2_CANCEL);
    }
    const { body } = sent;
    const isEvents = isStream(body) && isEventStream(sent);
    sendHead(stream, sent, body === undefined);
    const timeout = new SendTimeout(stream, handler, this.share, exchange);
    sending.timeout = timeout;
    if (!isEvents) {
      sending.isCounted = true;
      this.sending++;
    }
    // A body that was read to its end leaves nothing to drop.
    if (sending.mayHaveBody && !stream.readableEnded) dropRest(exchange);
    if (isStream(body)) {
      endWithReset(stream);
      new Http2Stream(exchange, body, isEvents, handler, timeout).run();
    } else {
      exchange.isWritten = true;
      if (body === undefined) timeout.start(0);
      else sendBody(stream, body, timeout);
    }
    if (sent.closes) this.#session.drain();
  }
}

/** A request whose body is not read whole is over with its response (RFC 9113 §8.1). */
function dropRest(exchange: Http2Exchange): void {
  const { stream } = exchange;
  const drop = guardedBy(stream, () => {
    if (stream.readableEnded) return;
    // Otherwise the reader of a part would take the next one, and pause the stream.
    exchange.streamClosed();
    // Also of a stream that its client has reset: it closes once it is read to its end.
    stream.resume();
    if (!stream.closed) stream.close(NGHTTP2_NO_ERROR);
  });
  // Node 22 and 26 write a head at the end of the turn, and a reset before it takes its place.
  stream.on("finish", () => setImmediate(drop));
}

function ignore(): void {}
