/** Run in another runtime: a server in which one method raises, once, when a request asks for it. No input is known to do so. */
import { OpenSockets } from "../../../src/server/lifecycle.ts";
import type { ServeOptions, Server } from "../../../src/server/options.ts";
import { Answer, Codec, Path, Query, Returns, Socket, clientGone, get, param, post } from "../../../src/index.ts";
import type { Route } from "../../../src/index.ts";
import { OpenSocket } from "../../../src/sockets/open-socket.ts";

/** An object and the name of one of its methods. */
export type Place = readonly [of: object, method: string];

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const mark = Path.str("mark");
const inText = { returns: Returns.text };
const raise = (): never => {
  throw new TypeError("a secret");
};
const reject = (): Promise<never> => Promise.reject(new TypeError("a secret"));

function breakOnce([of, method]: Place, how: string): void {
  const own = Object.getOwnPropertyDescriptor(of, method);
  const once = (): unknown => {
    if (own === undefined) Reflect.deleteProperty(of, method);
    else Object.defineProperty(of, method, own);
    return how === "raises" ? raise() : reject();
  };
  Object.defineProperty(of, method, { value: once, configurable: true });
}

async function* ticks(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield new TextEncoder().encode(": tick\n\n");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const routes: readonly Route[] = [
  get(Path.of("ok"), inText, () => "ok"),
  get(Path.of("later"), inText, async () => "later"),
  post(Path.of("tell", mark), { inputs: { mark: param(mark) }, returns: Returns.text }, ({ mark }) => {
    console.log(JSON.stringify({ what: mark }));
    return "told";
  }),
  get(Path.of("ticks"), { returns: Returns.response }, () =>
    Answer.stream(ticks(), { contentType: "text/event-stream" }),
  ),
  get(Path.of("never"), { inputs: { clientGone }, returns: Returns.response }, async ({ clientGone }) => {
    console.log(JSON.stringify({ what: `never: ${clientGone.aborted}` }));
    return new Promise<Answer>(() => {});
  }),
  get(Path.of("socket"), { returns: Returns.websocket(texts, { keepAliveMs: 60_000 }) }, () => async (socket) => {
    for await (const text of socket) await socket.send(text);
  }),
];

/** Serves, with failing places of the listener in addition to those of the core. */
export async function raising(
  serve: (routes: readonly Route[], options: ServeOptions) => Promise<Server>,
  options: ServeOptions,
  own: { readonly [place: string]: Place },
): Promise<void> {
  const places: { readonly [place: string]: () => Place } = {
    "the app's answer": () => [server.app, "answer"],
    "a socket's opening": () => [OpenSockets.prototype, "track"],
    "a socket's message": () => [OpenSocket.prototype, "message"],
    "a socket's ping": () => [OpenSocket.prototype, "frame"],
    "a socket's close": () => [OpenSocket.prototype, "closed"],
    "a socket's loss": () => [OpenSocket.prototype, "lost"],
    "a departure": () => [AbortController.prototype, "abort"],
    "the stop of sockets": () => [OpenSockets.prototype, "stop"],
    ...Object.fromEntries(Object.entries(own).map(([name, place]) => [name, () => place])),
  };
  const asked = { place: Query.required("place", Codec.string), how: Query.default("how", Codec.string, "raises") };
  const breaks = post(Path.of("break"), { inputs: asked, returns: Returns.text }, ({ place, how }) => {
    const found = places[place]?.();
    if (found === undefined) return "there is no such place";
    // Once this answer is on its way.
    setTimeout(() => {
      breakOnce(found, how);
      console.log(JSON.stringify({ what: `broken: ${place}` }));
    }, 20);
    return "soon";
  });
  const server = await serve([...routes, breaks], { port: 0, host: "127.0.0.1", drainMs: 600_000, ...options });
  console.log(JSON.stringify({ port: server.port, url: server.url }));
}
