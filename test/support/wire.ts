/** A way to a server that a test can cut and mend. It ends with its test. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { endsWithTest } from "./ends.ts";

const open: Wire[] = [];
endsWithTest(() => {
  for (const wire of open.splice(0)) wire.end();
});

export class Wire {
  readonly port: number;
  readonly #listener: Server;
  #target: number;
  #isCut = false;
  readonly #sockets = new Set<Socket>();
  /** Those of them that lead to the server, each with the client's. */
  readonly #far = new Map<Socket, Socket>();

  private constructor(listener: Server, target: number) {
    this.#listener = listener;
    this.#target = target;
    this.port = (listener.address() as AddressInfo).port;
    listener.on("connection", (socket: Socket) => this.#join(socket));
    open.push(this);
  }

  /** A wire to a port of this machine. */
  static async to(target: number): Promise<Wire> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    return new Wire(listener, target);
  }

  /** How many ways lead to the server. */
  get connections(): number {
    return this.#far.size;
  }

  /** Resets what is connected, and whatever connects until it is mended. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Keeps back what the server says, on what is connected now, until that is cut or `passAnswers` is called. */
  holdAnswers(): void {
    for (const far of this.#far.keys()) far.unpipe().pause();
  }

  /** Keeps back the bytes to the server, until that is cut. */
  holdQuestions(): void {
    for (const near of this.#far.values()) near.unpipe().pause();
  }

  passAnswers(): void {
    for (const [far, near] of this.#far) far.pipe(near);
  }

  /** Sends a text to each client, as though the server had sent it. */
  say(text: string): void {
    for (const near of this.#far.values()) near.write(text);
  }

  /** Sends a text in place of what the server says next; resolves then. */
  async sayInstead(text: string): Promise<void> {
    const all = [...this.#far].map(async ([far, near]) => {
      far.unpipe();
      await once(far.resume(), "data");
      near.write(text);
      far.pipe(near);
    });
    await Promise.all(all);
  }

  /** Connects to another port from now on. */
  leadTo(target: number): void {
    this.#target = target;
  }

  end(): void {
    this.cut();
    this.#listener.close();
  }

  #join(near: Socket): void {
    if (this.#isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(this.#target, "127.0.0.1");
    this.#far.set(far, near);
    far.on("close", () => this.#far.delete(far));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.pipe(other);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
