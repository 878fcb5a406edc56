import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { WireResponse } from "../../../src/app/exchange.ts";
import { logListener } from "../../../src/doors/apps.ts";
import type { OpenStream, StreamEnd } from "../../../src/doors/events.ts";
import { stripped } from "../../../src/doors/http.ts";
import { lingerMs, PulledUnsent } from "../../../src/doors/server.ts";
import type { SendStop } from "../../../src/doors/server.ts";
import { nodeMajor, nodeMinor } from "../listen.ts";
import { StreamWriter } from "../stream-writer.ts";
import type { ServerState } from "../stream-writer.ts";
import type { Http2Exchange } from "./exchange.ts";
import type { ConnectionShare } from "./share.ts";
import { caughtBy, cutLater, endWithReset, guardedBy } from "./resets.ts";

/** The versions whose `respond` takes a list, too. */
const takesLists = nodeMajor > 24 || (nodeMajor === 24 && nodeMinor >= 7) || (nodeMajor === 22 && nodeMinor >= 20);

/** Sends the head of a response. */
export function sendHead(
  stream: ServerHttp2Stream,
  sent: Pick<WireResponse, "status" | "head">,
  isEmpty: boolean,
): void {
  // The app has set `Date`. Node's types do not know the option.
  const options: object = { endStream: isEmpty, sendDate: false };
  try {
    stream.respond(takesLists ? headList(sent) : headObject(sent), options);
  } catch (thrown) {
    // Before 24.15 Node has fields that it sends once.
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_HTTP2_HEADER_SINGLE_VALUE") throw thrown;
    stream.respond(headObject({ ...sent, head: joinedLines(sent.head) }), options);
  }
}

/** The lines of each field as one (RFC 9110 §5.3). `Set-Cookie` cannot be joined. */
function joinedLines(head: readonly string[]): readonly string[] {
  const values = new Map<string, string>();
  const cookies: string[] = [];
  for (let i = 0; i < head.length; i += 2) {
    const [name, value] = [head[i] as string, head[i + 1] as string];
    const before = values.get(name);
    if (name === "set-cookie") cookies.push(name, value);
    else values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return [...[...values].flat(), ...cookies];
}

/** Fields that HTTP/2 lacks (RFC 9113 §8.2.2): Node throws for them. A route of WebSockets names the first two in its refusal. */
const ofConnection: ReadonlySet<string> = new Set(["connection", "upgrade", "proxy-connection", "http2-settings"]);

/** A value without the blanks at its ends, with which its message would be malformed (RFC 9113 §8.2.1). */
function valueOf(text: string): string {
  const hasBlanks = text.charCodeAt(0) <= 0x20 || text.charCodeAt(text.length - 1) <= 0x20;
  return hasBlanks ? stripped(text) : text;
}

// Of an object Node makes another one: `respond` takes a quarter less with a list (Node 24 and 26), a third less on 22.
function headList({ status, head }: Pick<WireResponse, "status" | "head">): readonly string[] {
  const list = [":status", String(status)];
  for (let i = 0; i < head.length; i += 2) {
    const name = head[i] as string;
    if (!ofConnection.has(name)) list.push(name, valueOf(head[i + 1] as string));
  }
  return list;
}

function headObject({ status, head }: Pick<WireResponse, "status" | "head">): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ":status": status };
  for (let i = 0; i < head.length; i += 2) {
    const name = head[i] as string;
    if (ofConnection.has(name)) continue;
    const value = valueOf(head[i + 1] as string);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else headers[name] = [before as string, value];
  }
  return headers;
}

/** The bytes of one write: HTTP/2's smallest frame limit. */
export const partBytes = 16_384;

/**
 * Limits how long a client may take nothing of a response, with the window of the stream or the connection closed, and counts what
 * waits: a part of 16 KiB must be taken in `sendTimeoutMs`, and `minSendRate` bytes a second. Only the stream is reset; the idle
 * timeout ends a connection that is stuck.
 */
export class SendTimeout {
  readonly #stream: ServerHttp2Stream;
  readonly #server: ServerState;
  readonly #unsent: PulledUnsent;
  readonly #share: ConnectionShare;
  /** Undefined for a head that was refused. */
  readonly #exchange: Http2Exchange | undefined;
  /** What waits of it, as its connection counts. */
  #waiting = 0;
  hasExpired = false;

  constructor(stream: ServerHttp2Stream, server: ServerState, share: ConnectionShare, exchange?: Http2Exchange) {
    this.#share = share;
    this.#stream = stream;
    this.#server = server;
    this.#exchange = exchange;
    this.#unsent = new PulledUnsent(server, this);
  }

  get network(): string | undefined {
    const exchange = this.#exchange;
    return exchange && this.#server.app.networkOf(exchange.peer, (name) => exchange.lines(name));
  }

  /**
   * The client has taken the part before. It takes nothing from now on, until `taken` or the next `start`.
   *
   * @param waiting The bytes that wait with the part.
   */
  start(part: number, waiting: number = part): void {
    this.#unsent.making();
    this.#unsent.made(part, waiting);
    this.#count(waiting);
  }

  taken(): void {
    this.#unsent.making();
    this.#count(0);
  }

  end(): void {
    this.#unsent.ended();
    this.#count(0);
  }

  #count(bytes: number): void {
    this.#share.add(bytes - this.#waiting);
    this.#waiting = bytes;
  }

  stoppedReading(why: SendStop): void {
    if (this.#stream.destroyed) return;
    this.hasExpired = true;
    if (why === "unread")
      logListener("info", `reset a stream whose client stopped reading for ${this.#server.sendTimeoutMs / 1000}s`);
    cutLater(this.#stream);
  }
}

/** Sends a whole body, the next part once the client has taken the one before. */
export function sendBody(stream: ServerHttp2Stream, body: string | Uint8Array, timeout: SendTimeout): void {
  timeout.start(body.length);
  if (body.length <= partBytes) {
    stream.end(body);
    return;
  }
  endWithReset(stream);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  let at = 0;
  const next = guardedBy(stream, () => {
    if (stream.destroyed) return;
    const part = bytes.subarray(at, at + partBytes);
    timeout.start(part.byteLength, bytes.byteLength - at);
    at += part.byteLength;
    if (at < bytes.byteLength) stream.write(part, next);
    else stream.end(part);
  });
  next();
}

/** A streamed response of HTTP/2. */
export class Http2Stream extends StreamWriter<ServerHttp2Stream> {
  readonly #exchange: Http2Exchange;
  readonly #timeout: SendTimeout;

  constructor(
    exchange: Http2Exchange,
    body: OpenStream,
    isEventStream: boolean,
    server: ServerState,
    timeout: SendTimeout,
  ) {
    super(exchange.stream, body, isEventStream, server);
    this.#exchange = exchange;
    this.#timeout = timeout;
  }

  protected override mayRead(): Promise<void> | undefined {
    const { share } = this.#exchange;
    if (!share.isOver) return undefined;
    return new Promise((resolve) => {
      const stream = this.channel;
      const settle = (): void => {
        forget();
        stream.off("close", settle);
        resolve();
      };
      const forget = share.hold(settle);
      stream.once("close", settle);
    });
  }

  // Each part must be taken in time.
  protected get maxPartBytes(): number {
    return partBytes;
  }

  protected get isGone(): boolean {
    return this.channel.destroyed || this.channel.closed;
  }

  protected get stoppedReading(): boolean {
    return this.#timeout.hasExpired;
  }

  protected send(part: Uint8Array): boolean {
    return this.channel.write(part);
  }

  protected finish(): void {
    this.#exchange.isWritten = true;
    this.#timeout.start(this.channel.writableLength);
    this.channel.end();
  }

  protected abort(how: StreamEnd): void {
    // Of too long a body, its client has all that the head announced.
    if (how === "long") this.finish();
    else this.abortInTime();
  }

  protected abortInTime(): void {
    const stream = this.channel;
    if (!this.isGone) stream.write("", this.#cutInTime());
  }

  protected finishInTime(): void {
    this.finish();
    this.#cutInTime();
  }

  /** Cuts the stream after `lingerMs`, or when the function is called that it returns. */
  #cutInTime(): () => void {
    const stream = this.channel;
    const act = guardedBy(stream, () => cutLater(stream));
    this.server.deadlines.time(lingerMs, { expire: act });
    return act;
  }

  protected override raised(thrown: unknown): void {
    caughtBy(thrown, this.channel);
  }

  protected whenDrained(act: () => void): void {
    const stream = this.channel;
    const settle = (): void => {
      stream.off("drain", settle).off("close", settle);
      this.#timeout.taken();
      act();
    };
    this.#timeout.start(stream.writableLength, stream.writableLength + this.unwritten);
    stream.once("drain", settle).once("close", settle);
  }
}
