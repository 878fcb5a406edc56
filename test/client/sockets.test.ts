/** WebSockets through the typed client, over real connections, and of servers that do not keep to the protocol. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket as NodeSocket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { Client, Path, Returns, get } from "usher-http";
import type { ClientSocketEnd } from "usher-http/client";
import { browser as chromium, inTab } from "../support/browser.ts";
import { start } from "../support/node-server.ts";
import { runtimes } from "../support/runtimes.ts";
import { seen } from "./socket-acts.ts";
import { socketRoutes } from "./socket-routes.ts";
import type { SocketRoutes } from "./socket-routes.ts";

type Options = Partial<Client.ClientOptions>;

/** A client whose WebSocket is that of `ws`, as on Node 20. */
function clientOf(port: number, options: Options = {}): Client.Client<SocketRoutes> {
  return Client.of<SocketRoutes>({
    baseUrl: `http://127.0.0.1:${port}`,
    webSocket: (url, protocols, headers) => new WebSocket(url, protocols, { headers }),
    ...options,
  });
}

/** A server of a test's own, and what its sockets ended with. */
async function hostile(speak: (socket: WebSocket) => void) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const ends: Promise<number>[] = [];
  server.on("connection", (socket) => {
    ends.push(once(socket, "close").then(([code]) => code as number));
    speak(socket);
  });
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, ends };
}

async function openedOf(api: Client.Client<SocketRoutes>, signal?: AbortSignal) {
  const opened = await api["GET /rooms/{room}"].open({ path: { room: "a" }, signal });
  if (!opened.ok) throw new Error(opened.message);
  return opened.value;
}

/** What a loop gets, and what it throws. */
async function heard(socket: AsyncIterable<unknown>): Promise<{ readonly got: unknown[]; readonly thrown?: unknown }> {
  const got: unknown[] = [];
  try {
    for await (const one of socket) got.push(one);
    return { got };
  } catch (thrown) {
    return { got, thrown };
  }
}

const program = join(import.meta.dirname, "socket-program.ts");
const shown = (line: string): unknown => JSON.parse(line);

describe("a WebSocket of the typed client", () => {
  it.each([
    { runtime: "Node 22", command: runtimes["node-22"](), args: [] },
    { runtime: "the newest Node", command: runtimes["node-newest"](), args: [] },
    { runtime: "Bun", command: runtimes.bun(), args: [] },
    { runtime: "Deno", command: runtimes.deno(), args: ["run", "--allow-all"] },
  ])("speaks JSON, text and bytes by the WebSocket of $runtime", async ({ command, args }) => {
    const { port } = await start([...socketRoutes]);
    const all = [...args, program, `http://127.0.0.1:${port}`];
    const { stdout } = await promisify(execFile)(command, all, { cwd: join(program, "../../..") });
    expect(shown(stdout.trim().split("\n").at(-1) ?? "")).toEqual(seen);
  });

  it.skipIf(chromium.isSkipped)(`speaks them in a browser, to the page's own origin${chromium.why}`, async () => {
    const { outputFiles } = await build({
      entryPoints: [program],
      bundle: true,
      format: "esm",
      write: false,
      alias: { "usher-http/client": join(import.meta.dirname, "../../src/client/index.ts") },
      define: { "process.argv": "['', '', '']" },
    });
    const page = get(Path.root, { returns: Returns.html }, () => "<!doctype html><title>Sockets</title>");
    const { port } = await start([...socketRoutes, page]);
    await inTab(async (tab) => {
      await tab.goto(`http://127.0.0.1:${port}/`);
      // The failed handshake of the last one is a message of the console, too.
      const written = new Promise<string>((resolve, reject) => {
        tab.on("console", (message) => void (message.type() === "log" && resolve(message.text())));
        tab.on("pageerror", reject);
      });
      await tab.addScriptTag({ type: "module", content: outputFiles[0]?.text ?? "" });
      expect(shown(await written)).toEqual(seen);
    });
  });

  it("is opened by the class that the client gives, with its headers and the call's", async () => {
    const headers: unknown[] = [];
    const { port } = await start([...socketRoutes]);
    const api = clientOf(port, {
      headers: { "x-client": "desk" },
      webSocket: (url, protocols, given) => (headers.push([url, protocols, given]), new WebSocket(url, protocols)),
    });
    const opened = await api["GET /words"].open({ text: "both", subprotocol: ["v1", "bearer.t"] });
    expect(opened).toMatchObject({ ok: true, status: 101, value: { subprotocol: "v1" } });
    expect(headers).toEqual([[`ws://127.0.0.1:${port}/words`, ["v1", "bearer.t"], { "x-client": "desk" }]]);
    if (opened.ok)
      expect(await opened.value.close({ code: 3001, reason: "done" })).toEqual({ code: 3001, reason: "done" });
  });

  it("is unreachable where the route refuses, and where nothing listens", async () => {
    const { port } = await start([...socketRoutes]);
    expect(await clientOf(port)["GET /refused"].open()).toMatchObject({ ok: false, status: 0, error: "unreachable" });
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port: closed } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    expect(await clientOf(closed)["GET /bytes"].open()).toMatchObject({ ok: false, error: "unreachable" });
  });

  it("rejects for what cannot be sent", async () => {
    const api = clientOf(1);
    await expect(api["GET /rooms/{room}"].open({ path: { room: ".." } })).rejects.toThrow(TypeError);
    await expect(api["GET /words"].open({ text: "both", subprotocol: "a b" as "v1" })).rejects.toThrow(SyntaxError);
    const relative = Client.of<SocketRoutes>({ baseUrl: "" });
    await expect(relative["GET /bytes"].open()).rejects.toThrow(TypeError);
    const { port } = await start([...socketRoutes]);
    const socket = await openedOf(clientOf(port));
    expect(() => socket.send(undefined as never)).toThrow("neither text, bytes nor JSON");
    await socket.close();
  });
});

describe("a WebSocket ends", () => {
  it("when the loop is left, and the server receives the close frame", async () => {
    const { port, ends } = await hostile((socket) => socket.send("{}"));
    for await (const _ of await openedOf(clientOf(port))) break;
    expect(await ends[0]).toBe(1000);
  });

  it("when its signal aborts, while it opens and after", async () => {
    const opening = new AbortController();
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const connected = once(silent, "connection");
    const { port: mute } = silent.address() as AddressInfo;
    const never = clientOf(mute)["GET /bytes"].open({ signal: opening.signal });
    const [connection] = (await connected) as [NodeSocket];
    const gone = once(connection.resume(), "close");
    opening.abort();
    expect(await never).toMatchObject({ ok: false, error: "unreachable" });
    await gone;
    silent.close();

    const { port, ends } = await hostile((socket) => socket.send('"one"'));
    const open = new AbortController();
    const socket = await openedOf(clientOf(port), open.signal);
    const loop = heard(socket);
    open.abort();
    expect((await loop).thrown).toBe(undefined);
    expect([await ends[0], socket.send({ text: "" })]).toEqual([1000, false]);
    const over = await clientOf(port)["GET /bytes"].open({ signal: AbortSignal.abort() });
    expect(over).toMatchObject({ ok: false, error: "unreachable" });
  });

  it.each<readonly [code: number | undefined, end: ClientSocketEnd["code"], throws: boolean]>([
    [1000, 1000, false],
    [1001, 1001, false],
    [undefined, 1005, false],
    [1008, 1008, true],
    [1011, 1011, true],
    [4000, 4000, true],
  ])("with the code %s of its server, after the messages before", async (code, end, throws) => {
    const { port } = await hostile((socket) => {
      socket.send('{"text":"last"}');
      socket.close(code, code === undefined ? undefined : "why");
    });
    const socket = await openedOf(clientOf(port));
    const { got, thrown } = await heard(socket);
    const reason = code === undefined ? "" : "why";
    expect([got, await socket.closed]).toEqual([[{ text: "last" }], { code: end, reason }]);
    expect(thrown).toEqual(throws ? new Error(`the WebSocket was closed: ${end}`) : undefined);
    if (throws) expect((thrown as Error).cause).toEqual({ code: end, reason });
    // Each later loop finds it ended.
    expect(await heard(socket)).toEqual({ got: [] });
  });

  it("with an error where the connection was cut", async () => {
    const { port } = await hostile((socket) => socket.once("message", () => socket.terminate()));
    const socket = await openedOf(clientOf(port));
    socket.send({ text: "" });
    const { thrown } = await heard(socket);
    expect((thrown as Error).cause).toEqual({ code: 1006, reason: "" });
  });

  it("at most 3 seconds after `close`, if the server does not answer", async () => {
    const { port } = await hostile((socket) => {
      socket.pause();
    });
    const socket = await openedOf(clientOf(port));
    expect(await socket.close()).toEqual({ code: 1006, reason: "" });
    expect(await heard(socket)).toEqual({ got: [] });
  });
});

describe("a hostile server", () => {
  it("that never opens is unreachable after `openTimeoutMs`, and its connection ends", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    // On a busy machine the time may be over before there is one.
    const ended: Promise<unknown>[] = [];
    server.on("connection", (connection) => ended.push(once(connection.on("error", () => {}).resume(), "close")));
    const { port } = server.address() as AddressInfo;
    const opened = await clientOf(port, { openTimeoutMs: 200 })["GET /bytes"].open();
    expect(opened).toMatchObject({ ok: false, status: 0, error: "unreachable" });
    await Promise.all(ended);
    server.close();
  });

  it.each(["", "{", "undefined", "NaN", "'a'", "\u0000"])(
    "that sends %j, which is no JSON, ends the loop",
    async (text) => {
      const { port, ends } = await hostile((socket) => {
        socket.send("7");
        socket.send(text);
        socket.send("8");
      });
      const socket = await openedOf(clientOf(port));
      const { got, thrown } = await heard(socket);
      expect([got, thrown]).toEqual([[7], new SyntaxError("a message of a WebSocket is not JSON")]);
      expect(await ends[0]).toBe(4007);
    },
  );

  it.each([
    ["one message that is too long", ["x".repeat(100)], 0],
    ["more than waits", ['"a"', '"b"', '"c"'], 2],
    ["empty messages without end", ["", "", "", "", ""], 0],
  ])("that sends %s is closed, once the loop has what was before", async (_what, messages, few) => {
    const { port, ends } = await hostile((socket) => {
      for (const text of messages) socket.send(text);
    });
    const socket = await openedOf(clientOf(port, { maxSocketBuffer: 80 }));
    expect(await socket.closed).toEqual({ code: 4009, reason: "too many messages wait" });
    const { got, thrown } = await heard(socket);
    if (messages[0] !== "") {
      expect(got).toEqual(["a", "b"].slice(0, few));
      expect(thrown).toEqual(new RangeError("more than 80 bytes of a WebSocket's messages were not read"));
    }
    expect(await ends[0]).toBe(4009);
  });

  it("whose messages are read as they come may send more than that", async () => {
    const { port } = await hostile((socket) => {
      let sent = 0;
      socket.on("message", () => (++sent > 50 ? socket.close() : socket.send('"xxxxxxxxxx"')));
    });
    const socket = await openedOf(clientOf(port, { maxSocketBuffer: 80 }));
    socket.send({ text: "" });
    let count = 0;
    for await (const _ of socket) socket.send({ text: `${++count}` });
    expect(count).toBe(50);
  });

  it("that reads nothing is sent no more than that", async () => {
    const { port } = await hostile((socket) => {
      socket.pause();
    });
    const socket = await openedOf(clientOf(port, { maxSocketBuffer: 100_000 }));
    const text = "x".repeat(50_000);
    const send = (): void => {
      for (let i = 0; i < 10_000; i++) socket.send({ text });
    };
    expect(send).toThrow(new RangeError("more than 100000 bytes of a WebSocket would wait to be sent"));
    await socket.close();
  });
});

it("no timer stays once it has opened, nor once it has closed: a program ends by itself", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = Object.assign(new Event("close"), { code: 1000, reason: "" });
  const socket = Object.assign(new EventTarget(), { readyState: 1, send() {}, close() {} });
  const webSocket = (): WebSocket => {
    queueMicrotask(() => socket.dispatchEvent(new Event("open")));
    return socket as unknown as WebSocket;
  };
  const opened = await openedOf(clientOf(0, { webSocket }));
  const timers = [vi.getTimerCount()];
  const closing = opened.close();
  timers.push(vi.getTimerCount());
  socket.dispatchEvent(closed);
  await closing;
  expect([...timers, vi.getTimerCount()]).toEqual([0, 1, 0]);
});

it("a loop that waits for each of many messages keeps nothing of those before", async () => {
  const messages = 200_000;
  const socket = Object.assign(new EventTarget(), { readyState: 1, send() {}, close() {} });
  const webSocket = (): WebSocket => {
    queueMicrotask(() => socket.dispatchEvent(new Event("open")));
    return socket as unknown as WebSocket;
  };
  const closed = Object.assign(new Event("close"), { code: 1000 });
  let count = 0;
  const tell = (): void => {
    socket.dispatchEvent(count < messages ? new MessageEvent("message", { data: "7" }) : closed);
  };
  const opened = await openedOf(clientOf(0, { webSocket }));
  queueMicrotask(tell);
  for await (const _ of opened) {
    count++;
    // The loop waits by then. To tell each of its waits before again would take minutes.
    (count % 1000 === 0 ? setImmediate : queueMicrotask)(tell);
  }
  expect(count).toBe(messages);
});

it("a platform without a WebSocket, and one that sends no headers, say so", async () => {
  const saved = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  onTestFinished(() => void (saved && Object.defineProperty(globalThis, "WebSocket", saved)));
  Object.defineProperty(globalThis, "WebSocket", { value: undefined, configurable: true, writable: true });
  const api = Client.of<SocketRoutes>({ baseUrl: "http://localhost" });
  await expect(api["GET /bytes"].open()).rejects.toThrow("this platform has no WebSocket");
  Object.defineProperty(globalThis, "WebSocket", { value: WebSocket, configurable: true, writable: true });
  const given = { headers: { authorization: "Bearer t" } };
  await expect(api["GET /bytes"].open(given as object)).rejects.toThrow("sends no headers");
  Reflect.deleteProperty(globalThis, "WebSocket");
});
