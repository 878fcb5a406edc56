/** HTTP/2 clients that open no window: each held 1 MiB for each of its streams. */
import { once } from "node:events";
import { connect, constants } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { expect, it, onTestFinished } from "vitest";
import { Answer, Path, Returns, Socket, body, get, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { gate, start } from "../../support/node-server.ts";
import { eventually } from "../../support/eventually.ts";

const length = 1024 * 1024;
const whole = get(Path.of("whole"), { returns: Returns.text }, () => "x".repeat(length));
const stream = get(Path.of("stream"), { returns: Returns.response }, () => {
  async function* parts() {
    for (let i = 0; i < 4; i++) yield Buffer.alloc(length / 4);
  }
  return Answer.stream(parts());
});

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.length}`);

function session(port: number, initialWindowSize: number): ClientHttp2Session {
  const client = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
  client.on("error", () => {}).setMaxListeners(0);
  onTestFinished(() => client.destroy());
  return client;
}

/** The bytes that a stream got, and whether it was reset. */
function asks(client: ClientHttp2Session, path: string) {
  const asked = client.request({ ":path": path });
  const got = { bytes: 0, isReset: false };
  asked.on("data", (part: Buffer) => (got.bytes += part.byteLength));
  asked.on("error", () => (got.isReset = true));
  const ended = new Promise<typeof got>((resolve) => asked.once("close", () => resolve(got)));
  return { got, ended };
}

it.each(["/whole", "/stream"])("are reset past sendBudget, and a client that reads gets all of %s", async (path) => {
  const sendBudget = 4 * length;
  const { port } = await start([whole, stream], { http2: true, sendBudget, sendShare: sendBudget });
  const mute = Array.from({ length: 60 }, () => asks(session(port, 0), path));
  await eventually(() => expect(messages("warn").join()).toMatch(/clients disconnected past sendBudget/));
  // What waits stays within the budget: of a whole response all, of a stream the part.
  const most = path === "/whole" ? 4 : 16;
  await eventually(() => expect(mute.filter(({ got }) => !got.isReset).length).toBeLessThanOrEqual(most));
  const reader = session(port, 1_000_000);
  for (let i = 0; i < 3; i++) expect(await asks(reader, path).ended).toEqual({ bytes: length, isReset: false });
});

/** Streams of one connection past its share, which is a quarter of `sendShare`. */
const shares = { http2: true, sendBudget: 64 * length, sendShare: 16 * length };

it("are not begun past the share of their connection, and all are answered once their client reads", async () => {
  let made = 0;
  const counted = get(Path.of("counted"), { returns: Returns.text }, () => `${made++} ${"x".repeat(length)}`);
  const { port } = await start([counted, whole], shares);
  const client = session(port, 0);
  const asked = Array.from({ length: 30 }, () => asks(client, "/counted"));
  await eventually(() => expect(made).toBe(4));
  // One that its client gives up is not begun.
  const given = client.request({ ":path": "/counted" });
  given.on("error", () => {});
  await new Promise((resolve) => setImmediate(resolve));
  given.close();
  // Another connection of the same client has its own share.
  expect(await asks(session(port, 1_000_000), "/whole").ended).toEqual({ bytes: length, isReset: false });
  expect(made).toBe(4);
  client.settings({ initialWindowSize: 2_000_000 });
  const got = await Promise.all(asked.map(({ ended }) => ended));
  expect(got.filter(({ bytes, isReset }) => !isReset && bytes >= length).length).toBe(30);
  expect(made).toBe(30);
});

it("that were held back count as unsent no more, once their client has taken them", async () => {
  let made = 0;
  const counted = get(Path.of("counted"), { returns: Returns.text }, () => `${made++} ${"x".repeat(length)}`);
  const begun = gate();
  const never = get(Path.of("never"), { returns: Returns.text }, () => {
    begun.open();
    return new Promise<string>(() => {});
  });
  const server = await start([counted, never], { ...shares, drainMs: 1 });
  const client = session(server.port, 0);
  const asked = Array.from({ length: 10 }, () => asks(client, "/counted"));
  await eventually(() => expect(made).toBe(4));
  client.settings({ initialWindowSize: 2_000_000 });
  await Promise.all(asked.map(({ ended }) => ended));
  // The server knows by then that these are whole.
  for (let i = 0; i < 3; i++) await asks(client, "/counted").ended;
  asks(client, "/never");
  await begun.passed;
  expect(await server.stop()).toBe(1);
});

it("that are held back with a body leave no stream open where their client resets them without an error", async () => {
  let made = 0;
  const counted = get(Path.of("counted"), { returns: Returns.text }, () => `${made++} ${"x".repeat(length)}`);
  const server = await start([counted, size], { ...shares, drainMs: 600_000 });
  const client = session(server.port, 0);
  const asked = Array.from({ length: 5 }, () => asks(client, "/counted"));
  await eventually(() => expect(made).toBe(4));
  const given = client.request({ ":method": "POST", ":path": "/size" }, { endStream: false });
  given.on("error", () => {}).write("its body is not read");
  // What was sent before this is with the server.
  await new Promise((resolve) => client.ping(resolve));
  given.close(constants.NGHTTP2_NO_ERROR);
  client.settings({ initialWindowSize: 2_000_000 });
  await Promise.all(asked.map(({ ended }) => ended));
  expect(await server.stop()).toBe(0);
});

it("are not read on past the share of their connection, and end once their client reads", async () => {
  let read = 0;
  const parts = get(Path.of("parts"), { returns: Returns.response }, () => {
    async function* all() {
      for (let i = 0; i < 10; i++) {
        read++;
        yield Buffer.alloc(length);
      }
    }
    return Answer.stream(all());
  });
  const { port } = await start([parts], shares);
  // So that each stream takes a part, and then no more: the window of the connection is 64 KiB in all.
  const client = session(port, 3000);
  const asked = Array.from({ length: 20 }, () => asks(client, "/parts"));
  await eventually(() => expect(read).toBeGreaterThanOrEqual(4));
  await new Promise((resolve) => setTimeout(resolve, 50));
  // Those that were begun at once have a part each.
  expect(read).toBeLessThanOrEqual(20);
  client.settings({ initialWindowSize: 2_000_000 });
  const got = await Promise.all(asked.map(({ ended }) => ended));
  expect(got).toEqual(asked.map(() => ({ bytes: 10 * length, isReset: false })));
  expect(read).toBe(200);
});

it("of a client that goes while its requests wait leave nothing, and are given up", async () => {
  let made = 0;
  const counted = get(Path.of("counted"), { returns: Returns.text }, () => `${made++} ${"x".repeat(length)}`);
  const server = await start([counted], shares);
  const client = session(server.port, 0);
  for (let i = 0; i < 30; i++) asks(client, "/counted");
  await eventually(() => expect(made).toBe(4));
  client.destroy();
  await server.stop();
  // Its first reset makes room for one, before the others come.
  expect(made).toBeLessThan(10);
  expect(messages("error")).toEqual([]);
});

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const message = "x".repeat(length / 32);
const talk = get(Path.of("talk"), { returns: Returns.websocket(texts) }, () => async (socket) => {
  await socket.send("ready");
  for await (const _ of socket) for (let i = 0; i < 64; i++) if (!(await socket.send(message)).ok) return;
});

/** A masked text frame of one letter. */
const letter = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78]);

/** Opens a WebSocket (RFC 8441). */
async function opens(client: ClientHttp2Session) {
  if (!client.remoteSettings.enableConnectProtocol) await once(client, "remoteSettings");
  const head = { ":method": "CONNECT", ":protocol": "websocket", ":path": "/talk", "sec-websocket-version": "13" };
  const stream = client.request(head, { endStream: false });
  const got = { bytes: 0, reset: 0 };
  stream.on("error", () => {}).on("close", () => (got.reset = stream.rstCode ?? 0));
  expect((await once(stream, "response"))[0]).toMatchObject({ ":status": 200 });
  return { stream, got };
}

it.each(["of a connection each", "of one connection"])(
  "WebSockets %s are reset past sendBudget, and one that reads gets all messages",
  async (of) => {
    const sendBudget = length;
    const server = await start([talk, whole], { http2: true, sendBudget, sendShare: sendBudget });
    const waiting = (): number => (server as unknown as { readonly unsent: { readonly bytes: number } }).unsent.bytes;
    const one = session(server.port, 100);
    const clients = Array.from({ length: 40 }, () =>
      opens(of === "of one connection" ? one : session(server.port, 100)),
    );
    const mute = await Promise.all(clients);
    for (const { stream } of mute) stream.write(letter);
    await eventually(() => {
      expect(waiting()).toBeLessThanOrEqual(sendBudget);
      expect(messages("warn").join()).toMatch(/clients disconnected past sendBudget/);
    });
    const isReset = ({ got }: { readonly got: { readonly reset: number } }) => got.reset === constants.NGHTTP2_CANCEL;
    await eventually(() => expect(mute.some((client) => isReset(client))).toBe(true));
    expect(mute.every((client) => isReset(client))).toBe(false);
    const { stream, got } = await opens(session(server.port, 1_000_000));
    stream.on("data", (part: Buffer) => (got.bytes += part.byteLength));
    stream.write(letter);
    await eventually(() => expect(got.bytes).toBeGreaterThan(64 * message.length));
    expect(got.reset).toBe(0);
    expect(messages("error")).toEqual([]);
  },
);
