/** Plays a script to a server, and asks afterwards what must hold whatever the script was. */
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw-client.ts";
import type { Running } from "../conformance/targets/target.ts";
import { connections } from "./script.ts";
import type { Script, Step } from "./script.ts";

/** A server, and a well-behaved client that it has to answer next to the hostile ones. */
export class Server {
  readonly running: Running;
  readonly port: number;
  readonly #name: string;
  #open: number;
  #honest: RawClient;

  private constructor(name: string, running: Running, port: number, honest: RawClient, open: number) {
    this.#name = name;
    this.running = running;
    this.port = port;
    this.#honest = honest;
    this.#open = open;
  }

  static async of(name: string, running: Running): Promise<Server> {
    const port = running.ports.impatient ?? running.ports.main;
    if (port === undefined) throw new Error("the server has no port");
    // What a runtime opens at its first request stays open.
    for (let i = 0; i < 5; i++) await askOnce(port);
    const honest = await RawClient.to(port);
    await isAnswered(honest);
    return new Server(name, running, port, honest, openFiles(running));
  }

  /** An honest client's request is answered: the server has had its turn since. */
  async turn(): Promise<void> {
    try {
      await isAnswered(this.#honest);
    } catch {
      // It was idle for too long, and another connection takes its place.
      this.#honest.leave();
      this.#honest = await RawClient.to(this.port);
      await isAnswered(this.#honest);
    }
  }

  /** Plays a script, and throws where the server did not survive it. */
  async survives(script: Script): Promise<void> {
    const clients = Array.from({ length: connections }, () => new Client(this.port));
    const complaints = this.running.complaints().length;
    try {
      for (const { on, step } of script) await (clients[on] as Client).take(step, this);
      await this.turn();
    } finally {
      for (const client of clients) client.end();
    }
    await this.turn();
    await askOnce(this.port);
    if (!this.#loses(script)) await this.#hasItsFilesBack();
    else this.#open = openFiles(this.running);
    // workerd itself writes of every client that breaks HTTP or RFC 6455, in words of its own.
    const said = this.running
      .complaints()
      .slice(complaints)
      .filter((line) => !isOfHandler(line) && !(this.#name === "workerd" && !line.startsWith("{")));
    if (said.length > 0) throw new Error(`the server complained:\n${said.join("\n")}`);
  }

  /** Whether the script may leave connections open that no listener can see the end of. */
  #loses(script: Script): boolean {
    const sent = script.flatMap(({ step }) => (step.does === "send" ? [step.bytes] : []));
    // Its connections are the platform's, which looks for a client's leaving when it writes.
    if (this.#name === "workerd") return true;
    if (this.#name !== "deno") return false;
    // Deno 2.9 never closes a connection whose client disconnects between its handshake and Deno's 101, and reports nothing: the
    // adapter checks before it upgrades, and cannot check after. It keeps another, with an unread body, until the
    // handler answers, and two handlers here never do.
    return sent.some((bytes) => /upgrade: websocket|\/(wait|never)\/k/i.test(bytes));
  }

  /** Every descriptor that the script made it open is closed. */
  async #hasItsFilesBack(): Promise<void> {
    await eventually(async () => {
      await this.turn();
      const open = openFiles(this.running);
      if (open > this.#open) throw new Error(`${open - this.#open} descriptors are left open`);
    });
  }

  end(): Promise<void> {
    this.#honest.leave();
    return this.running.stop();
  }
}

/** A handler of the application raises where the connection it took over is cut, and that is an error line. */
function isOfHandler(line: string): boolean {
  return line.includes('"url.path":"/taken/k') || line.includes('"http.route":"/taken/{key}');
}

function openFiles({ pid }: Running): number {
  return process.platform === "linux" ? readdirSync(`/proc/${pid}/fd`).length : 0;
}

async function isAnswered(client: RawClient): Promise<void> {
  const { status, body } = await client.ask("GET /ok").answer();
  if (status !== 200 || body !== "ok") throw new Error(`GET /ok was answered ${status} ${body}`);
}

async function askOnce(port: number): Promise<void> {
  const client = await RawClient.to(port);
  await isAnswered(client);
  client.leave();
}

/** One connection of a script, made by its first step. */
class Client {
  readonly #port: number;
  #socket: Socket | undefined = undefined;
  #came = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async take(step: Step, server: Server): Promise<void> {
    const socket = (this.#socket ??= this.#connected());
    switch (step.does) {
      case "send":
        for (let at = 0; at < step.bytes.length; at += step.piece) {
          if (at > 0) await server.turn();
          // Past a few pieces of a long text the rest comes at once.
          const end = at > 20 * step.piece ? step.bytes.length : at + step.piece;
          if (socket.writable) socket.write(step.bytes.slice(at, end), "latin1");
          if (end === step.bytes.length) return;
        }
        return;
      case "turn":
        return server.turn();
      case "look": {
        const before = this.#came;
        for (let i = 0; i < 3 && this.#came === before; i++) await server.turn();
        return;
      }
      case "stop-reading":
        socket.pause();
        return;
      case "read-on":
        socket.resume();
        return;
      case "half-close":
        socket.end();
        return;
      case "close":
        socket.destroy();
        this.#socket = undefined;
        return;
      case "reset":
        this.end();
        return;
    }
  }

  end(): void {
    this.#socket?.resetAndDestroy();
    this.#socket = undefined;
  }

  #connected(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    // A cut connection is what is to be borne.
    socket.on("error", () => {});
    socket.on("data", (part: Buffer) => (this.#came += part.length));
    return socket;
  }
}
