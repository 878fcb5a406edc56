/** Where the life of a server is played: `usher-http/node` in this process, its clock held, and clients that do what is due. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { vi } from "vitest";
import {
  Answer,
  Event,
  Health,
  Path,
  Returns,
  Socket as Sockets,
  body,
  clientGone,
  get,
  param,
  post,
} from "usher-http";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { messages } from "../support/logs.ts";
import { active } from "../support/memory.ts";
import { gate } from "../support/node-server.ts";
import type { Gate } from "../support/node-server.ts";
import { Life, drainMs } from "./server-life.ts";
import type { Held, Kind, Step } from "./server-life.ts";

const key = Path.int("key");
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Turns of the event loop that something may take to happen; more than any takes. */
const mostTurns = 20_000;
const handshake = "connection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
/** What the client of each kind sends, and what it sends to let go of it. */
const requests: { readonly [K in Kind]: (key: number) => string } = {
  quick: () => "GET /ok HTTP/1.1\r\nhost: h\r\n\r\n",
  held: (key) => `GET /held/${key} HTTP/1.1\r\nhost: h\r\n\r\n`,
  body: () => "POST /body HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nab",
  stream: (key) => `GET /stream/${key} HTTP/1.1\r\nhost: h\r\n\r\n`,
  feed: () => "GET /feed HTTP/1.1\r\nhost: h\r\n\r\n",
  socket: () => `GET /socket HTTP/1.1\r\nhost: h\r\nupgrade: websocket\r\n${handshake}\r\n`,
  polite: (key) => `GET /polite/${key} HTTP/1.1\r\nhost: h\r\nupgrade: mine\r\nconnection: upgrade\r\n\r\n`,
  deaf: (key) => `GET /deaf/${key} HTTP/1.1\r\nhost: h\r\nupgrade: mine\r\nconnection: upgrade\r\n\r\n`,
  opening: (key) => `GET /opening/${key} HTTP/1.1\r\nhost: h\r\nupgrade: mine\r\nconnection: upgrade\r\n\r\n`,
  half: () => "GET /ok HTTP/1.1\r\nhos",
  silent: () => "",
};

/** A client that does what is due: it closes where the server does, and answers the end of a WebSocket. */
class Client {
  readonly socket: Socket;
  text = "";
  isClosed = false;
  #hasAnswered = false;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.socket.on("error", () => {}).on("close", () => (this.isClosed = true));
    this.socket.on("end", () => this.socket.end());
    this.socket.on("data", (part: Buffer) => {
      this.text += part.toString("latin1");
      // 1001 back, masked by zeroes.
      if (this.#hasAnswered || !/\u0088.\u0003\u00e9/s.test(this.text)) return;
      this.#hasAnswered = true;
      this.socket.write(Buffer.from("\x88\x82\0\0\0\0\x03\xe9", "latin1"));
    });
  }

  /** Whether it has received these, in their order except the fields of a head. */
  has(pieces: readonly string[]): boolean {
    let at = 0;
    for (const piece of pieces) {
      const found = this.text.indexOf(piece, piece.startsWith("connection") ? 0 : at);
      if (found === -1) return false;
      at = Math.max(at, found + 1);
    }
    return true;
  }
}

function same(what: string, is: unknown, should: unknown): void {
  const [a, b] = [JSON.stringify(is), JSON.stringify(should)];
  if (a !== b) throw new Error(`${what}: ${a}, and should be ${b}`);
}

export class Played {
  readonly life = new Life();
  readonly #clients = new Map<number, Client>();
  readonly #gates = new Map<number, Gate>();
  readonly #signals = process.listenerCount("SIGTERM");
  #server: Server | undefined = undefined;
  #cut: number | undefined = undefined;
  /** Servers that were started behind it. */
  #others = 0;

  async begin(): Promise<void> {
    const gates = (key: number) => this.#gate(key).passed;
    // The kernel gives this port to no other process, so "start-again" finds it free.
    const port = await freePort();
    this.#server = await serve(routesOf(gates), { port, host: "127.0.0.1", drainMs, bodyTimeoutMs: 600_000_000 });
    void this.#server.stopped.then((cut) => (this.#cut = cut));
  }

  async take(step: Step): Promise<void> {
    const { life } = this;
    const server = this.#server as Server;
    switch (step.does) {
      case "connect":
        if (life.phase === "running") this.#connect(server.port, life.connect(step.kind));
        else await this.#isRefused(server.port);
        break;
      case "again":
        if (!life.canAsk(step.of)) return;
        this.#clients.get(step.of)?.socket.write(requests.quick(0));
        life.again(step.of);
        break;
      case "let-go":
        if (!life.canLetGo(step.of)) return;
        if (life.all[step.of]?.kind === "body") this.#clients.get(step.of)?.socket.write("cd");
        else this.#gate(step.of).open();
        life.letGo(step.of);
        break;
      case "leave":
        if (life.all[step.of]?.isClosed !== false) return;
        this.#clients.get(step.of)?.socket.resetAndDestroy();
        life.leave(step.of);
        break;
      case "stop":
        void server.stop();
        life.stop();
        break;
      case "signal":
        process.emit("SIGTERM");
        life.signal();
        break;
      case "drain":
        server.app.drain();
        life.isReady = false;
        break;
      case "start-again":
        await this.#startAgain(server.port);
        break;
      case "pass":
        vi.advanceTimersByTime(drainMs + 1000);
        life.pass();
        break;
    }
    await this.#settle(JSON.stringify(step));
  }

  /** Everything is let go, the server stopped where it was not, and nothing is left. */
  async end(): Promise<void> {
    await this.take({ does: "stop" });
    await this.take({ does: "pass" });
    for (const { key } of this.life.all) this.#gate(key).open();
    const server = this.#server as Server;
    for (const { socket } of this.#clients.values()) socket.destroy();
    const cuts = [await server.stop(), await server.stopped];
    same("stop() and stopped", cuts, [this.life.cut, this.life.cut]);
    if (this.life.cut === 0) same("the last line", messages("info").at(-1), "stopped");
    const stops = messages("info").filter((line) => String(line).startsWith("stopping"));
    same("stops", stops.length, 1 + this.#others);
    same("errors", messages("error"), []);
  }

  #connect(port: number, held: Held): void {
    const client = new Client(port);
    this.#clients.set(held.key, client);
    client.socket.write(requests[held.kind](held.key));
  }

  async #isRefused(port: number): Promise<void> {
    const client = new Client(port);
    const code = new Promise<unknown>((resolve) => {
      client.socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      client.socket.once("connect", () => resolve("connected"));
    });
    same("a connection to what stops", await code, "ECONNREFUSED");
  }

  async #startAgain(port: number): Promise<void> {
    if (this.life.phase === "stopping") return;
    const again = serve(
      routesOf(() => Promise.resolve()),
      { port, host: "127.0.0.1", signals: false },
    );
    if (this.life.phase === "running") {
      const code = again.then(
        () => "started",
        (error: NodeJS.ErrnoException) => error.code,
      );
      return same("a second start", await code, "EADDRINUSE");
    }
    const server = await again.catch((error: NodeJS.ErrnoException) => error);
    if (server instanceof Error)
      return same("a start behind a stop", [server.code, active("TCPServerWrap")], ["EADDRINUSE", 0]);
    this.#others++;
    const client = new Client(server.port);
    client.socket.write(requests.quick(0));
    for (let i = 0; i < mostTurns && !client.has(["ok"]); i++) await turn();
    same("a second server", [client.has(["ok"]), await server.stop()], [true, 0]);
  }

  /** Waits for what should be, and looks once more when all that should not be had its time. */
  async #settle(after: string): Promise<void> {
    for (let i = 0; i < mostTurns && this.#wrong() !== undefined; i++) await turn();
    for (let i = 0; i < 5; i++) await turn();
    const wrong = this.#wrong() ?? (await this.#wrongReadiness());
    if (wrong !== undefined) throw new Error(`after ${after}: ${wrong}`);
  }

  #wrong(): string | undefined {
    const { life } = this;
    for (const { key, kind, sees, isClosed, hasLeft } of life.all) {
      const client = this.#clients.get(key) as Client;
      if (hasLeft) continue;
      if (client.isClosed !== isClosed) return `${kind} ${key} is ${client.isClosed ? "closed" : "open"}`;
      if (!client.has(sees))
        return `${kind} ${key} saw ${JSON.stringify(client.text)}, and not ${JSON.stringify(sees)}`;
    }
    if (this.#cut !== life.cut) return `stopped is ${this.#cut}, and should be ${life.cut}`;
    const signals = process.listenerCount("SIGTERM") - this.#signals;
    if (signals !== (life.phase === "stopped" || life.hasSignal ? 0 : 1)) return `${signals} listeners for SIGTERM`;
    return undefined;
  }

  async #wrongReadiness(): Promise<string | undefined> {
    const ready = await (this.#server as Server).app.fetch(new Request("http://h/readyz"));
    return (ready.status === 200) === this.life.isReady ? undefined : `readyz is ${ready.status}`;
  }

  #gate(key: number): Gate {
    const known = this.#gates.get(key) ?? gate();
    this.#gates.set(key, known);
    return known;
  }
}

function routesOf(gates: (key: number) => Promise<void>) {
  const keyed = { key: param(key) };
  const texts = Sockets.protocol({ client: Sockets.text, server: Sockets.text });
  const built = { inputs: keyed, returns: Returns.response };
  async function* parts(key: number) {
    yield Buffer.from("one");
    await gates(key);
    yield Buffer.from("two");
  }
  const stopped = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve());
    });
  return [
    get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
    get(Path.of("held", key), { inputs: keyed, returns: Returns.text }, async ({ key }) => (await gates(key), "held")),
    post(Path.of("body"), { inputs: { body }, returns: Returns.text }, () => "whole"),
    get(Path.of("stream", key), built, ({ key }) => Answer.stream(parts(key))),
    get(Path.of("feed"), { inputs: { clientGone }, returns: Returns.events([]) }, ({ clientGone }) => async (send) => {
      await send(Event.comment("here"));
      await stopped(clientGone);
    }),
    get(Path.of("socket"), { returns: Returns.websocket(texts, { keepAliveMs: 3_600_000 }) }, () => async (socket) => {
      for await (const text of socket) void text;
    }),
    get(Path.of("polite", key), built, ({ key }) =>
      Answer.takeover("mine", ({ stopping }) => Promise.race([gates(key), stopped(stopping)])),
    ),
    get(Path.of("deaf", key), built, ({ key }) => Answer.takeover("mine", () => gates(key))),
    get(Path.of("opening", key), built, async ({ key }) => {
      await gates(key);
      return Answer.takeover("mine", ({ stopping }) => stopped(stopping));
    }),
    ...Health.routes([]),
  ];
}
