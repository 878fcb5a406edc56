/**
 * The server that random clients of HTTP/2 meet: over TLS and without. A third server, of HTTP/1.1 alone, tells what its handlers began and
 * ended, and stops the first two and starts them again.
 */
import { readdirSync } from "node:fs";
import { Answer, Event, Log, Path, Returns, Socket, after, body, bodyStream, clientGone, get, post } from "usher-http";
import type { Route } from "usher-http";
import { serve } from "../../../adapters/node/index.ts";
import type { ServeOptions, Server } from "../../../adapters/node/index.ts";

/** What the handlers began and ended so far, and what the process holds. */
export interface Tally {
  readonly begun: number;
  readonly ended: number;
  /** Ends, and clients that left, of a request that had one already. */
  readonly twice: number;
  /** Streams of both directions and sockets. */
  readonly open: number;
  /** 0 where the system does not tell. */
  readonly descriptors: number;
}

/** The ports of a pair of servers. */
export interface Ports {
  readonly plain: number;
  readonly secure: number;
}

const tally = { begun: 0, ended: 0, twice: 0, open: 0 };
const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Its error lines are expected. */
class ExpectedError extends Error {}

type After = (task: () => void, options: { readonly always: boolean }) => void;

/** Counts the end of one request. */
function counts(after: After, gone?: AbortSignal): void {
  tally.begun++;
  let ends = 0;
  let leaves = 0;
  const end = (): void => {
    if (++ends > 1) tally.twice++;
    else tally.ended++;
  };
  after(end, { always: true });
  gone?.addEventListener("abort", () => {
    if (++leaves > 1) tally.twice++;
  });
}

async function* parts(count: number, length: number, ms: number): AsyncGenerator<Uint8Array> {
  tally.open++;
  try {
    for (let i = 0; i < count; i++) {
      if (ms > 0) await wait(ms);
      yield new Uint8Array(length);
    }
  } finally {
    tally.open--;
  }
}

async function* cut(): AsyncGenerator<Uint8Array> {
  yield* parts(2, 100, 0);
  throw new ExpectedError();
}

const inText = { inputs: { after }, returns: Returns.text };
const inResponse = { inputs: { after }, returns: Returns.response };
const Tick = Event.text("tick");
const lines = Socket.protocol({ client: Socket.text, server: Socket.text });
const stream = bodyStream({ max: 1_000_000 });
const large = "x".repeat(300_000);

const routes: readonly Route[] = [
  get(Path.of("ok"), inText, ({ after }) => {
    counts(after);
    return "ok";
  }),
  get(Path.of("none"), inResponse, ({ after }) => {
    counts(after);
    return Answer.empty({ status: 204 });
  }),
  get(Path.of("large"), inText, ({ after }) => {
    counts(after);
    return large;
  }),
  get(Path.of("later"), { inputs: { after, clientGone }, returns: Returns.text }, async ({ after, clientGone }) => {
    counts(after, clientGone);
    await wait(3);
    return "later";
  }),
  get(Path.of("waits"), { inputs: { after, clientGone }, returns: Returns.text }, async ({ after, clientGone }) => {
    counts(after, clientGone);
    await new Promise<void>((resolve) => {
      if (clientGone.aborted) resolve();
      clientGone.addEventListener("abort", () => resolve());
      // A stopping server waits for it.
      setTimeout(resolve, 100);
    });
    return large;
  }),
  get(Path.of("throws"), inText, async ({ after }): Promise<string> => {
    counts(after);
    await wait(0);
    throw new ExpectedError();
  }),
  get(Path.of("closes"), inResponse, ({ after }) => {
    counts(after);
    return Answer.closeConnection(Answer.make("closes"));
  }),
  get(Path.of("closes", "later"), inResponse, async ({ after }) => {
    counts(after);
    await wait(1);
    return Answer.closeConnection(Answer.make(large));
  }),
  get(Path.of("closes", "stream"), inResponse, ({ after }) => {
    counts(after);
    return Answer.closeConnection(Answer.stream(parts(5, 5000, 0)));
  }),
  get(Path.of("stream"), inResponse, ({ after }) => {
    counts(after);
    return Answer.stream(parts(20, 20_000, 0));
  }),
  get(Path.of("stream", "slow"), inResponse, ({ after }) => {
    counts(after);
    return Answer.stream(parts(10, 100, 2));
  }),
  get(Path.of("stream", "cut"), inResponse, ({ after }) => {
    counts(after);
    return Answer.stream(cut());
  }),
  get(Path.of("stream", "short"), inResponse, ({ after }) => {
    counts(after);
    return Answer.stream(parts(2, 10, 0), { length: 100 });
  }),
  get(
    Path.of("events"),
    { inputs: { after, clientGone }, returns: Returns.events([Tick]) },
    ({ after, clientGone }) =>
      async (send) => {
        counts(after, clientGone);
        tally.open++;
        while ((await send(Event.make(Tick, "x"))).ok) if (Math.random() < 0.1) await wait(1);
        tally.open--;
      },
  ),
  get(
    Path.of("socket"),
    { inputs: { after }, returns: Returns.websocket(lines, { keepAliveMs: 200 }) },
    ({ after }) =>
      async (socket) => {
        counts(after);
        tally.open++;
        for await (const text of socket) await socket.send(text);
        tally.open--;
      },
  ),
  post(Path.of("size"), { inputs: { after, body }, returns: Returns.text }, ({ after, body }) => {
    counts(after);
    return `${body.length}`;
  }),
  post(Path.of("upload"), { inputs: { after, stream }, returns: Returns.text }, async ({ after, stream }) => {
    counts(after);
    let bytes = 0;
    tally.open++;
    try {
      for await (const part of stream) bytes += part.byteLength;
    } finally {
      tally.open--;
    }
    return `${bytes}`;
  }),
  post(Path.of("upload", "slow"), { inputs: { after, stream }, returns: Returns.text }, async ({ after, stream }) => {
    counts(after);
    for await (const part of stream) await wait(part.byteLength > 0 ? 2 : 0);
    return "slow";
  }),
  post(Path.of("upload", "some"), { inputs: { after, stream }, returns: Returns.text }, async ({ after, stream }) => {
    counts(after);
    for await (const part of stream) if (part.byteLength > 0) break;
    return "some";
  }),
  post(Path.of("ignored"), inText, ({ after }) => {
    counts(after);
    return "ignored";
  }),
  post(Path.of("ignored", "later"), inText, async ({ after }) => {
    counts(after);
    await wait(2);
    return large;
  }),
];

Log.setup({ level: "error" });

const limits: ServeOptions = {
  port: 0,
  host: "127.0.0.1",
  http2: true,
  signals: false,
  idleTimeoutMs: 300,
  headTimeoutMs: 1000,
  bodyTimeoutMs: 300,
  sendTimeoutMs: 300,
  drainMs: 50,
};

const { cert, key } = JSON.parse(process.argv[2] ?? "{}") as { readonly cert: string; readonly key: string };
let servers: readonly Server[] = [];

/** Stops the servers while their clients are in the middle of something, and starts them again. */
async function restart(): Promise<Ports> {
  const before = servers;
  const [plain, secure] = await Promise.all([serve(routes, limits), serve(routes, { ...limits, tls: { cert, key } })]);
  servers = [plain, secure];
  for (const server of before) await server.stop();
  return { plain: plain.port, secure: secure.port };
}

function tallied(): Tally {
  const descriptors = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  return { ...tally, descriptors };
}

/** The bytes that are used after a collection. */
function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const control = await serve(
  [
    get(Path.of("tally"), { returns: Returns.text }, () => JSON.stringify(tallied())),
    get(Path.of("heap"), { returns: Returns.text }, () => String(heap())),
    post(Path.of("restart"), { returns: Returns.text }, async () => JSON.stringify(await restart())),
  ],
  { port: 0, host: "127.0.0.1", signals: false },
);
console.log(JSON.stringify({ port: control.port, url: control.url }));
