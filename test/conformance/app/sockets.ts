/** The handlers of WebSockets, and their records of how a socket ended (rows WS). */
import * as v from "valibot";
import { Codec, Cookie, Path, Refusal, Returns, Socket, clientGone, get, param, refuse, setCookie } from "usher-http";
import type { Route, SocketEnd } from "usher-http";
import { note, passed } from "./state.ts";

const Line = v.object({ text: v.string() });
const lines = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const bytes = Socket.protocol({ client: Socket.binary, server: Socket.binary });
const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: "chat" });

const several = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["v3", "v2", "v1"] });
const orNone = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["v2", "v1", undefined] });

const key = Path.str("key");
const keyed = { key: param(key) };
const forbidden = Refusal.code("forbidden", { status: 403, doc: "It is not yours." });
const seen = Cookie.named("seen", Codec.int);
const never = { keepAliveMs: 2 ** 31 - 1 };

type Texts = Socket<string, string>;

/** The end of a socket as a case waits for it. Each runtime has its own reason for a lost one. */
function told(end: SocketEnd): string {
  return end.kind === "closed" ? `closed ${end.code} ${end.reason}` : end.kind;
}

/** Sends each message back, and records the end. */
async function echo(socket: Texts, key: string): Promise<void> {
  note(`${key} opened`, "yes");
  for (;;) {
    const received = await socket.receive();
    if (!received.ok) return note(`${key} ended`, told(received.error));
    await socket.send(received.value);
  }
}

function echoes(name: string, returns: ReturnType<typeof Returns.websocket<string, string>>): Route {
  return get(
    Path.of("socket", name, key),
    { inputs: keyed, returns },
    ({ key }) =>
      (socket) =>
        echo(socket, key),
  );
}

/** More bytes than any connection buffers for a client that does not read. */
const manyParts = 500;

async function flood(socket: Texts, key: string): Promise<void> {
  for (let i = 0; i < manyParts; i++) {
    const sent = await socket.send("x".repeat(65_536));
    if (!sent.ok) return note(`${key} ended`, told(sent.error));
  }
  note(`${key} ended`, "never waited");
}

export const sockets: readonly Route[] = [
  get(Path.of("socket", "lines"), { returns: Returns.websocket(lines) }, () => async (socket) => {
    for await (const line of socket) await socket.send(line);
  }),
  get(Path.of("socket", "bytes"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
    for await (const part of socket) await socket.send(part);
  }),
  echoes("named", Returns.websocket(chat, never)),
  echoes("texts", Returns.websocket(texts, never)),
  echoes("deflated", Returns.websocket(texts, { ...never, compression: true })),
  get(Path.of("socket", "several"), { returns: Returns.websocket(several) }, () => async (socket) => {
    await socket.send(`speaks ${socket.subprotocol}`);
    await socket.receive();
  }),
  get(Path.of("socket", "or-none"), { returns: Returns.websocket(orNone) }, () => async (socket) => {
    await socket.send(`speaks ${socket.subprotocol}`);
    await socket.receive();
  }),
  // Longer than the other's, so that one shared limit would be noticed.
  echoes("small", Returns.websocket(texts, { maxMessage: 10 })),
  // A client that answers needs enough time: on a busy machine, a second is not long.
  echoes("quiet", Returns.websocket(texts, { keepAliveMs: 2500 })),
  echoes("silent", Returns.websocket(texts, { keepAliveMs: 100 })),
  get(
    Path.of("socket", "later", key),
    { inputs: { ...keyed, setCookie }, returns: Returns.websocket(texts) },
    async ({ key, setCookie }) => {
      setCookie(Cookie.make(seen, 1));
      note(`${key} asked`, "yes");
      await passed(key);
      return (socket) => echo(socket, key);
    },
  ),
  get(Path.of("socket", "refuses"), { returns: Returns.websocket(texts), refuses: [forbidden] }, () =>
    refuse(forbidden, "Not today."),
  ),
  get(Path.of("socket", "raises"), { returns: Returns.websocket(texts) }, () => async () => {
    throw new Error("a secret");
  }),
  get(Path.of("socket", "returns"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    await socket.send("bye");
  }),
  get(Path.of("socket", "closes", key), { inputs: keyed, returns: Returns.websocket(texts) }, ({ key }) => {
    return async (socket) => {
      await socket.close({ code: 4001, reason: "enough" });
      const sent = await socket.send("late");
      note(`${key} ended`, sent.ok ? "sent" : told(sent.error));
    };
  }),
  get(
    Path.of("socket", "floods", key),
    { inputs: keyed, returns: Returns.websocket(texts) },
    ({ key }) =>
      (socket) =>
        flood(socket, key),
  ),
  // Reads no message of its client, and waits until the client has gone.
  get(
    Path.of("socket", "waits", key),
    { inputs: { ...keyed, clientGone }, returns: Returns.websocket(texts, { keepAliveMs: 50 }) },
    ({ key, clientGone }) =>
      async () => {
        note(`${key} opened`, "yes");
        await passed(`${key} never`, clientGone);
        note(`${key} ended`, "gone");
      },
  ),
  // As fast as its client reads, without waiting for anything else.
  get(Path.of("socket", "endless", key), { inputs: keyed, returns: Returns.websocket(texts) }, ({ key }) => {
    return async (socket) => {
      for (;;) {
        const sent = await socket.send("more");
        if (!sent.ok) return note(`${key} ended`, sent.error.kind);
      }
    };
  }),
  // Reads a message when the case allows it, and not before.
  get(Path.of("socket", "held", key), { inputs: keyed, returns: Returns.websocket(texts, never) }, ({ key }) => {
    return async (socket) => {
      note(`${key} opened`, "yes");
      await passed(key);
      await echo(socket, `${key} then`);
    };
  }),
  // Is not notified of any end.
  get(Path.of("socket", "deaf", key), { inputs: keyed, returns: Returns.websocket(texts) }, ({ key }) => {
    note(`${key} opened`, "yes");
    return () => new Promise(() => {});
  }),
];
