import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { logRefusedHead } from "../../src/doors/apps.ts";
import { httpDate, isHost } from "../../src/doors/http.ts";
import { endedEarly } from "../../src/doors/inputs.ts";
import type { BodyFailure } from "../../src/doors/inputs.ts";
import { guarded } from "../../src/doors/logging.ts";
import { HostCheck, badHost, badTarget, discardLimit, lingerMs } from "../../src/doors/server.ts";
import type { RefusedHead, Deadlines } from "../../src/doors/server.ts";
import { connectionOf, linger, lingerAtEnd } from "./connection.ts";
import { http, phrases } from "./http.ts";
import { headText } from "./private.ts";

/** How a body is framed: by its length, 0 without a body, or in chunks. */
export type Framing = number | "chunked";

const bad = (why: string): RefusedHead => ({ status: 400, why });
const noVersion = bad("a request line without a version");
const otherVersion: RefusedHead = { status: 505, why: "a version of HTTP that is not 1" };
const noHost = bad("HTTP/1.1 without a Host");
const severalHosts = bad("more than one Host");
const badLength = bad("a length of more than 18 digits");
const severalLengths = bad("more than one length");
const twoFramings = bad("a body with a length and a transfer coding");
const unknownFraming = bad("a body that nothing tells the end of");
const codedBody: RefusedHead = { status: 501, why: "a transfer coding that is not chunked" };

const known = new HostCheck();

/**
 * Checks what Node's parser leaves open: how the body is framed (RFC 9112 §6.3), and whether the head is valid (§3.2, §2.3).
 * One pass over the fields, comparing their lengths first, because most are none of these.
 */
export function readHead(request: IncomingMessage): Framing | RefusedHead {
  const { rawHeaders, httpVersionMajor } = request;
  let bodyLength: Framing | RefusedHead | undefined;
  let codings: string | undefined;
  let hosts = 0;
  let host = "";
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const { length } = name;
    if (length === 4) {
      if (name !== "Host" && name !== "host" && name.toLowerCase() !== "host") continue;
      host = rawHeaders[i + 1] as string;
      hosts++;
    } else if (length === 14) {
      if (name === "content-length" || name.toLowerCase() === "content-length")
        bodyLength = lengthOf(rawHeaders[i + 1] as string, bodyLength);
    } else if (length === 17 && name.toLowerCase() === "transfer-encoding") {
      const value = rawHeaders[i + 1] as string;
      codings = codings === undefined ? value : `${codings},${value}`;
    }
  }
  if (httpVersionMajor !== 1) return httpVersionMajor === 0 ? noVersion : otherVersion;
  if (hosts !== 1) {
    if (hosts > 1) return severalHosts;
    if (request.httpVersionMinor > 0) return noHost;
  } else if (host !== known.last && !known.isHost(host)) return badHost;
  const target = request.url as string;
  if (target.charCodeAt(0) !== 0x2f && !isTarget(target, request.method)) return badTarget;
  if (codings === undefined) return bodyLength ?? 0;
  return bodyLength === undefined ? framingBy(codings) : twoFramings;
}

// A target without a leading slash: `*`, or an absolute one. Userinfo could disguise one host as another (RFC 9110 §4.2.4).
function isTarget(target: string, method: string | undefined): boolean {
  if (target === "*") return method === "OPTIONS";
  if (method === "CONNECT") return true;
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
  return authority !== undefined && isHost(authority);
}

/** @param before The value of an earlier line. Node's parser refuses a second line, other runtimes may not. */
function lengthOf(digits: string, before: Framing | RefusedHead | undefined): Framing | RefusedHead {
  // Longer numbers are not exact.
  if (digits.length > 18) return badLength;
  return before === undefined || before === Number(digits) ? Number(digits) : severalLengths;
}

// HTTP's white space is only SP and HTAB (RFC 9110 §5.6.3); `trim` removes more.
const chunked = /^[\t ]*chunked[\t ]*$/i;
const nothing = /^[\t ]*$/;

/**
 * The framing by the transfer codings of all lines. Node's parser uses the last one too, so `chunked` must be last. An empty
 * element before it does not count (RFC 9110 §5.6.1.2).
 */
function framingBy(codings: string): Framing | RefusedHead {
  if (codings === "chunked") return "chunked";
  const listed = codings.split(",");
  if (!chunked.test(listed.at(-1) as string)) return unknownFraming;
  const others = listed.slice(0, -1).filter((coding) => !nothing.test(coding));
  if (others.length === 0) return "chunked";
  return others.some((coding) => chunked.test(coding)) ? unknownFraming : codedBody;
}

/** A parser error of Node, with the packet and how far the parser got. */
interface ParserFault extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

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
  const { reading, writing } = connectionOf(socket);
  const code = fault.code ?? "malformed";
  // No byte of a head has arrived: the idle timeout applies. Line ends alone do not start Node's time of a head again.
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" && !reading.mayHaveBegun) return reading.begins();
  const why = reading.breaks(bodyFaults[code] ?? { kind: "unreadable", detail: `a malformed chunked body: ${code}` });
  if (why === undefined) return;
  const { unfinished } = reading;
  if (!socket.writable || code === "ECONNRESET") socket.destroy();
  else if (unfinished !== undefined) unfinished.fail(why);
  else if (code === "HPE_HEADER_OVERFLOW" && isCut(fault, socket)) {
    reading.awaitsLineEnd();
    whenLineEnds(fault, socket, deadlines, (isRequestLine) => {
      writing.whenIdle(() => refuse(isRequestLine ? 414 : 431, code, socket, deadlines));
    });
  } else writing.whenIdle(() => refuse(statusOf(fault), code, socket, deadlines));
}

/** Refuses a head that Node's parser accepted, in order after the earlier responses of its connection. */
export function refuseRequest({ status, why }: RefusedHead, response: ServerResponse, deadlines: Deadlines): void {
  const { socket } = response.req;
  const { reading, writing } = connectionOf(socket);
  reading.closes();
  // The connection is kept for this response too, after earlier ones and for a half-closed client.
  writing.trackSent(response);
  lingerAtEnd(socket, deadlines);
  logRefusedHead(status, why);
  // Headers that a hosting server sets for every response are not for this one.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.sendDate = false;
  response.writeHead(status, phrases[status], fieldsOf(status)).end();
}

function refuse(status: number, why: string, socket: Socket, deadlines: Deadlines): void {
  if (connectionOf(socket).reading.isOver) return;
  logRefusedHead(status, why);
  socket.write(headText(status, phrases[status] as string, fieldsOf(status)));
  linger(socket, deadlines);
}

function fieldsOf(status: number): string[] {
  const fields = ["content-length", "0", "connection", "close"];
  // RFC 9110 §6.6.1: a 5xx may omit `Date`, because a failing server may have no reliable clock.
  if (status < 500) fields.push("date", httpDate(Date.now()));
  return fields;
}

function statusOf(fault: ParserFault): number {
  if (fault.code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  const [method = "", , version] = lineAt(fault).split(" ");
  if (fault.code === "HPE_HEADER_OVERFLOW") return version === undefined && http.METHODS.includes(method) ? 414 : 431;
  if (/^HTTP\/[02-9]\.\d$/.test(version ?? "")) return 505;
  return isOfOtherMethod(fault) ? 501 : 400;
}

const requestLine = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+) (?:\/|[A-Za-z][A-Za-z\d+.-]*:\/\/)[\x21-\x7e]* HTTP\/1\.[01]\r$/;

/**
 * Whether the fault is in a valid request line, so that it is the method, which Node's parser does not know: a 501
 * (RFC 9110 §9.1). A line in several packets cannot be read.
 */
function isOfOtherMethod(fault: ParserFault): boolean {
  const { rawPacket } = fault;
  if (rawPacket === undefined) return false;
  const start = startOfLine(rawPacket, endOf(fault));
  const end = rawPacket.indexOf("\n", start);
  const method = end === -1 ? undefined : requestLine.exec(rawPacket.toString("latin1", start, end))?.[1];
  return method !== undefined && !http.METHODS.includes(method);
}

function startOfLine(packet: Buffer, at: number): number {
  return at < 1 ? 0 : packet.lastIndexOf("\n", at - 1) + 1;
}

/** The part of the line before the fault; of a line in several packets, only the last one. */
function lineAt(fault: ParserFault): string {
  const { rawPacket } = fault;
  const end = endOf(fault);
  if (rawPacket === undefined || end < 1) return "";
  return rawPacket.toString("latin1", startOfLine(rawPacket, end), end);
}

/** How far the parser got in its packet. Bun does not report it for a wrong version. */
function endOf({ rawPacket, bytesParsed }: ParserFault): number {
  return bytesParsed ?? rawPacket?.indexOf("\r\n") ?? 0;
}

/**
 * Whether a line may have begun in an earlier packet. Node gives only the last packet, because its parser reads the socket
 * directly; Deno does not count the bytes of the earlier ones.
 */
function isCut(fault: ParserFault, socket: Socket): boolean {
  const { rawPacket } = fault;
  const end = endOf(fault);
  if (rawPacket === undefined || end < 1 || rawPacket.lastIndexOf("\n", end - 1) !== -1) return false;
  return socket.bytesRead > rawPacket.byteLength || !http.METHODS.includes(lineAt(fault).split(" ", 1).join());
}

/** The end of a request line, with an optional CR. */
const version = / HTTP\/\d\.\d\r?$/;
/** The length of that end. */
const versionLength = 10;

/** A line that no white space ends: most fields have some, and no target has any. */
const targetOnly = /^[\x21-\x7e]*$/;

/**
 * Decides by the end of a line whether it is the request line, where its beginning is lost. The end may never arrive: after
 * a second, or `discardLimit` bytes, it counts as the request line if its part so far could be a target.
 */
function whenLineEnds(
  fault: ParserFault,
  socket: Socket,
  deadlines: Deadlines,
  act: (isRequestLine: boolean) => void,
): void {
  let last = "";
  let dropped = 0;
  let isTargetOnly = true;
  const decide = (isRequestLine: boolean): void => {
    deadline.clear();
    socket.off("data", readPart).off("end", giveUp).off("close", giveUp);
    // Node's parser must not see the bytes that follow.
    socket.on("data", ignore);
    act(isRequestLine);
  };
  const giveUp = guarded(socket, () => decide(isTargetOnly));
  const readPart = guarded(socket, (part: Buffer) => {
    dropped += part.byteLength;
    const end = part.indexOf("\n");
    const line = end === -1 ? part : part.subarray(0, end);
    last = (last + line.subarray(-versionLength).toString("latin1")).slice(-versionLength);
    isTargetOnly &&= targetOnly.test(line.toString("latin1"));
    if (end !== -1) decide(version.test(last));
    else if (dropped > discardLimit) decide(isTargetOnly);
  });
  const deadline = deadlines.time(lingerMs, { expire: giveUp });
  // Before Node's own listener, which would end this side too.
  socket.prependOnceListener("end", giveUp).once("close", giveUp);
  socket.removeAllListeners("data").on("data", readPart);
  isTargetOnly = targetOnly.test(lineAt(fault));
  readPart((fault.rawPacket as Buffer).subarray(endOf(fault)));
}

function ignore(): void {}
