/** What the servers in other runtimes' processes answer. They tell what happens in them on standard output, a JSON line each. */
import * as v from "valibot";
import process from "node:process";
import { deadlineRoutes } from "./deadline-routes.ts";
import { feedRoutes } from "./feed-routes.ts";
import { releaseRoutes } from "./release-routes.ts";
import {
  Answer,
  Codec,
  Dep,
  Health,
  Path,
  Query,
  Returns,
  Socket,
  addHeader,
  body,
  bodyStream,
  client,
  clientGone,
  earlyHints,
  get,
  param,
  peer,
  post,
  route,
  setCookie,
} from "../../../src/index.ts";
import type { RequestRecord, Route } from "../../../src/index.ts";
import type { ServeOptions, Server } from "../../../src/server/options.ts";
import { serveOptions } from "./options.ts";
import type { SpawnOptions } from "./options.ts";

export type Serve = (routes: readonly Route[], options: ServeOptions) => Promise<Server>;

const text = new TextEncoder();

function tell(what: string): void {
  console.log(JSON.stringify({ what }));
}

// What a test lets go by a signal: a server that stops can be asked nothing more.
const opened = new Promise<void>((resolve) => {
  process.once("SIGUSR2", () => {
    resolve();
    tell("opened");
  });
});

/** Blocks the event loop turn after turn, until it is let go. */
async function blocking(): Promise<string> {
  let isOver = false;
  void opened.then(() => (isOver = true));
  while (!isOver) {
    const end = performance.now() + 100;
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return "blocked";
}

const watched = { inputs: { clientGone }, returns: Returns.response };
function watch(name: string, clientGone: AbortSignal): void {
  clientGone.addEventListener("abort", () => tell(`${name}: gone`));
}

async function* parts(name: string, make: () => AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* make();
  } finally {
    tell(`${name}: over`);
  }
}

async function* quiet(): AsyncGenerator<Uint8Array> {
  yield text.encode("before ");
  tell("quiet: first");
  await opened;
  yield text.encode("after");
}

async function* late(): AsyncGenerator<Uint8Array> {
  await opened;
  yield text.encode("late");
}

async function* endless(): AsyncGenerator<Uint8Array> {
  const part = new Uint8Array(65_536);
  for (let made = 1; ; made++) {
    yield part;
    if (made === 4) tell("endless: going on");
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

// More than any system keeps for a client, and then nothing for a while.
async function* heavy(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(20_000_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
}

// The same, and then nothing until it is let go.
async function* heavyThenQuiet(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(20_000_000);
  await opened;
}

async function* listed(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const one of texts) {
    if (one instanceof Error) throw one;
    yield text.encode(one);
  }
}

const mark = Path.str("mark");
const value = Query.required("value", Codec.string);
const inText = { returns: Returns.text };
const inResponse = { returns: Returns.response };

const lateness = Dep.ofRequest(async () => {
  tell("late-gone: asked");
  // Nothing else keeps a stopped server's process.
  const keeps = setInterval(() => {}, 1000);
  await opened;
  clearInterval(keeps);
});

/** How many handlers speak on a socket. */
let speaking = 0;
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const numbers = Socket.protocol({ client: Socket.text, server: Socket.json(v.number()) });
type Speaks = (socket: Socket<string, string>) => Promise<void>;
const counted =
  (speak: Speaks): Speaks =>
  async (socket) => {
    speaking++;
    await speak(socket).finally(() => speaking--);
  };
const echoing = counted(async (socket) => {
  for await (const text of socket) if (!(await socket.send(text)).ok) return;
});
const flooding = counted(async (socket) => {
  while ((await socket.send("x".repeat(65_536))).ok);
});

const sockets: readonly Route[] = [
  get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => echoing),
  get(Path.of("socket", "quiet"), { returns: Returns.websocket(texts, { keepAliveMs: 100 }) }, () => echoing),
  // Takes nothing of what its client says.
  get(
    Path.of("socket", "ignores"),
    { inputs: { clientGone }, returns: Returns.websocket(texts, { keepAliveMs: 100 }) },
    ({ clientGone }) =>
      counted(async () => {
        if (!clientGone.aborted) await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
      }),
  ),
  get(Path.of("socket", "floods"), { returns: Returns.websocket(texts) }, () => flooding),
  get(Path.of("socket", "later"), { returns: Returns.websocket(texts) }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return echoing;
  }),
  // Says more than any system keeps for a client, and is done.
  get(Path.of("socket", "large"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    await socket.send("x".repeat(16_777_216));
  }),
  // The same, without waiting until there is room: its close waits.
  get(Path.of("socket", "hasty"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    void socket.send("x".repeat(16_777_216));
  }),
  get(Path.of("speaking"), inText, () => String(speaking)),
];

declare const Bun: { gc(force: boolean): number } | undefined;
declare const gc: (() => void) | undefined;

/** The bytes in use after a garbage collection. */
async function memory(): Promise<string> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (typeof Bun === "undefined") gc?.();
    else Bun.gc(true);
  }
  const { heapUsed, external } = process.memoryUsage();
  return String(heapUsed + external);
}

const routes: readonly Route[] = [
  ...sockets,
  ...releaseRoutes(tell, opened),
  ...deadlineRoutes(tell),
  get(Path.of("hello"), inText, () => "hi"),
  get(Path.of("kilobyte"), inText, () => "x".repeat(1000)),
  // A line on each output, after all earlier output.
  post(Path.of("tell", mark), { inputs: { mark: param(mark) }, returns: Returns.text }, ({ mark }) => {
    tell(mark);
    return "told";
  }),
  get(Path.of("memory"), inText, memory),
  get(Path.of("later"), inText, async () => Promise.resolve("hi, later")),
  get(Path.of("hinted"), { inputs: { earlyHints }, ...inText }, ({ earlyHints }) => {
    earlyHints(["</a.css>; rel=preload"]);
    return "hinted";
  }),
  get(Path.of("peer"), { inputs: { peer, client }, returns: Returns.text }, ({ peer, client }) => `${peer} ${client}`),
  get(Path.of("throws"), inText, () => {
    throw new Error("a secret");
  }),
  get(Path.of("empty"), inResponse, () => Answer.empty({ status: 205 })),
  get(Path.of("large"), inText, () => "x".repeat(8_000_000)),
  get(Path.of("large-watched"), watched, ({ clientGone }) => {
    watch("large", clientGone);
    return Answer.make("x".repeat(20_000_000));
  }),
  get(Path.of("closes"), inResponse, () => Answer.closeConnection(Answer.make("bye"))),
  // Bodies.
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.length} bytes`),
  post(
    Path.of("parts"),
    { inputs: { body: bodyStream({ max: 10_000_000 }) }, returns: Returns.text },
    async ({ body }) => {
      let bytes = 0;
      for await (const part of body) {
        bytes += part.byteLength;
        tell(`parts: ${bytes}`);
      }
      return `${bytes} bytes`;
    },
  ),
  // Reads on only once it is let go.
  post(Path.of("slow-parts"), { inputs: { body: bodyStream({ max: 10_000_000 }) }, ...inText }, async ({ body }) => {
    let bytes = 0;
    for await (const part of body) {
      bytes += part.byteLength;
      tell(`slow-parts: ${bytes}`);
      // Nothing else keeps a stopped server's process.
      const keeps = setInterval(() => {}, 1000);
      await opened;
      clearInterval(keeps);
    }
    return `${bytes} bytes`;
  }),
  post(
    Path.of("first"),
    { inputs: { body: bodyStream({ max: 10_000_000 }) }, returns: Returns.text },
    async ({ body }) => {
      const first = await body.read();
      return first.ok ? "that is enough" : "there is none";
    },
  ),
  post(Path.of("unread"), inText, () => "not read"),
  post(Path.of("forgotten"), { inputs: { body: bodyStream({ max: 10_000_000 }) }, ...inText }, async ({ body }) => {
    await body.read();
    void opened.then(async () => {
      const read = await body.read();
      tell(`forgotten: ${read.ok ? "the end" : read.error.kind}`);
    });
    return "forgotten";
  }),
  // These are not awaited.
  post(Path.of("unawaited"), { inputs: { body: bodyStream({ max: 10_000_000 }) }, ...inText }, async ({ body }) => {
    void body[Symbol.asyncIterator]().next();
    void opened.then(() => void body[Symbol.asyncIterator]().next());
    return "unawaited";
  }),
  get(Path.of("unawaited-send"), { returns: Returns.websocket(numbers) }, () => async (socket) => {
    void socket.send("no number" as never);
    await socket.send(5);
  }),
  get(Path.of("blocking"), inText, blocking),
  // What a client waits for.
  get(Path.of("held"), watched, async ({ clientGone }) => {
    watch("held", clientGone);
    tell("held: asked");
    await opened;
    return Answer.make("held");
  }),
  get(Path.of("whole"), watched, ({ clientGone }) => {
    watch("whole", clientGone);
    return Answer.make("whole");
  }),
  get(Path.of("whole-later"), watched, async ({ clientGone }) => {
    watch("whole-later", clientGone);
    return Promise.resolve(Answer.make("whole"));
  }),
  get(Path.of("never"), watched, async ({ clientGone }) => {
    watch("never", clientGone);
    tell("never: asked");
    return new Promise<Answer>(() => {});
  }),
  get(Path.of("calls"), watched, async ({ clientGone }) => {
    tell("calls: asked");
    return new Promise<Answer>((_resolve, reject) => {
      clientGone.addEventListener("abort", () => reject(clientGone.reason as Error));
    });
  }),
  get(Path.of("quiet"), watched, ({ clientGone }) => {
    watch("quiet", clientGone);
    return Answer.stream(parts("quiet", quiet));
  }),
  get(Path.of("late-head"), inResponse, () => Answer.stream(late())),
  get(Path.of("events"), inResponse, () => Answer.stream(late(), { contentType: "text/event-stream" })),
  get(Path.of("late-stream"), inResponse, async () => {
    tell("late-stream: asked");
    await opened;
    const source = { pull: () => {}, cancel: () => tell("late-stream: cancelled") };
    return Answer.stream(new ReadableStream<Uint8Array>(source, { highWaterMark: 0 }));
  }),
  get(Path.of("endless"), watched, ({ clientGone }) => {
    watch("endless", clientGone);
    return Answer.stream(parts("endless", endless));
  }),
  get(Path.of("heavy"), inResponse, () => Answer.stream(parts("heavy", heavy))),
  get(Path.of("heavy", "quiet"), inResponse, () => Answer.stream(parts("heavy, quiet", heavyThenQuiet))),
  get(Path.of("exact"), watched, ({ clientGone }) => {
    watch("exact", clientGone);
    return Answer.stream(
      parts("exact", () => listed("hel", "", "lo")),
      { length: 5 },
    );
  }),
  get(Path.of("short"), inResponse, () =>
    Answer.stream(
      parts("short", () => listed("hel")),
      { length: 5 },
    ),
  ),
  get(Path.of("long"), inResponse, () =>
    Answer.stream(
      parts("long", () => listed("hello", "!")),
      { length: 5 },
    ),
  ),
  get(Path.of("crossing"), inResponse, () => Answer.stream(listed("hel", "lo!"), { length: 5 })),
  get(Path.of("raises"), inResponse, () => Answer.stream(listed("hel", new Error("a secret")))),
  // Every way to a header, each given what a request says.
  get(Path.of("in", "added"), { inputs: { value, addHeader }, returns: Returns.text }, ({ value, addHeader }) => {
    addHeader("x-value", value);
    return "added";
  }),
  get(Path.of("in", "name"), { inputs: { value, addHeader }, returns: Returns.text }, ({ value, addHeader }) => {
    addHeader(value, "x");
    return "added";
  }),
  get(Path.of("in", "answer"), { inputs: { value }, returns: Returns.response }, ({ value }) =>
    Answer.make("x", { headers: [["x-value", value]] }),
  ),
  get(Path.of("in", "type"), { inputs: { value }, returns: Returns.response }, ({ value }) =>
    Answer.make("x", { contentType: value }),
  ),
  get(Path.of("in", "location"), { inputs: { value }, returns: Returns.response }, ({ value }) =>
    Answer.redirect(value),
  ),
  get(Path.of("in", "cookie"), { inputs: { value, setCookie }, returns: Returns.text }, ({ value, setCookie }) => {
    setCookie({ name: "c", value, path: "/", httpOnly: true, sameSite: "lax" });
    return "set";
  }),
  get(Path.of("in", "stream"), { inputs: { value }, returns: Returns.response }, ({ value }) =>
    Answer.stream(listed("x"), { headers: [["x-value", value]], contentType: value }),
  ),
  route("OPTIONS", Path.of(Path.s("*")), inText, () => "a path"),
  // Asks for `clientGone` only once it is let go.
  get(
    Path.of("late-gone"),
    { inputs: { gone: Dep.bind(lateness, () => clientGone) }, returns: Returns.text },
    ({ gone }) => {
      tell(`late-gone: ${gone.aborted ? "gone" : "there"}`);
      return "late";
    },
  ),
  ...feedRoutes(tell, opened),
];

// What is no route says what it was asked for.
const notFound = ({ target, method, host }: RequestRecord): Answer =>
  Answer.make(JSON.stringify({ method, target, host }), { status: 404 });

/** Serves as the first argument says, tells where, and stops when it is asked to. */
export async function main(serve: Serve, options: SpawnOptions): Promise<void> {
  const running: Server[] = [];
  const stopAll = async (): Promise<void> => {
    for (const server of running) {
      const stopped = server.stop();
      const ready = await server.app.fetch(new Request("http://h/readyz"));
      tell(`ready while it stops: ${ready.status}`);
      tell(`stopped: ${await stopped}`);
    }
  };
  const stop = post(Path.of("stop"), inText, () => {
    // Once this answer is on its way.
    setTimeout(() => void stopAll(), 0);
    return "stopping";
  });
  const listen = post(Path.of("listen"), { inputs: { body }, returns: Returns.text }, async ({ body }) => {
    try {
      running.push(await serve([], serveOptions(JSON.parse(new TextDecoder().decode(body)) as SpawnOptions)));
      return "listening";
    } catch (error) {
      return String(error);
    }
  });
  const server = await serve([...routes, stop, listen, ...Health.routes([])], {
    notFound,
    port: 0,
    host: "127.0.0.1",
    ...serveOptions(options),
  });
  running.push(server);
  void server.stopped.then((cut) => tell(`ended: ${cut}`));
  console.log(JSON.stringify({ port: server.port, url: server.url }));
}
