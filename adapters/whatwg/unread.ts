import type { Socket } from "node:net";
import { guarded } from "../../src/logging/last-net.ts";
import type { NodeExchange } from "./exchange.ts";

/** Bytes of what nobody reads that are taken off the wire: of itself, `node:http` takes any number. */
const discardLimit = 65_536;
/** How long a client may take to send them. */
const lingerMs = 1000;

/**
 * Whether an answer is to end its connection, for more of its request's body is left than is waited for. In chunks, only
 * their end tells how much there is: what is left is dropped first, so that the head can say what is true.
 */
export function endsUnread({ body, node: { req } }: NodeExchange): boolean | Promise<boolean> {
  if (body === undefined || req.complete || req.httpVersionMajor !== 1) return false;
  const { length } = body;
  if (length !== undefined) return length - body.received - req.readableLength > discardLimit;
  return dropped(body).then((isWhole) => !isWhole);
}

/** Whether the end of a body came, within the bytes and the time there are for it. */
async function dropped(body: NonNullable<NodeExchange["body"]>): Promise<boolean> {
  const most = body.received + discardLimit;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, lingerMs, "late" as const)));
  let part = await Promise.race([body.read(), late]);
  while (part instanceof Uint8Array && body.received <= most) part = await Promise.race([body.read(), late]);
  clearTimeout(timer);
  return part === undefined;
}

/**
 * Has a connection end in two steps behind its last answer (RFC 9112 §9.6): a close with bytes unread would reset it, and
 * the client could lose the answer.
 */
export function lingerAtEnd(socket: Socket): void {
  const destroySoon = guarded(socket, () => {
    let left = discardLimit;
    const close = guarded(socket, () => {
      clearTimeout(timer);
      socket.destroy();
    });
    const timer = setTimeout(close, lingerMs).unref();
    socket.end();
    // Node's parser is to see none of it: it would find requests there.
    const drop = guarded(socket, (part: Buffer) => {
      left -= part.byteLength;
      if (left < 0) close();
    });
    socket.removeAllListeners("data").on("data", drop);
    socket.once("end", close).once("close", close).resume();
  });
  socket.destroySoon = destroySoon;
}
