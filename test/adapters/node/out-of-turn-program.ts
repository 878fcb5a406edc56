/**
 * Run by each Node: serves an app that opens sockets and builds responses, or one that does neither. Node hands over the
 * connection of an `Upgrade` to the first only, and the connection of a `CONNECT` to both.
 */
import { Answer, Event, Log, Path, Returns, Socket, body, clientGone, get, param, post } from "usher-http";
import type { Route } from "usher-http";
import { serve } from "../../../adapters/node/index.ts";
import type { ServeOptions } from "../../../adapters/node/index.ts";

Log.setup({ format: "json" });

/** The gates that handlers wait for, by a key: `POST /open/{key}` opens one. */
const gates = new Map<string, { readonly passed: Promise<void>; readonly open: () => void }>();
function gate(key: string): { readonly passed: Promise<void>; readonly open: () => void } {
  let made = gates.get(key);
  if (made === undefined) {
    let open: () => void = () => {};
    const passed = new Promise<void>((resolve) => (open = resolve));
    gates.set(key, (made = { passed, open }));
  }
  return made;
}

// A server that stops gets no further request.
process.once("SIGUSR2", () => {
  for (const { open } of gates.values()) open();
  tell("opened");
});

function tell(what: string): void {
  console.log(JSON.stringify({ what }));
}

const key = Path.str("key");
const keyed = { inputs: { key: param(key) }, returns: Returns.text };
const bytes = new TextEncoder();

async function* waiting(key: string): AsyncGenerator<Uint8Array> {
  yield bytes.encode("before ");
  await gate(key).passed;
  yield bytes.encode("after");
}

/** 6 MiB: Linux buffers 4 MiB of what is sent to a client that does not read. */
async function* large(): AsyncGenerator<Uint8Array> {
  const part = new Uint8Array(65_536).fill(0x78);
  for (let i = 0; i < 96; i++) yield part;
}

const said = Event.text("said");
const texts: readonly Route[] = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  post(Path.of("ignores"), { returns: Returns.text }, () => "ignored"),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength} bytes`),
  get(Path.of("held", key), keyed, async ({ key }) => {
    tell(`${key} held`);
    await gate(key).passed;
    return "held";
  }),
  get(Path.of("gone", key), { inputs: { key: param(key), clientGone }, returns: Returns.text }, async (inputs) => {
    const { key, clientGone } = inputs;
    await Promise.race([gate(key).passed, new Promise((resolve) => clientGone.addEventListener("abort", resolve))]);
    tell(`${key} ${clientGone.aborted ? "gone" : "there"}`);
    return "told";
  }),
  get(Path.of("events", key), { inputs: { key: param(key) }, returns: Returns.events([said]) }, ({ key }) => {
    return async (send) => {
      await send(Event.make(said, "before"));
      await gate(key).passed;
      await send(Event.make(said, "after"));
    };
  }),
  post(Path.of("tell", key), keyed, ({ key }) => (tell(key), "told")),
  post(Path.of("open", key), keyed, ({ key }) => (gate(key).open(), "opened")),
];

const frames = { client: Socket.text, server: Socket.text };
const protocol = Socket.protocol(frames);
const named = Socket.protocol({ ...frames, subprotocol: "chat" });
const echo = () => async (socket: Socket<string, string>) => {
  for await (const text of socket) if (!(await socket.send(text)).ok) return;
};
const opening: readonly Route[] = [
  get(Path.of("stream", key), { inputs: { key: param(key) }, returns: Returns.response }, ({ key }) =>
    Answer.stream(waiting(key)),
  ),
  get(Path.of("large"), { returns: Returns.response }, () => Answer.stream(large())),
  get(Path.of("socket"), { returns: Returns.websocket(protocol) }, echo),
  get(Path.of("named"), { returns: Returns.websocket(named) }, echo),
  get(Path.of("taken"), { returns: Returns.response }, () =>
    Answer.takeover("echo", ({ readable, writable }) => readable.pipeTo(writable)),
  ),
];

interface Options extends ServeOptions {
  readonly app: "plain" | "opening";
}

const { app, ...options } = JSON.parse(process.argv[2] ?? "{}") as Options;
const routes = app === "plain" ? texts : [...texts, ...opening];
const server = await serve(routes, { port: 0, host: "127.0.0.1", ...options });
console.log(JSON.stringify({ port: server.port, url: server.url }));
