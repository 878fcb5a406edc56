/** The Worker that the tests of this folder send their requests to. */
import * as v from "valibot";
import {
  Answer,
  Codec,
  Cookie,
  Deadline,
  Dep,
  Event,
  Form,
  Log,
  Meta,
  Path,
  Query,
  Refusal,
  Returns,
  Socket,
  bodyStream,
  client,
  clientGone,
  get,
  json,
  peer,
  post,
  refuse,
  request,
  requestId,
  setCookie,
  after as later,
} from "usher-http";
import type { Route } from "usher-http";
import { worker } from "../../../adapters/workers/index.ts";

const spoken = Socket.protocol({ client: Socket.text, server: Socket.text });

/** What the tests bind. */
export interface Env {
  readonly WORD: string;
  readonly BEHIND_CLOUDFLARE?: boolean;
  /** How the making of the app is to fail. */
  readonly FAILS?: "raises" | "lacks";
}

const word = Dep.ofResource<string>("word");
const program = Log.source("program");
const text = (path: string) => [Path.of(path), { returns: Returns.text }] as const;
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let flooded = 0;
/** What a request waits for that holds neither a timer nor I/O of its own: another request. */
let open = (): void => {};
const another = (): Promise<void> => new Promise((resolve) => (open = resolve));

const answers: readonly Route[] = [
  get(Path.root, { inputs: { word }, returns: Returns.text }, ({ word }) => word),
  get(
    Path.of("deadline"),
    { returns: Returns.text, meta: Meta.empty.add(Meta.deadline, Deadline.make(50)) },
    () => new Promise(() => {}),
  ),
  get(Path.of("page"), { returns: Returns.html }, () => "<p>é"),
  // 128 MiB, as fast as it goes.
  get(Path.of("heavy"), { returns: Returns.websocket(spoken, { maxUnheard: 2 ** 30 }) }, () => async (socket) => {
    const message = "x".repeat(262_144);
    for (let i = 0; i < 2048; i++) await socket.send(message);
  }),
  // Without end, and as fast as it goes; and what it has sent so far.
  get(Path.of("floods"), { returns: Returns.websocket(spoken) }, () => async (socket) => {
    const message = "x".repeat(262_144);
    for (flooded = 0; (await socket.send(message)).ok;) flooded += message.length;
  }),
  get(...text("flooded"), () => `${flooded}`),
  get(Path.of("hears"), { returns: Returns.websocket(spoken) }, () => async (socket) => {
    await socket.receive();
  }),
  // Reads nothing of its client.
  get(Path.of("deaf"), { inputs: { gone: clientGone }, returns: Returns.websocket(spoken) }, ({ gone }) => {
    return () => new Promise((resolve) => gone.addEventListener("abort", () => resolve()));
  }),
  get(Path.of("startled"), { inputs: { gone: clientGone }, returns: Returns.websocket(spoken) }, ({ gone }) => {
    gone.addEventListener("abort", () => {
      throw new Error("startled");
    });
    return async (socket) => void (await socket.receive());
  }),
  get(Path.of("nothing"), { returns: Returns.empty() }, () => {}),
  get(Path.of("bytes"), { returns: Returns.response }, () =>
    Answer.make(bytes("raw"), { contentType: "a/b", headers: [["content-encoding", "gzip"]] }),
  ),
  get(Path.of("elsewhere"), { returns: Returns.response }, () => Answer.redirect("/")),
  get(
    Path.of("cookies", "read"),
    {
      inputs: {
        host: Cookie.optional(Cookie.named("__Host-session", Codec.string)),
        plain: Cookie.optional(Cookie.named("session", Codec.string)),
      },
      returns: Returns.text,
    },
    ({ host = "-", plain = "-" }) => `${host} ${plain}`,
  ),
  get(Path.of("cookies"), { inputs: { set: setCookie }, returns: Returns.text }, ({ set }) => {
    set(Cookie.make(Cookie.named("a", Codec.string), "1"));
    set(Cookie.make(Cookie.named("b", Codec.string), "2"));
    return "set";
  }),
  get(...text("raises"), () => {
    throw new Error("s3cret");
  }),
  get(Path.of("refuses"), { returns: Returns.text, refuses: [Refusal.notFound] }, () => refuse(Refusal.notFound)),
  get(Path.of("who"), { inputs: { peer, client }, returns: Returns.text }, ({ peer, client }) => `[${peer}|${client}]`),
  get(Path.of("target"), { inputs: { request }, returns: Returns.text }, ({ request }) => request.target),
];

const held = Dep.scoped(
  {},
  () => "held",
  async (_held, { how }) => {
    await after(50);
    program.info(`released: ${how}`);
  },
);

const contexts: readonly Route[] = [
  get(
    Path.of("id"),
    { inputs: { id: requestId, ms: Query.required("ms", Codec.int) }, returns: Returns.text },
    (asked) => loggedAfter(asked.id, asked.ms),
  ),
  get(...text("waits"), async () => {
    program.info("waits");
    await another();
    return "waited";
  }),
  get(Path.of("after"), { inputs: { after: later }, returns: Returns.text }, ({ after: later }) => {
    later(async () => {
      await after(50);
      program.info("worked after the answer");
    });
    return "after";
  }),
  get(Path.of("released"), { inputs: { held }, returns: Returns.text }, ({ held }) => held),
  get(...text("opens"), () => {
    open();
    return "opened";
  }),
];

async function loggedAfter(id: string, ms: number): Promise<string> {
  await after(ms);
  program.info("after a timer", { of: id });
  await crypto.subtle.digest("SHA-256", bytes(id));
  return `${id} ${Log.requestId()}`;
}

const Item = v.object({ name: v.string() });
const bodies: readonly Route[] = [
  post(Path.of("json"), { inputs: { item: json(Item) }, returns: Returns.json(Item) }, ({ item }) => item),
  post(
    Path.of("form"),
    { inputs: { name: Form.required("name", Codec.string), file: Form.File.optional("file") }, returns: Returns.text },
    ({ name, file }) => `${name} ${file?.content.byteLength ?? "-"}`,
  ),
  post(Path.of("upload"), { inputs: { body: bodyStream({ max: 1e9 }) }, returns: Returns.text }, async ({ body }) => {
    let length = 0;
    for await (const part of body) length += part.byteLength;
    return String(length);
  }),
];

/** Parts of the program's own; how they ended goes to the log, under the name they have. */
async function* parts(name: string, make: () => AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* make();
  } finally {
    program.info(`${name} ended`);
  }
}

const ticks = (name: string): AsyncIterable<Uint8Array> =>
  parts(name, async function* () {
    for (let i = 0; ; i++) {
      yield bytes(`${i};`);
      await after(20);
    }
  });
const texts = (name: string, ...list: readonly string[]): AsyncIterable<Uint8Array> =>
  parts(name, async function* () {
    for (const text of list) {
      if (text === "raise") throw new Error("s3cret");
      yield bytes(text);
    }
  });

/** The same parts as a stream of the platform. */
function platform(of: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = of[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  );
}

const kind = Query.default("as", Codec.enum("kind", ["parts", "platform"]), "parts");
const length = Query.optional("length", Codec.int);
function streamed(name: string, make: () => AsyncIterable<Uint8Array>): Route {
  const declared = { inputs: { kind, length }, returns: Returns.response };
  return get(Path.of(name), declared, ({ kind, length }) =>
    Answer.stream(kind === "platform" ? platform(make()) : make(), length === undefined ? {} : { length }),
  );
}

const tick = Event.text("tick");
const tidied = async (name: string): Promise<void> => {
  for (let i = 0; i < 10; i++) await after(10);
  program.info(`${name} tidied`);
};
async function* tidying(name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* ticks(name);
  } finally {
    await tidied(name);
  }
}

let made = 0;
const streams: readonly Route[] = [
  streamed("hello", () => texts("hello", "hel", "", "lo")),
  streamed("fails", () => texts("fails", "part", "raise")),
  streamed("ticks", () => ticks("ticks")),
  streamed("quiet", () =>
    parts("quiet", async function* () {
      yield bytes("a");
      await another();
      yield bytes("b");
    }),
  ),
  streamed("endless", () =>
    parts("endless", async function* () {
      for (made = 1; ; made++) yield new Uint8Array(65_536);
    }),
  ),
  get(
    Path.of("events"),
    { inputs: { gone: clientGone }, returns: Returns.events([], { keepAliveMs: 40 }) },
    ({ gone }) => {
      return () => new Promise((resolve) => gone.addEventListener("abort", () => resolve()));
    },
  ),
  // What each does once its client has gone takes time, in which nothing is sent.
  get(Path.of("tidies", "events"), { returns: Returns.events([tick]) }, () => async (send) => {
    while ((await send(Event.make(tick, "1;"))).ok) await after(10);
    await tidied("events");
  }),
  get(Path.of("tidies", "quiet"), { returns: Returns.events([tick], { keepAliveMs: 40 }) }, () => async (send) => {
    await send(Event.make(tick, "1;"));
    // Until a write has failed there is nothing that tells it: `clientGone` would abort here too, on a reset.
    while ((await send(Event.comment("1;"))).ok) await after(100);
    await tidied("quiet");
  }),
  get(Path.of("tidies", "parts"), { returns: Returns.response }, () => Answer.stream(tidying("parts"))),
  get(Path.of("tidies", "platform"), { returns: Returns.response }, () => Answer.stream(platform(tidying("platform")))),
  get(
    Path.of("relays"),
    { inputs: { from: Query.required("from", Codec.string) }, returns: Returns.response },
    async ({ from }) => Answer.stream((await fetch(from)).body as ReadableStream<Uint8Array>),
  ),
  streamed("still", () =>
    parts("still", async function* () {
      yield bytes("a");
      await new Promise(() => {});
    }),
  ),
  get(Path.of("throws"), { returns: Returns.response }, () =>
    Answer.stream({
      [Symbol.asyncIterator](): never {
        throw new Error("s3cret");
      },
    }),
  ),
  get(...text("made"), () => String(made)),
  get(Path.of("gone"), { inputs: { gone: clientGone }, returns: Returns.response }, ({ gone }) => {
    gone.addEventListener("abort", () => program.info("gone"));
    return Answer.stream(ticks("gone's ticks"));
  }),
];

// oxlint-disable-next-line import/no-default-export -- what a Worker's module exports
export default worker<Env>([...answers, ...contexts, ...bodies, ...streams], (env) => {
  if (env.FAILS === "raises") throw new Error("s3cret");
  return {
    resources: env.FAILS === "lacks" ? [] : [Dep.resource(word, env.WORD)],
    behindCloudflare: env.BEHIND_CLOUDFLARE === true,
    maxBody: 100_000,
    bodyBudget: 150_000,
  };
});
