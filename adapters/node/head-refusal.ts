import type { Socket } from "node:net";
import { httpDate } from "../../src/app/http-date.ts";
import type { BodyFailure } from "../../src/inputs/body-source.ts";
import { log } from "../../src/logging/writer.ts";
import { connectionOf, endedEarly } from "./connections.ts";
import { linger } from "./linger.ts";
import type { Sweep } from "../../src/app/sweep.ts";

type Status = readonly [status: number, phrase: string];

const malformed: Status = [400, "Bad Request"];
const statuses: { readonly [code: string]: Status } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

const bodyFaults: { readonly [code: string]: BodyFailure } = {
  HPE_INVALID_EOF_STATE: endedEarly,
  HPE_HEADER_OVERFLOW: { kind: "unreadable", detail: "a trailer past its limit" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { kind: "too_large", detail: "the body's chunk extensions are past their limit" },
};

/**
 * Answers what is no request, and closes: what comes behind it on the wire could be anything. Where it is the body of
 * a request that waits, that request's own answer says so; and an answer still being made is never overtaken.
 */
export function refuseHead(error: NodeJS.ErrnoException, socket: Socket, sweep: Sweep): void {
  const connection = connectionOf(socket);
  if (connection.closing) return;
  const code = error.code ?? "malformed";
  connection.fault ??= bodyFaults[code] ?? { kind: "unreadable", detail: `a malformed chunked body: ${code}` };
  if (!socket.writable || code === "ECONNRESET") socket.destroy();
  else if (connection.reading !== undefined) connection.reading.fail(connection.fault);
  else connection.whenIdle(() => refuse(statuses[code] ?? malformed, code, socket, sweep));
}

/** Refuses a framing that Node hands over as a request, whose body could not be told from what comes behind. */
export function refuseFraming(framing: "coded" | "unknown", socket: Socket, sweep: Sweep): void {
  const connection = connectionOf(socket);
  const detail = "a transfer coding that is not chunked";
  connection.fault = { kind: "unreadable", detail };
  const status: Status = framing === "coded" ? [501, "Not Implemented"] : malformed;
  connection.whenIdle(() => refuse(status, detail, socket, sweep));
}

function refuse([status, phrase]: Status, why: string, socket: Socket, sweep: Sweep): void {
  if (connectionOf(socket).closing) return;
  log({
    level: "info",
    source: "framework.http",
    message: `refused a request head: ${status} ${why}`,
    fields: {},
    context: undefined,
  });
  const head = [`HTTP/1.1 ${status} ${phrase}`, "content-length: 0", "connection: close"];
  // A server that failed may have no trustworthy clock (RFC 9110 §6.6.1).
  if (status < 500) head.push(`date: ${httpDate(Date.now())}`);
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  linger(socket, sweep);
}
