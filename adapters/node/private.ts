import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { caught } from "../../src/doors/logging.ts";
import { connectionOf } from "./connection.ts";
import { nodeMajor } from "./listen.ts";

/*
 * Every undocumented member of `node:http` that the listener uses, as Node 20 to 26 have them. Each row of
 * test/conformance runs on the oldest, 22, 24 and the newest, and fails where one of them is gone.
 *
 *   request.push            the parser pushes the body to it            a body costs 0.8 µs more without it
 *   request._readableState  the state of the request's stream           an empty body costs 0.5 µs more without it
 *   request._dumped         the rest of a body is discarded             with it
 *   response._header        the head as text, once it is written        a response costs 0.4 µs more without it
 *   socket._httpMessage     the response that is being written          on Bun a slow reader is not cut off without it
 *   socket._handle          what the system has taken of what is written   a client that sends, and reads nothing, is kept without it
 *   tlsSocket._parent       the connection below TLS                    without it a stopping server waits for handshakes
 *   response._sent100       a `100 Continue` was sent                   a promise of contract 4.6 needs both: Node finds
 *   response._expect_continue  the request had `Expect: 100-continue`   `100-continue` anywhere in the field
 *   session.close, session.destroy  Node calls them itself               without it one packet ends a process of Node 20 or 22
 */

/**
 * Whether this Node's undocumented members are known: the tests ran with it. On a newer one only documented members are
 * used, which costs a request more.
 */
export const isKnownNode: boolean = nodeMajor >= 20 && nodeMajor <= 26;

/** The response that a connection writes now. */
export function responseBeingWritten(socket: Socket): ServerResponse | null | undefined {
  return Reflect.get(socket, "_httpMessage") as ServerResponse | null | undefined;
}

/** The connection that a TLS socket encrypts. */
export function belowTls(socket: TLSSocket): Socket | undefined {
  return Reflect.get(socket, "_parent") as Socket | undefined;
}

/** Counts of a connection's bytes. */
interface ByteCounts {
  readonly bytesWritten: number;
  /** Those that the system has not taken yet. */
  readonly writeQueueSize: number;
}

/** The bytes of a connection that the system has taken; undefined where it is closed, or no connection of a known Node. */
export function takenBytes(socket: Duplex): number | undefined {
  if (!isKnownNode) return undefined;
  const below = belowTls(socket as TLSSocket) ?? socket;
  const counts = Reflect.get(below, "_handle") as ByteCounts | null | undefined;
  return counts === null || counts === undefined ? undefined : counts.bytesWritten - counts.writeQueueSize;
}

export type DestroyArguments = readonly [error?: Error | number, code?: number];

/** The two functions that end a session of HTTP/2. */
export interface SessionEnds {
  readonly close: () => void;
  readonly destroy: (...given: DestroyArguments) => void;
}

/** Lets `ours` be called where Node would end a session itself. @returns Node's own. */
export function takeSessionEnds(session: ServerHttp2Session, ours: SessionEnds): SessionEnds {
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  Object.assign(session, ours);
  return { close: () => close(), destroy: (...given) => destroy(...(given as Parameters<typeof destroy>)) };
}

const header = "_header";

/** Writes the head as text. `writeHead` looks for further headers and checks every character again. */
export function setHeadText(response: ServerResponse, head: string): void {
  (response as unknown as { [header]: string | null })[header] = head;
}

/** A whole head of a response as it is sent. */
export function headText(status: number, phrase: string, fields: readonly string[]): string {
  let text = `HTTP/1.1 ${status} ${phrase}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** Node's members of a response to a request with `Expect: 100-continue`. */
interface ExpectingResponse {
  readonly _expect_continue?: boolean;
  readonly _sent100?: boolean;
}

/** Whether Node has sent `100 Continue`. */
export function hasSentContinue(response: ServerResponse): boolean {
  const { _sent100 } = response as ExpectingResponse;
  return _sent100 === true;
}

/** Whether Node leaves `100 Continue` to the application: a server that listens for `checkContinue`. */
export function leavesContinue(response: ServerResponse): boolean {
  const { _expect_continue } = response as ExpectingResponse;
  return _expect_continue === true;
}

/** Lets Node keep the connection without a `100 Continue`. */
export function forgetContinue(response: ServerResponse): void {
  Object.assign(response, { _expect_continue: false } satisfies ExpectingResponse);
}

const dumped = "_dumped";

/** Node's stream state of a request, in these versions. */
interface ParserMessage {
  readonly _readableState: {
    ended: boolean;
    endEmitted: boolean;
    destroyed: boolean;
    closed: boolean;
    closeEmitted: boolean;
  };
  [dumped]: boolean;
}

/** A request as the connection's parser sees it: it pushes the body to it. */
interface Pushed {
  push(part: Buffer | null): boolean;
}

/**
 * Ends the stream of a request without a body, which costs 0.5 µs and has no listener. Node does the same with
 * `optimizeEmptyRequests` (24.12); this is for older versions, which do not change any more.
 */
export function skipEmptyBody(request: IncomingMessage): void {
  if (isKnownNode && nodeMajor < 24) endStream(request);
}

/**
 * Takes a body from the parser for the reader that its connection has for it, without the request's stream, whose last event comes
 * five turns later: 0.8 µs of a request. False where the stream has already begun.
 */
export function readFromParser(request: IncomingMessage): boolean {
  const hasBegun = request.complete || request.readableLength > 0 || request.readableFlowing !== null;
  if (!isKnownNode || hasBegun) return false;
  (request as Pushed).push = handOver;
  return true;
}

/** Gives the rest of such a body to its stream. */
export function leaveToStream(request: IncomingMessage): void {
  Reflect.deleteProperty(request, "push");
}

// One function for all requests.
function handOver(this: IncomingMessage, part: Buffer | null): boolean {
  try {
    const reader = connectionOf(this.socket).reading.readerOf(this);
    if (part !== null) {
      reader?.take(part);
      return true;
    }
    endStream(this);
    reader?.end();
  } catch (thrown) {
    caught(thrown, this.socket);
  }
  return false;
}

function endStream(request: IncomingMessage): void {
  const kept = request as unknown as ParserMessage;
  const { _readableState: state } = kept;
  state.ended = true;
  state.endEmitted = true;
  state.destroyed = true;
  state.closed = true;
  state.closeEmitted = true;
  // Otherwise Node would make the stream flow, for bytes that may be left on the wire.
  kept[dumped] = true;
}
