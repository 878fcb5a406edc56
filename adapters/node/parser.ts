import type { Socket } from "node:net";
import { guarded } from "../../src/doors/logging.ts";

/*
 * Deno's `node:http` (2.9.6) frees the parser of a connection before it emits `clientError`, and gives it to the next
 * connection. The listeners of the first connection still call it: what its client sends then is read as the other client's.
 * Node frees a parser when its connection closes.
 */

type ConnectionReader = (socket: Socket) => void;
type ParserCall = (...values: unknown[]) => void;

/** The events whose listeners call the parser. */
const parserEvents = ["data", "end"] as const;
/** Removes these listeners. */
const detachments = new WeakMap<Socket, () => void>();

/** The same reader, whose connections can leave their parser. */
export function detachable(read: ConnectionReader): ConnectionReader {
  return (socket) => {
    const before = new Set(parserEvents.flatMap((event) => socket.listeners(event)));
    read(socket);
    const added = parserEvents.map((event) => socket.listeners(event).filter((listener) => !before.has(listener)));
    detachments.set(socket, () => {
      for (const [i, event] of parserEvents.entries())
        for (const listener of added[i] ?? []) socket.off(event, listener as ParserCall);
    });
  };
}

/** Keeps the bytes of a connection from a parser that is not its own any more: they are dropped. */
export function leaveParser(socket: Socket): void {
  detachments.get(socket)?.();
}

/**
 * Begins to read a connection when its first byte is there. With a parser from the start, Deno would report that no head
 * arrived in time, and free the parser, for a client that has only connected.
 */
export function readFromFirstByte(socket: Socket, read: ConnectionReader): void {
  const expire = (): unknown => socket.destroy();
  const begin = guarded(socket, (part: Buffer) => {
    socket.off("data", begin).off("timeout", expire).off("end", expire);
    read(socket);
    // The parser takes what follows from the system, so bytes that are put back could come after it.
    socket.emit("data", part);
  });
  socket.on("data", begin).on("timeout", expire).on("end", expire);
}
