/** A client that writes bytes and reads answers, with nothing between it and the wire. */
import { connect } from "node:net";
import type { Socket } from "node:net";

const open: RawClient[] = [];

/** Ends every client there is. */
export function leaveAll(): void {
  for (const client of open.splice(0)) client.leave();
}

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly version: string;
  readonly status: number;
  readonly phrase: string;
  /** Names as they were written, in order. */
  readonly head: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export class RawClient {
  readonly socket: Socket;
  /** Received bytes that are not read yet: joined when they are read, which is rare for an answer in many pieces. */
  #parts: Buffer[] = [];
  #length = 0;
  #closed = false;
  #wake = (): void => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (part: Buffer) => {
      this.#parts.push(part);
      this.#length += part.length;
      this.#wake();
    });
    socket.on("end", () => this.#wake());
    // A reset is a close like any other; bytes that arrived before it count.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#closed = true;
      this.#wake();
    });
  }

  get #bytes(): Buffer {
    const [only] = this.#parts;
    if (this.#parts.length === 1 && only !== undefined) return only;
    const joined = Buffer.concat(this.#parts);
    this.#parts = [joined];
    return joined;
  }

  set #bytes(left: Buffer) {
    this.#parts = [left];
    this.#length = left.length;
  }

  /** @param port A port, or the path of a Unix socket. */
  static async to(port: number | string, host = "127.0.0.1"): Promise<RawClient> {
    const where = typeof port === "string" ? { path: port } : { port, host };
    const socket = connect({ ...where, allowHalfOpen: true });
    const client = new RawClient(socket);
    open.push(client);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return client;
  }

  /** Lines end as they do on the wire; an empty text at the end of them ends a head. */
  send(...lines: readonly string[]): this {
    this.socket.write(Buffer.from(lines.join("\r\n"), "latin1"));
    return this;
  }

  /** A request with a `Host`, and a length where it has a body. */
  ask(line: string, headers: readonly string[] = [], body = ""): this {
    const length = body === "" ? [] : [`content-length: ${Buffer.byteLength(body, "latin1")}`];
    return this.send(`${line} HTTP/1.1`, "host: h", ...headers, ...length, "", body);
  }

  /** The next answer; `toHead` where it has no body whatever its head says. */
  async answer(options: { readonly toHead?: boolean } = {}): Promise<RawAnswer> {
    const end = await this.#until("a head", () => indexOf(this.#bytes, "\r\n\r\n"));
    const [line = "", ...fields] = this.#bytes.toString("latin1", 0, end).split("\r\n");
    this.#bytes = this.#bytes.subarray(end + 4);
    const [, version = "", status = "", phrase = ""] = /^(HTTP\/\d\.\d) (\d{3}) (.*)$/.exec(line) ?? [];
    const head = fields.map(
      (field) => [field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 1).trim()] as const,
    );
    const answered = { version, status: Number(status), phrase, head };
    const bodiless = options.toHead === true || answered.status < 200 || [204, 304].includes(answered.status);
    return { ...answered, body: bodiless ? "" : await this.#body(head) };
  }

  /** What is left of a body that was not framed, or was cut; waits for the end of the connection. */
  async rest(): Promise<string> {
    await this.closed();
    const text = this.#bytes.toString();
    this.#bytes = Buffer.alloc(0);
    return text;
  }

  /** The next received bytes, this many of them, one character each. */
  async bytes(length: number): Promise<string> {
    await this.#until(`${length} bytes`, () => (this.#length >= length ? true : undefined));
    const taken = this.#bytes.toString("latin1", 0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  /** The next frame of a WebSocket, which a server does not mask: its first byte, and a character for each byte of it. */
  async frame(): Promise<{ readonly first: number; readonly payload: string }> {
    await this.#until("a frame", () => (this.#length >= 2 ? true : undefined));
    const [first = 0, short = 0] = this.#bytes;
    const size = short < 126 ? 0 : short === 126 ? 2 : 8;
    await this.#until("the length of a frame", () => (this.#length >= 2 + size ? true : undefined));
    const length = size === 0 ? short : Number(`0x${this.#bytes.toString("hex", 2, 2 + size)}`);
    const end = 2 + size + length;
    await this.#until(`a frame of ${length} bytes`, () => (this.#length >= end ? true : undefined));
    const payload = this.#bytes.toString("latin1", 2 + size, end);
    this.#bytes = this.#bytes.subarray(end);
    return { first, payload };
  }

  /** Takes whatever comes from now on, and keeps none of it. */
  discard(): void {
    this.socket.removeAllListeners("data").resume();
    this.#bytes = Buffer.alloc(0);
  }

  /** Waits for the server to end the connection. */
  async closed(): Promise<void> {
    await this.#until("a close", () => (this.#closed || this.socket.readableEnded ? true : undefined));
  }

  /** Goes without a word. */
  leave(): void {
    // A Unix socket knows no reset.
    if (this.socket.remoteAddress === undefined) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  /** Ends its side, and listens on. */
  halfClose(): this {
    this.socket.end();
    return this;
  }

  /** Closes both its sides, as a program that ends does: to the server, no other than a half-close until it writes. */
  close(): void {
    this.socket.destroy();
  }

  /** Waits for a text on the wire, which stays there to be read. */
  async sees(text: string): Promise<void> {
    await this.#until(JSON.stringify(text), () => indexOf(this.#bytes, text));
  }

  async #body(head: RawAnswer["head"]): Promise<string> {
    const value = (name: string): string | undefined => head.find(([given]) => given.toLowerCase() === name)?.[1];
    if (value("transfer-encoding") === "chunked") return this.#chunks();
    const length = value("content-length");
    if (length === undefined) return this.rest();
    return this.#take(Number(length));
  }

  async #chunks(): Promise<string> {
    let body = "";
    for (;;) {
      const end = await this.#until("a chunk", () => indexOf(this.#bytes, "\r\n"));
      const size = Number.parseInt(this.#bytes.toString("latin1", 0, end), 16);
      this.#bytes = this.#bytes.subarray(end + 2);
      body += (await this.#take(size + 2)).slice(0, -2);
      if (size === 0) return body;
    }
  }

  async #take(length: number): Promise<string> {
    await this.#until(`${length} bytes`, () => (this.#length >= length ? true : undefined));
    const taken = this.#bytes.toString("utf8", 0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  #held(): string {
    const text = this.#bytes.toString();
    return text.length > 1000 ? `${text.length} characters` : JSON.stringify(text);
  }

  async #until<A>(what: string, look: () => A | undefined): Promise<A> {
    for (;;) {
      const seen = look();
      if (seen !== undefined) return seen;
      if (this.#closed || this.socket.readableEnded)
        throw new Error(`the connection ended before ${what}; it held ${this.#held()}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/**
 * What another client sent before is with a server in this process by the time that it answered this one, whatever
 * that answer is: the event loop is one.
 */
export async function turns(port: number | string): Promise<void> {
  const other = await RawClient.to(port);
  for (let i = 0; i < 5; i++) await other.ask("GET /a-turn").answer();
  other.leave();
}

/** The value of a header; undefined where it is not there, an error where it is there twice. */
export function header({ head }: RawAnswer, name: string): string | undefined {
  const values = head.flatMap(([given, value]) => (given.toLowerCase() === name ? [value] : []));
  if (values.length > 1) throw new Error(`${name} is there ${values.length} times`);
  return values[0];
}

function indexOf(bytes: Buffer, text: string): number | undefined {
  const at = bytes.indexOf(text, 0, "latin1");
  return at === -1 ? undefined : at;
}
