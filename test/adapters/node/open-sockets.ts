/** Clients of WebSockets: `ws`, and one that sends single frames. */
import { connect } from "node:net";
import type { Socket as NetSocket } from "node:net";
import { WebSocket } from "ws";
import { Socket } from "usher-http";
import type { Route } from "usher-http";
import type { ServeOptions } from "usher-http/node";
import { endsWithTest } from "../../support/ends.ts";
import { gate, start } from "../../support/node-server.ts";

export const bytes = Socket.protocol({ client: Socket.binary, server: Socket.binary });

export const handshake = [
  "upgrade: websocket",
  "connection: Upgrade",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version: 13",
];

/** A client of the platform's kind, and the messages that it received. */
export async function open(
  routes: readonly Route[],
  path: string,
  options: ServeOptions = {},
  protocols: string[] = [],
) {
  const server = await start(routes, options);
  const client = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, protocols);
  const heard: (string | Buffer)[] = [];
  const closed = gate<readonly [code: number, reason: string]>();
  const opened = gate();
  client.on("open", () => opened.open());
  client.on("message", (data, isBinary) => heard.push(isBinary ? (data as Buffer) : String(data)));
  client.on("close", (code, reason) => closed.open([code, reason.toString()]));
  client.on("error", () => {});
  return { server, client, heard, opened: opened.passed, closed: closed.passed };
}

/** A client of frames, after its handshake. */
class Frames {
  readonly socket: NetSocket;
  #bytes = Buffer.alloc(0);
  #isClosed = false;
  #wake = (): void => {};

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.on("data", (part: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, part]);
      this.#wake();
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  send(bytes: Buffer | string): this {
    this.socket.write(bytes);
    return this;
  }

  /** The next received bytes, this many of them. */
  async bytes(length: number): Promise<Buffer> {
    await this.#until(() => this.#bytes.length >= length);
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  async head(): Promise<string> {
    await this.#until(() => this.#bytes.includes("\r\n\r\n"));
    return (await this.bytes(this.#bytes.indexOf("\r\n\r\n") + 4)).toString();
  }

  closed(): Promise<void> {
    return this.#until(() => this.#isClosed);
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#isClosed) throw new Error(`closed, with ${this.#bytes.toString("hex")} left`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

const clients: Frames[] = [];
endsWithTest(() => {
  for (const { socket } of clients.splice(0)) socket.destroy();
});

export async function framed(
  routes: readonly Route[],
  path: string,
  options: ServeOptions = {},
  headers: readonly string[] = [],
) {
  const server = await start(routes, options);
  const client = new Frames(server.port);
  clients.push(client);
  client.send(`GET ${path} HTTP/1.1\r\nhost: a\r\n${[...handshake, ...headers].join("\r\n")}\r\n\r\n`);
  return { server, client, head: (await client.head()).split("\r\n") };
}

/** A frame as a client sends it, masked with zeros. */
export function frame(first: number, payload: Buffer | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const size =
    length < 126 ? [0x80 | length] : [0x80 | 127, 0, 0, 0, 0, length >> 24, length >> 16, length >> 8, length];
  return Buffer.concat([Buffer.from([first, ...size, 0, 0, 0, 0]), bytes]);
}
