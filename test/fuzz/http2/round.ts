/** Plays random clients of HTTP/2 to a server in its own process, and asks afterwards what must hold whatever they did. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TestCertificate } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { frame, requestBlock } from "../../support/http2-client.ts";
import { WireClient, start } from "../../support/http2-wire.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import type { Command } from "../../support/spawned/server.ts";
import type { Ports, Tally } from "./program.ts";
import type { Client, Script, Step } from "./script.ts";
import { FrameWriter } from "./writer.ts";

const program = new URL("program.ts", import.meta.url).pathname;
const whole = 5;
const isLinux = process.platform === "linux";
/** glibc then overwrites what is freed, so that its use afterwards is seen. */
const env: Command | readonly [] = isLinux ? ["/usr/bin/env", "GLIBC_TUNABLES=glibc.malloc.perturb=165"] : [];

/** How much was played. */
export interface Played {
  scripts: number;
  connections: number;
  requests: number;
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** The pair of servers under test. */
export class Http2Server {
  readonly played: Played;
  readonly #server: SpawnedServer;
  #ports: Ports = { plain: 0, secure: 0 };
  #open = 0;
  #control: RawClient | undefined = undefined;
  #asked: Promise<unknown> = Promise.resolve();
  #hasEnded: number | string | undefined = undefined;

  private constructor(server: SpawnedServer, played: Played) {
    this.#server = server;
    this.played = played;
    server.ended.then(
      (how) => (this.#hasEnded = how),
      () => {},
    );
  }

  static async start(node: string, { cert, key }: TestCertificate, played: Played): Promise<Http2Server> {
    const command = [...env, node, "--expose-gc"] as unknown as Command;
    const server = new Http2Server(await SpawnedServer.start(command, program, { cert, key } as object), played);
    await server.restart();
    // What a runtime opens at its first request stays open.
    await server.#answers();
    await wait(50);
    server.#open = (await server.#tally()).descriptors;
    return server;
  }

  port({ isSecure }: Client): number {
    return isSecure ? this.#ports.secure : this.#ports.plain;
  }

  async restart(): Promise<void> {
    this.#ports = JSON.parse(await this.#asks("POST /restart")) as Ports;
  }

  /** The bytes that its process uses after a collection. */
  async heap(): Promise<number> {
    return Number(await this.#asks("GET /heap"));
  }

  /** Plays a script, and throws where the server did not survive it. */
  async survives(script: Script): Promise<void> {
    const complaints = this.#complaints().length;
    this.played.scripts++;
    const restarts = script.some(({ steps }) => steps.some(({ does }) => does === "restart"));
    try {
      await Promise.all(script.map((client) => play(client, this)));
      await this.#answers();
      await this.#isQuiet();
    } catch (error) {
      if (this.#hasEnded !== undefined) throw new Error(`the process ended: ${this.#hasEnded}`, { cause: error });
      throw error;
    }
    const said = this.#complaints().slice(complaints);
    if (said.length > 0) throw new Error(`the server complained:\n${said.join("\n")}`);
    if (restarts) this.#open = Math.max(this.#open, (await this.#tally()).descriptors);
  }

  get lastWords(): string {
    return this.#server.written.slice(-30).join("\n");
  }

  async end(): Promise<void> {
    this.#control?.leave();
    await this.#server.kill();
  }

  /** A well-behaved client is answered; on another connection where this process was late, and the first one was idle. */
  async #answers(): Promise<void> {
    let client = await this.#honest();
    await eventually(async () => {
      if (this.#hasEnded !== undefined || client.seen(1).text === "ok") return;
      if (client.closed) client = await this.#honest();
      throw new Error("a well-behaved client is not answered");
    });
    client.socket.destroy();
    if (this.#hasEnded !== undefined) throw new Error("it ended");
  }

  async #honest(): Promise<WireClient> {
    const ask = frame("headers", whole, 1, requestBlock("/ok"));
    return WireClient.to(this.#ports.plain, Buffer.concat([start, ask]));
  }

  /** Each handler has ended, once, and nothing that the clients opened is left. */
  async #isQuiet(): Promise<void> {
    await eventually(async () => {
      if (this.#hasEnded !== undefined) return;
      const { begun, ended, twice, open, descriptors } = await this.#tally();
      if (begun !== ended || twice > 0 || open > 0 || descriptors > this.#open)
        throw new Error(
          `${begun} handlers began and ${ended} ended, ${twice} twice; ${open} streams are open, and ${descriptors - this.#open} descriptors`,
        );
    });
    if (this.#hasEnded !== undefined) throw new Error("it ended");
  }

  #complaints(): readonly string[] {
    return this.#server.written.filter((line) => !isOfHandler(line));
  }

  async #tally(): Promise<Tally> {
    return JSON.parse(await this.#asks("GET /tally")) as Tally;
  }

  /** One after the other: two clients of a script may restart the servers. */
  #asks(line: string): Promise<string> {
    const answer = this.#asked.then(() => this.#ask(line));
    this.#asked = answer.catch(() => {});
    return answer;
  }

  async #ask(line: string): Promise<string> {
    try {
      this.#control ??= await this.#server.client();
      return (await this.#control.ask(line).answer()).body;
    } catch (error) {
      // It was idle for too long.
      if (this.#hasEnded !== undefined) throw error;
      this.#control?.leave();
      this.#control = await this.#server.client();
      return (await this.#control.ask(line).answer()).body;
    }
  }
}

/** An error line of a handler that throws, or sends too little. */
function isOfHandler(line: string): boolean {
  return line.includes('"error.kind":"ExpectedError"') || line.includes('"url.path":"/stream/short"');
}

async function play(client: Client, server: Http2Server): Promise<void> {
  const { played } = server;
  played.connections++;
  const socket = await connected(server.port(client), client.isSecure);
  const writer = new FrameWriter(socket);
  writer.begin(client);
  for (const step of client.steps) await act(step, socket, writer, server);
  played.requests += writer.requests;
  // Some of them leave while the server acts on the last frames, and others once it has.
  if (client.steps.length % 2 === 0) await wait(2);
  socket.destroy();
}

async function connected(port: number, isSecure: boolean): Promise<Socket> {
  const where = { port, host: "127.0.0.1", allowHalfOpen: true };
  const socket = isSecure
    ? connectTls({ ...where, ALPNProtocols: ["h2"], rejectUnauthorized: false })
    : connect({ ...where, noDelay: true });
  // A cut connection is what is to be borne, also before it is open: the server may be stopping.
  socket.on("error", () => {}).resume();
  await Promise.race([once(socket, isSecure ? "secureConnect" : "connect"), once(socket, "close")]).catch(() => {});
  return socket;
}

async function act(step: Step, socket: Socket, writer: FrameWriter, server: Http2Server): Promise<void> {
  switch (step.does) {
    case "send":
      return writer.send(step.frames, step.cutAt);
    case "turn":
      return wait(0);
    case "wait":
      return wait(step.ms);
    case "stop reading":
      socket.pause();
      return;
    case "read on":
      socket.resume();
      return;
    case "half-close":
      socket.end();
      return;
    case "close":
      socket.destroy();
      return;
    case "reset":
      resetOf(socket);
      return;
    case "restart":
      return server.restart();
  }
}

/** A TLS socket has no reset of its own. */
function resetOf(socket: Socket): void {
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}
