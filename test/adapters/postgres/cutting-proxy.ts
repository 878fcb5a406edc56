import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** A proxy between a client and a server that drops answers: only the server then knows what was done. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #armed = new Set<Socket>();
  readonly #carried = new Set<Socket>();
  #hushed: (() => void) | undefined = undefined;
  #hushAt: { readonly text: string; readonly isHushed: () => void } | undefined = undefined;
  #refuseAt: string | undefined = undefined;
  #refusal: Uint8Array = Buffer.alloc(0);
  #cutsAfterError = false;
  /** Those that are not carried yet; undefined where each is at once. */
  #held: (() => void)[] | undefined = undefined;

  private constructor(target: number) {
    this.#server = createServer((client) => this.#join(client, target));
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

  /** Ends a connection right after the next error that the server sends on it, before what the server says of later statements. */
  cutAfterError(): void {
    this.#cutsAfterError = true;
  }

  /** As {@link cut}, for every connection. */
  cutAll(): void {
    for (const client of this.#clients) this.#armed.add(client);
  }

  /** Answers the next message that contains a text with an error of the server, which does not receive the message. */
  refuse(text: string, severity: "ERROR" | "FATAL" = "ERROR"): void {
    this.#refuseAt = text;
    this.#refusal = refusalOf(severity);
  }

  /** Carries no connection that is made from now on, until {@link letIn}. */
  hold(): void {
    this.#held ??= [];
  }

  /** How many connections are held. */
  get held(): number {
    return this.#held?.length ?? 0;
  }

  letIn(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const carry of held) carry();
  }

  /** Reads what those say that are held, and answers each of them with some bytes, or with none. */
  answerHeld(bytes: string): void {
    for (const client of this.#clients) if (!this.#carried.has(client)) client.resume().write(bytes);
  }

  /** Ends the connections that are held, and holds those to come. */
  turnAway(): void {
    this.#held = [];
    for (const client of this.#clients) if (!this.#carried.has(client)) client.destroy();
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#clients.size;
  }

  /**
   * From now on nothing that the server says arrives, and no connection ends: as where a cable is pulled. Answers when
   * the first of it was lost.
   */
  hush(): Promise<void> {
    return new Promise((resolve) => (this.#hushed = resolve));
  }

  /** As {@link hush}, after a client has sent a text. */
  hushAt(text: string): Promise<void> {
    return new Promise((isHushed) => (this.#hushAt = { text, isHushed }));
  }

  /** Carries again what comes from now on. */
  speak(): void {
    this.#hushed = undefined;
  }

  close(): void {
    this.#server.close();
    for (const client of this.#clients) client.destroy();
  }

  #join(client: Socket, target: number): void {
    this.#clients.add(client);
    client.setNoDelay(true).on("error", () => {});
    client.on("close", () => {
      for (const set of [this.#clients, this.#armed, this.#carried]) set.delete(client);
    });
    const carry = (): void => this.#carry(client, target);
    if (this.#held === undefined) carry();
    else this.#held.push(carry);
  }

  #carry(client: Socket, target: number): void {
    if (client.destroyed) return;
    this.#carried.add(client);
    const server = connect(target, "127.0.0.1");
    server.setNoDelay(true).on("error", () => {});
    client.on("data", (bytes) => {
      const at = this.#hushAt;
      if (at !== undefined && bytes.includes(at.text)) void this.hush().then(at.isHushed);
      const isRefused = this.#refuseAt !== undefined && bytes.includes(this.#refuseAt);
      if (isRefused) this.#refuseAt = undefined;
      if (isRefused) client.write(this.#refusal);
      else server.write(bytes);
    });
    server.on("data", (bytes: Buffer) => {
      if (this.#hushed !== undefined) return this.#hushed();
      const error = this.#cutsAfterError ? endOfError(bytes) : undefined;
      if (error !== undefined) {
        this.#cutsAfterError = false;
        client.end(bytes.subarray(0, error));
        server.destroy();
      } else if (this.#armed.delete(client)) client.destroy();
      else client.write(bytes);
    });
    server.on("close", () => client.destroy());
    client.on("close", () => server.end());
  }
}

/** Where the first ErrorResponse ends, in bytes that begin with a message. */
function endOfError(bytes: Buffer): number | undefined {
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (bytes[at] === 0x45) return end;
    at = end;
  }
  return undefined;
}

// An ErrorResponse, and a ReadyForQuery in a transaction that failed (PostgreSQL §54.7).
function refusalOf(severity: string): Uint8Array {
  const fields = `S${severity}\0V${severity}\0CXX000\0Mnot today\0\0`;
  return Buffer.concat([
    Buffer.from("E"),
    Buffer.from([0, 0, 0, fields.length + 4]),
    Buffer.from(fields),
    Buffer.from("Z\0\0\0\x05E"),
  ]);
}
