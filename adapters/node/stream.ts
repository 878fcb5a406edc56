import type { IncomingMessage, ServerResponse } from "node:http";
import type { StreamBody } from "../../src/answers/answer.ts";
import { readParts } from "../../src/answers/parts.ts";
import type { Parts } from "../../src/answers/parts.ts";
import { log } from "../../src/logging/writer.ts";
import { hangUp, sendWithin } from "./sending.ts";

/** How the writing of a stream ended. Only a whole one leaves a connection another answer can follow on. */
type Ended = "whole" | "gone" | "short" | "long" | "raised";

const said: { readonly [E in Ended]?: string } = {
  short: "sent less than the length it was given, so its connection is closed",
  long: "sent more than the length it was given, so its connection is closed",
  raised: "failed, so its connection is closed",
};

/** Writes a body as it is made, never further ahead of the client than a part. */
export async function stream(
  { socket, url }: IncomingMessage,
  response: ServerResponse,
  body: StreamBody,
  sendTimeoutMs: number,
): Promise<void> {
  response.flushHeaders();
  const parts = readParts(body);
  // The connection's end and not the answer's: Node 20 tells that to the one answer whose turn it is.
  socket.once("close", parts.cancel);
  const ended = await writeParts(response, parts, body.length, sendTimeoutMs).catch(
    // Whoever is told that nobody reads any further may well raise.
    (): Ended => (socket.destroyed ? "gone" : "raised"),
  );
  socket.off("close", parts.cancel);
  if (ended === "whole") {
    sendWithin(response, sendTimeoutMs);
    response.end();
    return;
  }
  parts.cancel();
  if (ended !== "gone") hangUp(response, sendTimeoutMs);
  const message = said[ended];
  if (message === undefined) return;
  const path = url?.split("?")[0];
  const fields = { "url.path": path };
  log({
    level: "error",
    source: "framework.http",
    message: `stream on ${path} ${message}`,
    fields,
    context: undefined,
  });
}

async function writeParts(
  response: ServerResponse,
  parts: Parts,
  length: number | undefined,
  sendTimeoutMs: number,
): Promise<Ended> {
  const { socket } = response.req;
  let left = length ?? Number.POSITIVE_INFINITY;
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    if (socket.destroyed) return "gone";
    const written = response.write(part.subarray(0, left));
    if (part.byteLength > left) return "long";
    left -= part.byteLength;
    if (!written && !(await drained(response, sendTimeoutMs))) return "gone";
  }
  if (socket.destroyed) return "gone";
  return length !== undefined && left > 0 ? "short" : "whole";
}

/** Waits until the client took what was written; false where it went, or takes nothing. */
function drained(response: ServerResponse, sendTimeoutMs: number): Promise<boolean> {
  const { socket } = response.req;
  if (socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (ok: boolean): void => {
      response.off("drain", onDrain);
      socket.off("close", onClose);
      resolve(ok);
    };
    const onDrain = (): void => settle(true);
    const onClose = (): void => settle(false);
    sendWithin(response, sendTimeoutMs);
    response.once("drain", onDrain);
    socket.once("close", onClose);
  });
}
