import { STATUS_CODES } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isStream } from "../../src/answers/answer.ts";
import type { Sent } from "../../src/app/exchange.ts";
import { connectionOf } from "./connections.ts";
import { hasBody } from "./exchange.ts";
import { sendWithin } from "./sending.ts";
import { stream } from "./stream.ts";
import type { Sweep } from "./sweep.ts";

/** What the writing of an answer needs to know of its server. */
export interface Writing {
  readonly sweep: Sweep;
  readonly sendTimeoutMs: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
}

// RFC 9110's names, where Node still has older ones.
const phrases: { readonly [status: number]: string } = {
  ...STATUS_CODES,
  413: "Content Too Large",
  422: "Unprocessable Content",
};

// What of an unread body is taken off the wire after the answer, so that the client gets to read the answer.
const discardLimit = 65_536;
const lingerMs = 1000;

/** Writes an answer: for an ordinary one, one `writeHead` and one `end`. */
export function write(request: IncomingMessage, response: ServerResponse, sent: Sent, writing: Writing): void {
  const unread = !request.complete && hasBody(request);
  const closes = sent.closes || writing.stopping || unread || !response.shouldKeepAlive;
  const { body } = sent;
  response.sendDate = false;
  // A kept HTTP/1.1 connection needs no word; HTTP/1.0 is told by Node.
  if (!closes && request.httpVersionMinor === 1) response.removeHeader("connection");
  response.writeHead(sent.status, phrase(sent), framed(request, sent, closes));
  if (isStream(body) || unread) connectionOf(request.socket).sending(response);
  if (isStream(body)) void stream(request, response, body, writing.sendTimeoutMs);
  else if (unread && !connectionOf(request.socket).broken) endUnread(request, response, body, writing);
  else end(request, response, body, writing);
}

function phrase({ status }: Sent): string {
  return phrases[status] ?? "";
}

// What only the connection knows of a head: how a stream's end is told, and whether the connection goes on.
function framed(request: IncomingMessage, { head, body }: Sent, closes: boolean): string[] {
  const chunked = isStream(body) && body.length === undefined && request.httpVersionMinor === 1;
  if (!chunked && !closes) return head as string[];
  return [...head, ...(chunked ? ["transfer-encoding", "chunked"] : []), ...(closes ? ["connection", "close"] : [])];
}

function end(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array | undefined,
  writing: Writing,
): void {
  if (body === undefined) response.end();
  else response.end(body);
  if (response.writableLength === 0) return;
  connectionOf(request.socket).sending(response);
  sendWithin(response, writing.sendTimeoutMs);
}

/**
 * The answer goes out whole, then what is left of the body is dropped up to a bound, then the connection closes: a
 * close with bytes unread would reset it, and the client would lose the answer.
 */
function endUnread(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array | undefined,
  writing: Writing,
): void {
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  let dropped = 0;
  const finish = (): void => {
    deadline.clear();
    request.off("data", drop).off("end", finish).off("close", finish);
    response.end();
  };
  const drop = (part: Buffer): void => {
    dropped += part.byteLength;
    if (dropped > discardLimit) finish();
  };
  const deadline = writing.sweep.time(lingerMs, finish);
  request.on("data", drop).on("end", finish).on("close", finish).resume();
}
