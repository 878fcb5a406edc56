/** A connection that is kept is in the same state after each answer: nothing of a request stays on its socket. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import type { Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { Answer, Codec, Event, Header, Path, Returns, body, bodyStream, clientGone, get, post } from "usher-http";
import { serve } from "usher-http/node";
import { makeCertificate } from "../../support/certificates.ts";
import { keepsNothing, memory } from "../../support/memory.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import type { RawAnswer } from "../../support/raw-client.ts";

const part = new Uint8Array(64 * 1024);
async function* parts(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield part;
}
const platform = (count: number): ReadableStream<Uint8Array> => {
  let left = count;
  return new ReadableStream<Uint8Array>({
    pull: (to) => (left-- > 0 ? to.enqueue(part) : to.close()),
  });
};
const text = Event.text("text");
const upload = bodyStream({ max: 1_000_000 });

const routes = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  get(Path.of("parts"), { returns: Returns.response }, () => Answer.stream(parts(2))),
  get(Path.of("many"), { returns: Returns.response }, () => Answer.stream(parts(100))),
  get(Path.of("exact"), { returns: Returns.response }, () => Answer.stream(parts(2), { length: 2 * part.length })),
  get(Path.of("platform"), { returns: Returns.response }, () => Answer.stream(platform(2))),
  get(Path.of("events"), { returns: Returns.events([text]) }, () => async (send) => {
    await send(Event.make(text, "one"));
  }),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength}`),
  post(Path.of("reads"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
    let size = 0;
    for (;;) {
      const read = await upload.read();
      if (!read.ok) return "failed";
      if (read.value === undefined) return `${size}`;
      size += read.value.byteLength;
    }
  }),
  post(Path.of("unread"), { returns: Returns.text }, () => "unread"),
  get(Path.of("watches"), { inputs: { clientGone }, returns: Returns.text }, async () => "watches"),
];

/** The number of listeners on a server's socket. */
function listeners(socket: Socket): number {
  return socket.eventNames().reduce((count, event) => count + socket.listenerCount(event), 0);
}

it.each<readonly [what: string, ask: (client: RawClient) => Promise<RawAnswer>, size: number]>([
  ["an answer", (client) => client.ask("GET /ok").answer(), 2],
  ["an answer to HEAD", (client) => client.ask("HEAD /parts").answer({ toHead: true }), 0],
  ["an answer that is made later", (client) => client.ask("GET /later").answer(), 5],
  ["an answer whose handler looks at its client", (client) => client.ask("GET /watches").answer(), 7],
  ["a stream", (client) => client.ask("GET /parts").answer(), 131_072],
  ["a stream that waits for its client", (client) => client.ask("GET /many").answer(), 6_553_600],
  ["a stream of a length", (client) => client.ask("GET /exact").answer(), 131_072],
  ["a stream of the platform's", (client) => client.ask("GET /platform").answer(), 131_072],
  ["events", (client) => client.ask("GET /events").answer(), 23],
  ["a body that is read whole", (client) => client.ask("POST /size", [], "x".repeat(70_000)).answer(), 5],
  ["a body that is read in parts", (client) => client.ask("POST /reads", [], "x".repeat(70_000)).answer(), 5],
  ["a body that nobody reads", (client) => client.ask("POST /unread", [], "x".repeat(9000)).answer(), 6],
])("%s leaves no listener", async (_what, ask, size) => {
  const sockets: Socket[] = [];
  const taken = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  subscribe("net.server.socket", taken);
  onTestFinished(() => void unsubscribe("net.server.socket", taken));
  const { port } = await start(routes);
  const client = await RawClient.to(port);
  const counts: number[] = [];
  for (let i = 0; i < 6; i++) {
    const { status, body } = await ask(client);
    expect([status, body.length]).toEqual([200, size]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    counts.push(listeners(sockets[0] as Socket));
  }
  expect(sockets).toHaveLength(1);
  expect(counts.slice(1)).toEqual(counts.slice(1).map(() => counts[1]));
});

it("bodies that were dropped while their handlers ran leave no listener", async () => {
  const works = post(Path.of("works"), { returns: Returns.text }, async () => {
    // The body's end arrives before the answer.
    await new Promise((resolve) => setTimeout(resolve, 5));
    return "worked";
  });
  const client = await RawClient.to((await start([works])).port);
  await keepsNothing(async () => {
    for (let i = 0; i < 100; i++) client.ask("POST /works", [`x-a: ${"x".repeat(4000)}`], "body");
    for (let i = 0; i < 100; i++) expect((await client.answer()).body).toBe("worked");
  });
});

it("streams that have ended leave no listener", async () => {
  const client = await RawClient.to((await start(routes)).port);
  await keepsNothing(async () => {
    for (let i = 0; i < 100; i++) client.ask("GET /exact", [`x-a: ${"x".repeat(4000)}`]);
    for (let i = 0; i < 100; i++) expect((await client.answer()).body.length).toBe(131_072);
  });
});

it("connections of HTTP/2 that have closed leave nothing", async () => {
  const { url } = await start(routes, { http2: true });
  const asks = async (): Promise<void> => {
    const session = connect(url);
    const stream = session.request({ ":path": "/later" }).resume();
    await once(stream, "close");
    session.close();
    if (!session.destroyed) await once(session, "close");
  };
  await keepsNothing(async () => {
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 10 }, asks));
  });
});

it("connections whose client left during its TLS handshake leave nothing", async () => {
  const { cert, key } = makeCertificate({ name: "localhost" });
  const { port } = await start(routes, { tls: { cert, key } });
  const leaves = async (): Promise<void> => {
    const socket = connectTcp(port, "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    await once(socket.resume().end(), "close");
  };
  await keepsNothing(async () => {
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 10 }, leaves));
  });
});

it("a head may have as many header lines as fit into its size limit", async () => {
  const counts = get(
    Path.of("counts"),
    {
      inputs: { all: Header.optional("x-all", Codec.string), last: Header.optional("x-last", Codec.string) },
      returns: Returns.text,
    },
    ({ all, last }) => `${all} ${last}`,
  );
  const client = await RawClient.to((await start([counts], { maxHeaderBytes: 65_536 })).port);
  // Node itself drops the lines after the first 2000.
  const many = Array.from({ length: 3000 }, (_, i) => `a${i}: b`);
  const answered = await client.ask("GET /counts", ["x-all: first", ...many, "x-last: last"]).answer();
  expect([answered.status, answered.body]).toEqual([200, "first last"]);
});

it("a connection may be kept for the longest time that a timer has", async () => {
  const warned: string[] = [];
  const note = ({ name }: Error): void => void warned.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const { port } = await start(routes, { idleTimeoutMs: 2 ** 31 - 1 });
  const client = await RawClient.to(port);
  for (let i = 0; i < 2; i++) expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  await new Promise(setImmediate);
  expect(warned).toEqual([]);
});

it("a server that has stopped can be garbage-collected, with its app", async () => {
  const stopped = async (): Promise<WeakRef<object>> => {
    const server = await serve(routes, { port: 0, host: "127.0.0.1", drainMs: 0 });
    const client = await RawClient.to(server.port);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    client.leave();
    await server.stop();
    return new WeakRef(server.app);
  };
  const apps = [await stopped(), await stopped(), await stopped()];
  const left = () => apps.filter((app) => app.deref() !== undefined).length;
  // The engine may hold the last one that it ran.
  for (let i = 0; i < 5 && left() > 1; i++) await memory();
  expect(left()).toBeLessThan(2);
});
