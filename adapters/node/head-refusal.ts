import type { Duplex } from "node:stream";
import { httpDate } from "../../src/app/http-date.ts";
import { log } from "../../src/logging/writer.ts";

const statuses: { readonly [code: string]: readonly [status: number, phrase: string] } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

/** Answers a head that is no request, and closes: what comes behind it on the wire could be anything. */
export function refuseHead(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
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
