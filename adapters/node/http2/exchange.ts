import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Exchange } from "../../../src/app/exchange.ts";
import { lists, withOneCookie } from "../../../src/doors/http.ts";
import type { PeerCertificate } from "../../../src/doors/inputs.ts";
import {
  HostCheck,
  badHost,
  badTarget,
  headTooLong,
  refusedConnect,
  targetTooLong,
} from "../../../src/doors/server.ts";
import type { RefusedHead, Deadlines } from "../../../src/doors/server.ts";
import { Http2Body } from "./body.ts";
import type { ConnectionShare } from "./share.ts";

/** What an exchange needs of its connection. */
export interface ExchangeConnection {
  readonly peer: string;
  readonly peerCertificate: PeerCertificate | undefined;
  readonly scheme: "https" | undefined;
  readonly deadlines: Deadlines;
  /** What waits on its streams. */
  readonly share: ConnectionShare;
}

/** A request's head, as Node hands it over: nghttp2 has refused what RFC 9113 §8.2 and §8.3 call malformed. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value…; pseudo-headers too. Names are in lower case. */
  readonly raw: readonly string[];
  /** Whether the request has no body: its head ends the stream. */
  readonly isWhole: boolean;
}

const hosts = new HostCheck();
const bad = (why: string): RefusedHead => ({ status: 400, why });
/** RFC 9220 §3, which says it of HTTP/3. */
const otherProtocol: RefusedHead = { status: 501, why: "an extended CONNECT for a protocol that is unknown" };
const noHost = bad("HTTP/2 without an authority");
const otherHost = bad("a Host that is not the authority");

/** Checks what nghttp2 leaves open: the target, and the authority, which takes the place of `Host` (RFC 9113 §8.3.1). */
export function refusedHead({ headers, raw }: RequestHead, maxHeaderBytes: number): RefusedHead | undefined {
  const { ":method": method, ":path": path, ":authority": authority } = headers as { readonly [name: string]: string };
  if ((path ?? "").length > maxHeaderBytes) return targetTooLong;
  if (headLength(raw) > maxHeaderBytes) return headTooLong;
  const protocol = headers[":protocol"];
  if (method === "CONNECT" && protocol === undefined) return refusedConnect(authority ?? "");
  if (protocol !== undefined && protocol !== "websocket") return otherProtocol;
  if (path === undefined || !isPath(path, method)) return badTarget;
  const lines = linesOf(raw, "host");
  const host = authority ?? lines[0];
  if (host === undefined) return noHost;
  if (lines.some((line) => line !== host && normalized(line, headers) !== normalized(host, headers))) return otherHost;
  return hosts.isHost(host) ? undefined : badHost;
}

/** A host without what makes it no other one: its case, and the default port of the request's scheme (RFC 9113 §8.3.1, RFC 3986 §6.2). */
function normalized(host: string, { ":scheme": scheme }: IncomingHttpHeaders): string {
  return host.toLowerCase().replace(scheme === "https" ? /:(?:443)?$/ : /:(?:80)?$/, "");
}

/**
 * The most frames of a connection that wait for its client while a hint is sent: none waits behind a client that reads nothing. Each
 * of 100 streams may have a hint and a head in one turn.
 */
const maxQueuedFrames = 256;

/** nghttp2's limit of 64 KiB, without `:status`: past it Node resets the stream and ends the session, and calls no code. */
const maxHeadBytes = 65_536 - 64;

/** A target is ASCII (RFC 3986 §2), and nghttp2 takes other bytes. */
const printable = /^[\x21-\x7e]+$/;

function isPath(path: string, method: string | undefined): boolean {
  return path.charCodeAt(0) === 0x2f ? printable.test(path) : path === "*" && method === "OPTIONS";
}

/** An exchange over a stream of `node:http2`. */
export class Http2Exchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly stream: ServerHttp2Stream;
  readonly listener = "node:http2";
  readonly canTakeOver = false;
  readonly maxHeadBytes: number = maxHeadBytes;
  /** The whole response was given to the stream. */
  isWritten = false;
  readonly #head: RequestHead;
  readonly #connection: ExchangeConnection;
  /** Null where there is none. */
  #body: Http2Body | null | undefined = undefined;

  constructor(stream: ServerHttp2Stream, head: RequestHead, connection: ExchangeConnection) {
    const { headers } = head;
    this.method = headers[":method"] as string;
    this.target = (headers[":path"] ?? headers[":authority"]) as string;
    this.stream = stream;
    this.#head = head;
    this.#connection = connection;
  }

  get peer(): string {
    return this.#connection.peer;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#connection.peerCertificate;
  }

  get scheme(): "https" | undefined {
    return this.#connection.scheme;
  }

  get date(): string {
    return this.#connection.deadlines.date;
  }

  get isCut(): boolean {
    return this.#connection.deadlines.isCut;
  }

  /** What waits on the streams of its connection. */
  get share(): ConnectionShare {
    return this.#connection.share;
  }

  get body(): Http2Body | undefined {
    if (this.#body === undefined) this.#body = this.#bodyOf() ?? null;
    return this.#body ?? undefined;
  }

  #bodyOf(): Http2Body | undefined {
    const { headers, isWhole } = this.#head;
    // Node has parsed it, and nghttp2 has checked it.
    const length = headers["content-length"] as string | number | undefined;
    if (isWhole || Number(length) === 0) return undefined;
    const { stream } = this;
    const awaitsContinue = lists(this.lines("expect"), "100-continue");
    const { deadlines } = this.#connection;
    return new Http2Body(stream, length === undefined ? undefined : Number(length), deadlines, awaitsContinue);
  }

  /** Nothing more of the body comes. */
  streamClosed(): void {
    this.#body?.breakOff();
  }

  get gone(): AbortSignal {
    const controller = new AbortController();
    const { stream } = this;
    const check = (): void => {
      if (!this.isWritten || !stream.writableFinished) controller.abort();
    };
    if (stream.destroyed) check();
    else stream.once("close", check);
    return controller.signal;
  }

  sendEarlyHints(links: readonly string[]): void {
    const { stream } = this;
    if (stream.closed || stream.headersSent || (stream.session?.state.outboundQueueSize ?? 0) > maxQueuedFrames) return;
    stream.additionalHeaders({ ":status": 103, link: [...links] });
  }

  lines(name: string): readonly string[] {
    const { headers, raw } = this.#head;
    if (name === "host" && headers[":authority"] !== undefined) return [headers[":authority"]];
    const lines = linesOf(raw, name);
    // RFC 9113 §8.2.3: a client may split it.
    return name === "cookie" && lines.length > 1 ? [lines.join("; ")] : lines;
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return withOneCookie(this.#fields());
  }

  *#fields(): Iterable<readonly [name: string, value: string]> {
    const { headers, raw } = this.#head;
    const { ":authority": authority, host } = headers;
    if (authority !== undefined && host === undefined) yield ["host", authority];
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i] as string;
      if (name.charCodeAt(0) !== 0x3a) yield [name, raw[i + 1] as string];
    }
  }

  byteLength(text: string): number {
    return Buffer.byteLength(text);
  }

  decode(bytes: Uint8Array): string | undefined {
    if (!isUtf8(bytes)) return undefined;
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return buffer.toString();
  }
}

/** The bytes of a head, as it would be in HTTP/1.1. */
function headLength(raw: readonly string[]): number {
  let bytes = raw.length * 2;
  for (const text of raw) bytes += text.length;
  return bytes;
}

const nothing: readonly string[] = [];

function linesOf(raw: readonly string[], name: string): readonly string[] {
  let lines: string[] | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i] !== name) continue;
    if (lines === undefined) lines = [raw[i + 1] as string];
    else lines.push(raw[i + 1] as string);
  }
  return lines ?? nothing;
}
