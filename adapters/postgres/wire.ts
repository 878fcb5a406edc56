import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { PreparedRun } from "./prepared-run.ts";

// NoticeResponse, ParameterStatus, NotificationResponse: they come whenever the server likes (PostgreSQL §54.2.7).
const isUnasked = (type: number | undefined): boolean => type === 0x4e || type === 0x53 || type === 0x41;

/**
 * What the driver takes for its socket. It hears whole messages, and those alone that are its own: while a statement runs
 * that was prepared before, what the server says of it goes past the driver, which makes eight buffers and a list with
 * five members of its own of every row, and writes when the event loop has turned.
 */
export class Wire extends EventEmitter {
  readonly #socket: Socket;
  #run: PreparedRun | undefined = undefined;
  /** A message of which more is to come, and how long it is at least. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #neededBytes = 0;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#hear(bytes));
    socket.on("close", () => this.emit("close", false));
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  /** For the driver, whose connection is not full before its one statement is answered. */
  write(bytes: Uint8Array): boolean {
    return this.#socket.write(bytes);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Sends a statement of one's own; what is said from now on is read by it, until it has its answer. */
  begin(run: PreparedRun, bytes: Uint8Array): void {
    this.#run = run;
    this.#socket.write(bytes);
  }

  #hear(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#begunBytes > 0) {
      this.#begun.push(chunk);
      this.#begunBytes += chunk.length;
      if (this.#begunBytes < this.#neededBytes) return;
      bytes = Buffer.concat(this.#begun, this.#begunBytes);
    }
    try {
      this.#keep(bytes, this.#read(bytes));
    } catch {
      // It cannot be read, as a text that is longer than one may be: of what comes after it nothing is known.
      this.#socket.destroy();
    }
  }

  /** Reads every message that is whole; answers where the first begins that is not. */
  #read(bytes: Buffer): number {
    let at = 0;
    for (let end = endOf(bytes, 0); this.#run !== undefined && end <= bytes.length; end = endOf(bytes, at)) {
      if (isUnasked(bytes[at])) this.emit("data", bytes.subarray(at, end));
      else if (this.#run.read(bytes, at, end)) this.#run = undefined;
      at = end;
    }
    if (this.#run !== undefined) return at;
    const from = at;
    for (let end = endOf(bytes, at); end <= bytes.length; end = endOf(bytes, at)) at = end;
    if (at > from) this.emit("data", bytes.subarray(from, at));
    return at;
  }

  /** Holds on to what was begun from there. */
  #keep(bytes: Buffer, from: number): void {
    this.#begunBytes = bytes.length - from;
    if (this.#begunBytes === 0) {
      if (this.#begun.length > 0) this.#begun = [];
      return;
    }
    this.#begun = [bytes.subarray(from)];
    this.#neededBytes = endOf(bytes, from) - from;
  }
}

/** Where a message ends: its type, and its length without that. Of one whose length is not all there, where that ends. */
function endOf(bytes: Buffer, at: number): number {
  return bytes.length - at < 5 ? at + 5 : at + 1 + bytes.readUInt32BE(at + 1);
}
