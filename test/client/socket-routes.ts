/** Routes of WebSockets: of JSON, of text with a subprotocol, of bytes, and one that refuses. */
import * as v from "valibot";
import { Path, Refusal, Returns, Shape, Socket, get, param, refuse } from "usher-http";

const Line = v.object({ text: v.string(), at: v.optional(Shape.instant) });
const room = Path.str("room");
const lines = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const words = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["v2", "v1"] });
const bytes = Socket.protocol({ client: Socket.binary, server: Socket.binary });

export const socketRoutes = [
  get(Path.of("rooms", room), { inputs: { room: param(room) }, returns: Returns.websocket(lines) }, ({ room }) => {
    return async (socket) => {
      await socket.send({ text: room, at: new Date(Date.UTC(2026, 8, 30)) });
      for await (const { text } of socket) await socket.send({ text: text.toUpperCase() });
    };
  }),
  get(Path.of("words"), { returns: Returns.websocket(words) }, () => async (socket) => {
    for await (const word of socket) {
      await socket.send(word);
      if (word === "bye") return;
    }
  }),
  get(Path.of("bytes"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
    for await (const one of socket) await socket.send(one.toReversed());
  }),
  get(Path.of("refused"), { returns: Returns.websocket(lines), refuses: [Refusal.notFound] }, () =>
    refuse(Refusal.notFound),
  ),
] as const;

export type SocketRoutes = typeof socketRoutes;
