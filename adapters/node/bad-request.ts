import { METHODS } from "node:http";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { logRefusedHead } from "../../src/app/failures.ts";
import { httpDate } from "../../src/http/fields.ts";
import type { BodyFailure } from "../../src/inputs/body-source.ts";
import { guarded } from "../../src/logging/raised.ts";
import type { RefusedHead } from "../../src/server/bad-request.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { discardLimit, linger, lingerAtEnd, lingerMs } from "./closing.ts";
import { connectionOf, endedEarly } from "./connection.ts";
import type { NodeConnection } from "./connection.ts";

/** A parser error of Node, with the packet and how far the parser got. */
export interface ParserFault extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

const phrases: { readonly [status: number]: string } = {
  400: "Bad Request",
  408: "Request Timeout",
  414: "URI Too Long",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
  505: "HTTP Version Not Supported",
};

const bodyFaults: { readonly [code: string]: BodyFailure } = {
  HPE_INVALID_EOF_STATE: endedEarly,
  HPE_HEADER_OVERFLOW: { kind: "unreadable", detail: "a trailer past its limit" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { kind: "too_large", detail: "the body's chunk extensions are past their limit" },
};

/**
 * Answers an invalid request and closes, because the bytes after it could be anything. If it is the body of a request in
 * progress, that request's response reports it. A pending response is always sent first.
 */
export function refuseHead(fault: ParserFault, socket: Socket, deadlines: Deadlines): void {
  const connection = connectionOf(socket);
  if (connection.closing || cutShort.has(connection)) return;
  const code = fault.code ?? "malformed";
  // No byte of a head has arrived: the idle timeout applies.
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" && !connection.mayHaveBegun) return;
  connection.fault ??= bodyFaults[code] ?? { kind: "unreadable", detail: `a malformed chunked body: ${code}` };
  if (!socket.writable || code === "ECONNRESET") socket.destroy();
  else if (connection.unfinished !== undefined) connection.unfinished.fail(connection.fault);
  else if (code === "HPE_HEADER_OVERFLOW" && isCut(fault, socket)) {
    cutShort.add(connection);
    whenLineEnds(fault, socket, deadlines, (isRequestLine) => {
      connection.whenIdle(() => refuse(isRequestLine ? 414 : 431, code, socket, deadlines));
    });
  } else connection.whenIdle(() => refuse(statusOf(fault), code, socket, deadlines));
}

/** Refuses a head that Node's parser accepted, in order after the earlier responses of its connection. */
export function refuseRequest({ status, why }: RefusedHead, response: ServerResponse, deadlines: Deadlines): void {
  const { socket } = response.req;
  const connection = connectionOf(socket);
  connection.closing = true;
  // The connection is kept for this response too, after earlier ones and for a half-closed client.
  connection.sends(response);
  lingerAtEnd(socket, deadlines);
  logRefusedHead(status, why);
  // Headers that a hosting server sets for every response are not for this one.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.sendDate = false;
  response.writeHead(status, phrases[status], headOf(status)).end();
}

function refuse(status: number, why: string, socket: Socket, deadlines: Deadlines): void {
  if (connectionOf(socket).closing) return;
  logRefusedHead(status, why);
  let head = `HTTP/1.1 ${status} ${phrases[status]}\r\n`;
  const fields = headOf(status);
  for (let i = 0; i < fields.length; i += 2) head += `${fields[i]}: ${fields[i + 1]}\r\n`;
  socket.write(`${head}\r\n`);
  linger(socket, deadlines);
}

function headOf(status: number): string[] {
  const head = ["content-length", "0", "connection", "close"];
  // RFC 9110 §6.6.1: a 5xx may omit `Date`, because a failing server may have no reliable clock.
  if (status < 500) head.push("date", httpDate(Date.now()));
  return head;
}

function statusOf(fault: ParserFault): number {
  if (fault.code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  const [method = "", , version] = lineAt(fault).split(" ");
  if (fault.code === "HPE_HEADER_OVERFLOW") return version === undefined && METHODS.includes(method) ? 414 : 431;
  return /^HTTP\/[02-9]\.\d$/.test(version ?? "") ? 505 : 400;
}

/** The part of the line before the fault; of a line in several packets, only the last one. */
function lineAt(fault: ParserFault): string {
  const { rawPacket } = fault;
  const end = endOf(fault);
  if (rawPacket === undefined || end < 1) return "";
  return rawPacket.toString("latin1", rawPacket.lastIndexOf("\n", end - 1) + 1, end);
}

/** How far the parser got in its packet. Bun does not report it for a wrong version. */
function endOf({ rawPacket, bytesParsed }: ParserFault): number {
  return bytesParsed ?? rawPacket?.indexOf("\r\n") ?? 0;
}

/** Connections with an oversized line that has not ended yet. */
const cutShort = new WeakSet<NodeConnection>();

/**
 * Whether a line may have begun in an earlier packet. Node gives only the last packet, because its parser reads the socket
 * directly; Deno does not count the bytes of the earlier ones.
 */
function isCut(fault: ParserFault, socket: Socket): boolean {
  const { rawPacket } = fault;
  const end = endOf(fault);
  if (rawPacket === undefined || end < 1 || rawPacket.lastIndexOf("\n", end - 1) !== -1) return false;
  return socket.bytesRead > rawPacket.byteLength || !METHODS.includes(lineAt(fault).split(" ", 1).join());
}

/** The end of a request line, with an optional CR. */
const version = / HTTP\/\d\.\d\r?$/;
/** The length of that end. */
const versionLength = 10;

/**
 * Decides by the end of a line whether it is the request line, where its beginning is lost. The end may never arrive: after
 * a second, or `discardLimit` bytes, it counts as not the request line.
 */
function whenLineEnds(
  fault: ParserFault,
  socket: Socket,
  deadlines: Deadlines,
  act: (isRequestLine: boolean) => void,
): void {
  let last = "";
  let dropped = 0;
  const decide = (isRequestLine: boolean): void => {
    deadline.clear();
    socket.off("data", readPart).off("end", giveUp).off("close", giveUp);
    // Node's parser must not see the bytes that follow.
    socket.on("data", ignore);
    act(isRequestLine);
  };
  const giveUp = guarded(socket, () => decide(false));
  const readPart = guarded(socket, (part: Buffer) => {
    dropped += part.byteLength;
    const end = part.indexOf("\n");
    const line = end === -1 ? part : part.subarray(0, end);
    last = (last + line.subarray(-versionLength).toString("latin1")).slice(-versionLength);
    if (end !== -1) decide(version.test(last));
    else if (dropped > discardLimit) decide(false);
  });
  const deadline = deadlines.time(lingerMs, { expire: giveUp });
  // Before Node's own listener, which would end this side too.
  socket.prependOnceListener("end", giveUp).once("close", giveUp);
  socket.removeAllListeners("data").on("data", readPart);
  readPart((fault.rawPacket as Buffer).subarray(endOf(fault)));
}

function ignore(): void {}
