/** Run by each Node: a server of HTTP/2 without TLS, which reports what its handlers received. */
import {
  Answer,
  Event,
  Path,
  Returns,
  Socket,
  addHeader,
  body,
  clientGone,
  get,
  param,
  post,
  request,
} from "usher-http";
import { serve } from "../../../adapters/node/index.ts";
import type { ServeOptions } from "../../../adapters/node/index.ts";

const tell = (what: string): void => console.log(JSON.stringify({ what }));
const inText = { returns: Returns.text };
let release = (): void => {};
const mark = Path.str("mark");
const Tick = Event.text("tick");

const spoken = Socket.protocol({ client: Socket.text, server: Socket.text });

const routes = [
  get(Path.of("spoken"), { returns: Returns.websocket(spoken) }, () => async (socket) => void (await socket.receive())),
  get(Path.of("ok"), inText, () => "ok"),
  get(Path.of("closes"), { returns: Returns.response }, () => Answer.closeConnection(Answer.make("closes"))),
  get(Path.of("none"), { returns: Returns.response }, () => Answer.empty({ status: 204 })),
  get(Path.of("same"), { returns: Returns.response }, () => Answer.empty({ status: 304 })),
  get(Path.of("two"), { inputs: { addHeader }, ...inText }, ({ addHeader }) => {
    for (const link of ["</a>", "</b>"]) addHeader("link", link);
    return "two";
  }),
  get(Path.of("fields"), { inputs: { request }, ...inText }, ({ request }) => {
    return [...request.headers].flatMap(([name]) => (name === "host" ? [] : [name])).join();
  }),
  post(Path.of("size"), { inputs: { body }, ...inText }, ({ body }) => {
    tell(`size ${body.length}`);
    return `${body.length} bytes`;
  }),
  post(Path.of("ignored"), inText, () => "ignored"),
  get(Path.of("later"), { inputs: { clientGone }, ...inText }, async ({ clientGone }) => {
    clientGone.addEventListener("abort", () => tell("gone"));
    const released = new Promise<void>((resolve) => (release = resolve));
    tell("asked");
    await released;
    return "later";
  }),
  // Written without a pause: some chunk is always being sent.
  get(
    Path.of("ticks"),
    { inputs: { clientGone }, returns: Returns.events([Tick]) },
    ({ clientGone }) =>
      async (send) => {
        clientGone.addEventListener("abort", () => tell("gone"));
        while ((await send(Event.make(Tick, "x"))).ok);
      },
  ),
  post(Path.of("tell", mark), { inputs: { mark: param(mark) }, ...inText }, ({ mark }) => (tell(mark), "told")),
  post(Path.of("release"), inText, () => (release(), "released")),
];

/** HTTP/2 is on, unless the option is given; null leaves it to the default. */
const { http2 = true, ...options } = JSON.parse(process.argv[2] ?? "{}") as ServeOptions & { http2?: boolean | null };
const server = await serve(routes, {
  port: 0,
  host: "127.0.0.1",
  ...(http2 === null ? {} : { http2 }),
  ...options,
});
console.log(JSON.stringify({ port: server.port, url: server.url }));
