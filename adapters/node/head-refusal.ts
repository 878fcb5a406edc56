import type { Socket } from "node:net";
import { httpDate } from "../../src/app/http-date.ts";
import { log } from "../../src/logging/writer.ts";
import { connectionOf } from "./connections.ts";

const statuses: { readonly [code: string]: readonly [status: number, phrase: string] } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

/**
 * Answers what is no request, and closes: what comes behind it on the wire could be anything. Where it is the body of
 * a request that waits, that request's own answer says so; and an answer still being made is never overtaken.
 */
export function refuseHead(error: NodeJS.ErrnoException, socket: Socket): void {
  const connection = connectionOf(socket);
  connection.broken = true;
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
  } else if (connection.cut !== undefined) {
    connection.cut();
  } else if (connection.isIdle) {
    refuse(error, socket);
  } else {
    connection.answering?.once("finish", () => refuse(error, socket));
  }
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  const [status, phrase] = statuses[error.code ?? ""] ?? [400, "Bad Request"];
  log({
    level: "info",
    source: "framework.http",
    message: `refused a request head: ${status} ${error.code ?? "malformed"}`,
    fields: {},
    context: undefined,
  });
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    "content-length: 0",
    "connection: close",
    `date: ${httpDate(Date.now())}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n`, () => socket.destroy());
}
