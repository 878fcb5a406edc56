import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Exchange } from "../../src/app/exchange.ts";
import { lists } from "../../src/doors/http.ts";
import type { BodySource, PeerCertificate } from "../../src/doors/inputs.ts";
import type { Deadlines } from "../../src/doors/server.ts";
import { connectionOf, isEncrypted, whenGone } from "./connection.ts";
import { readHead } from "./bad-request.ts";
import type { Framing } from "./bad-request.ts";
import { phrases } from "./http.ts";
import { nodeMajor } from "./listen.ts";
import { peerCertificateOf } from "./peer-certificate.ts";
import { forgetContinue, hasSentContinue, headText } from "./private.ts";
import { IncomingBody } from "./request-body.ts";
import { maxAheadBytes } from "./writing.ts";

/**
 * An exchange over `node:http`. Headers are read from `rawHeaders`: Node's own parse of them costs a request more than the
 * whole framework, and drops or joins repeated ones.
 */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly framing: Framing;
  readonly canUpgrade: boolean;
  readonly match: Exchange["match"];
  /** Nothing will read the body. */
  dropsBody = false;
  canTakeOver: boolean | undefined = undefined;
  /** Its number among the requests of its connection. */
  turn = 0;
  readonly #deadlines: Deadlines;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly #expectsContinue: boolean;
  #body: IncomingBody | undefined = undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    framing: Framing,
    deadlines: Deadlines,
    expectsContinue: boolean,
    opensSockets: boolean = false,
    match?: Exchange["match"],
  ) {
    // RFC 9110 §7.8: a body would have to be read before the protocol changes.
    this.canUpgrade = opensSockets && framing === 0 && request.method === "GET" && request.httpVersionMinor === 1;
    this.method = request.method as string;
    this.target = request.url as string;
    this.request = request;
    this.match = match;
    this.response = response;
    this.framing = framing;
    this.#deadlines = deadlines;
    this.#expectsContinue = expectsContinue;
  }

  dropBody(): void {
    this.dropsBody = true;
  }

  get listener(): string {
    return "node:http";
  }

  /** No other code reads the request or listens to it. */
  get isOurs(): boolean {
    return true;
  }

  get ownsTurn(): boolean {
    return this.isOurs && copiesContexts;
  }

  get scheme(): "https" | undefined {
    return isEncrypted(this.request.socket) ? "https" : undefined;
  }

  get peer(): string {
    return connectionOf(this.request.socket).peer;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return peerCertificateOf(this.request.socket);
  }

  get date(): string {
    return this.#deadlines.date;
  }

  get isCut(): boolean {
    return this.#deadlines.isCut;
  }

  get body(): BodySource | undefined {
    return this.incoming;
  }

  /** Drops the body, unless it was read or the request is used as a stream. */
  drain(): void {
    if (this.#body === undefined && this.request.readableFlowing === null) this.incoming?.discard();
  }

  /** The body from the connection; undefined where the head announces none. */
  get incoming(): IncomingBody | undefined {
    if (this.#body !== undefined) return this.#body;
    const { framing } = this;
    if (framing === 0) return undefined;
    const length = typeof framing === "number" ? framing : undefined;
    const sendContinue = this.#expectsContinue ? () => this.response.writeContinue() : undefined;
    this.#body = new IncomingBody(this.request, length, this.#deadlines, this.isOurs, sendContinue);
    return this.#body;
  }

  get gone(): AbortSignal {
    const controller = new AbortController();
    whenGone(this.response, () => controller.abort());
    return controller.signal;
  }

  /**
   * Directly: Node's `writeEarlyHints` (20 to 26) refuses parameters with blanks, as `media="(min-width: 600px)"`. What does not go out
   * soon is no early hint, so none waits behind a client that reads nothing.
   */
  sendEarlyHints(links: readonly string[]): void {
    const { request, response } = this;
    const { socket } = response;
    // Bun and Deno write a response by means of their own. RFC 9110 §15.2: HTTP/1.0 has no 1xx.
    if (nodeMajor === 0 || request.httpVersionMinor !== 1) return;
    // The socket is null while the response before it is written. In another server, other code may have sent the head.
    if (socket === null || response.headersSent || socket.writableLength > maxAheadBytes) return;
    socket.write(
      headText(
        103,
        phrases[103] as string,
        links.flatMap((link) => ["link", link]),
      ),
      "latin1",
    );
  }

  lines(name: string): readonly string[] {
    return linesOf(this.request, name);
  }

  *headers(): Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.request;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      yield [(rawHeaders[i] as string).toLowerCase(), rawHeaders[i + 1] as string];
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

// Older versions keep the context with the connection, where it would stay.
const copiesContexts = nodeMajor >= 24;
const nothing: readonly string[] = [];

/** The values of a header, one for each line. */
export function linesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  let lines: string[] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] as string;
    if (given.length !== name.length || (given !== name && given.toLowerCase() !== name)) continue;
    // A literal with the first element: V8 makes room for seventeen when an empty array gets one.
    if (lines === undefined) lines = [rawHeaders[i + 1] as string];
    else lines.push(rawHeaders[i + 1] as string);
  }
  return lines ?? nothing;
}

/**
 * Whether a client waits for `100 Continue` before it sends its body. Node finds the word anywhere in the field, and closes
 * the connection if it has not sent one. `Expect` is a list, whose other members need nothing from a server (RFC 9110
 * §10.1.1).
 */
export function awaitsContinue(request: IncomingMessage, response: ServerResponse): boolean {
  if (hasSentContinue(response)) return false;
  if (readHead(request) !== 0 && lists(linesOf(request, "expect"), "100-continue")) return true;
  // There is no body to continue with, and the connection is kept.
  forgetContinue(response);
  return false;
}
