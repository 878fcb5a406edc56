import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** Stands between a client and a server, and takes answers away: what was done is then known to the server alone. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #armed = new Set<Socket>();
  #hushed: (() => void) | undefined = undefined;
  #hushAt: string | undefined = undefined;

  private constructor(target: number) {
    this.#server = createServer((client) => this.#carry(client, target));
  }

  static async to(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts one connection, whichever it is, where the server's next answer is about to arrive. Says whether there was one. */
  cut(): boolean {
    const clients = [...this.#clients];
    const client = clients[Math.floor(Math.random() * clients.length)];
    if (client !== undefined) this.#armed.add(client);
    return client !== undefined;
  }

  /**
   * From now on nothing that the server says arrives, and no connection ends: as where a cable is pulled. Answers when
   * the first of it was lost.
   */
  hush(): Promise<void> {
    return new Promise((resolve) => (this.#hushed = resolve));
  }

  /** As {@link hush}, once a client has said something that holds a text. */
  hushAt(text: string): void {
    this.#hushAt = text;
  }

  /** Carries again what comes from now on. */
  speak(): void {
    this.#hushed = undefined;
  }

  close(): void {
    this.#server.close();
    for (const client of this.#clients) client.destroy();
  }

  #carry(client: Socket, target: number): void {
    const server = connect(target, "127.0.0.1");
    this.#clients.add(client);
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => {});
    client.on("data", (bytes) => {
      if (this.#hushAt !== undefined && bytes.includes(this.#hushAt)) void this.hush();
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (this.#hushed !== undefined) return this.#hushed();
      if (this.#armed.delete(client)) client.destroy();
      else client.write(bytes);
    });
    server.on("close", () => client.destroy());
    client.on("close", () => {
      this.#clients.delete(client);
      this.#armed.delete(client);
      server.end();
    });
  }
}
