import { STATUS_CODES } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isStream } from "../../src/answers/answer.ts";
import type { StreamBody } from "../../src/answers/answer.ts";
import type { Sent } from "../../src/app/exchange.ts";
import { log } from "../../src/logging/writer.ts";
import { hasBody } from "./exchange.ts";
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
  const closes = sent.closes || writing.stopping || unread;
  response.sendDate = false;
  const { head } = sent;
  if (closes || !response.shouldKeepAlive)
    response.writeHead(sent.status, phrase(sent), [...head, "connection", "close"]);
  else {
    // A kept HTTP/1.1 connection needs no word; HTTP/1.0 is told by Node.
    if (request.httpVersionMinor === 1) response.removeHeader("connection");
    response.writeHead(sent.status, phrase(sent), head as string[]);
  }
  const { body } = sent;
  if (isStream(body)) void stream(request, response, body, writing);
  else if (unread) endUnread(request, response, body, writing);
  else end(response, body, writing);
}

function phrase({ status }: Sent): string {
  return phrases[status] ?? "";
}

function end(response: ServerResponse, body: string | Uint8Array | undefined, writing: Writing): void {
  if (body === undefined) response.end();
  else response.end(body);
  if (response.writableFinished || response.writableLength === 0) return;
  const deadline = writing.sweep.time(writing.sendTimeoutMs, () => response.destroy());
  response.once("close", () => deadline.clear());
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

async function stream(
  request: IncomingMessage,
  response: ServerResponse,
  body: StreamBody,
  writing: Writing,
): Promise<void> {
  response.flushHeaders();
  const how = await writeParts(response, body, writing).catch((thrown: unknown) => thrown);
  if (how === "whole") response.end();
  else response.destroy();
  if (how !== "whole" && how !== "gone") {
    const message = typeof how === "string" ? `stream on ${request.url}: ${how}` : `stream on ${request.url} failed`;
    log({ level: "error", source: "framework.http", message, fields: {}, context: undefined });
  }
}

/** Writes part by part, never ahead of the client; answers how it ended. */
async function writeParts(response: ServerResponse, { parts, length }: StreamBody, writing: Writing): Promise<string> {
  let left = length ?? Number.POSITIVE_INFINITY;
  for await (const part of parts) {
    if (response.closed) return "gone";
    const over = part.byteLength > left;
    if (!response.write(over ? part.subarray(0, left) : part) && !(await drained(response, writing))) return "gone";
    if (over) return "it sent more than its length, so its connection is closed";
    left -= part.byteLength;
  }
  if (length !== undefined && left > 0) return "it sent less than its length, so its connection is closed";
  return "whole";
}

/** Waits until the client took what was written; false where it went, or takes nothing. */
function drained(response: ServerResponse, writing: Writing): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (ok: boolean) => (): void => {
      deadline.clear();
      response.off("drain", onDrain).off("close", onClose);
      resolve(ok);
    };
    const onDrain = settle(true);
    const onClose = settle(false);
    const deadline = writing.sweep.time(writing.sendTimeoutMs, onClose);
    response.once("drain", onDrain).once("close", onClose);
  });
}
