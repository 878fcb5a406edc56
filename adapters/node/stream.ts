import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { StreamBody, StreamEnd } from "../../src/answers/answer.ts";
import { readParts } from "../../src/answers/parts.ts";
import type { Parts } from "../../src/answers/parts.ts";
import { connectionOf } from "./connection.ts";
import { lingerMs } from "./linger.ts";
import { hangUp, sendWithin } from "./sending.ts";
import type { Writing } from "./writing.ts";

/** Writes a body as it is made, never further ahead of the client than a part. */
export function stream(response: ServerResponse, body: StreamBody, writing: Writing): void {
  const connection = connectionOf(response.req.socket);
  connection.begins();
  if (body.length !== undefined) connection.sends(response);
  response.once("close", () => connection.streamed());
  response.flushHeaders();
  void new Streaming(response, body, writing).run();
}

class Streaming {
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #body: StreamBody;
  readonly #writing: Writing;
  readonly #parts: Parts;
  #isCut = false;
  /** Ends the wait for a part. */
  #wake: () => void = () => {};

  constructor(response: ServerResponse, body: StreamBody, writing: Writing) {
    this.#response = response;
    this.#socket = response.req.socket;
    this.#body = body;
    this.#writing = writing;
    this.#parts = readParts(body);
  }

  async run(): Promise<void> {
    const { streams } = this.#writing;
    // The connection's end and not the answer's: Node 20 tells that to the one answer whose turn it is.
    this.#socket.once("close", this.#cancel);
    if (this.#body.length === undefined) streams.add(this.#cut);
    let thrown: unknown;
    const how = await this.#write().catch((raised: unknown): StreamEnd => {
      thrown = raised;
      // Whoever is told that nobody reads any further may well raise.
      return this.#isOver() ? this.#gone() : "failed";
    });
    streams.delete(this.#cut);
    this.#socket.off("close", this.#cancel);
    this.#end(how);
    this.#body.request?.ended(how, thrown);
  }

  readonly #cancel = (): void => {
    this.#parts.cancel();
    this.#wake();
  };

  /** The server stops: what makes it is told, and what was written goes out. */
  readonly #cut = (): void => {
    this.#isCut = true;
    this.#cancel();
    hangUp(this.#response, this.#writing);
    const deadline = this.#writing.sweep.time(lingerMs, () => this.#socket.destroy());
    this.#socket.once("close", () => deadline.clear());
  };

  #end(how: StreamEnd): void {
    if (how === "finished") {
      sendWithin(this.#response, this.#writing);
      this.#response.end();
      return;
    }
    this.#parts.cancel();
    if (!this.#isOver()) hangUp(this.#response, this.#writing);
  }

  #write(): Promise<StreamEnd> {
    const { writeTo } = this.#body;
    return writeTo === undefined ? this.#writeParts() : this.#writeItself(writeTo);
  }

  /** Has the body write what it makes when it makes it: a wait for each part would cost an event as much as its writing. */
  #writeItself(writeTo: NonNullable<StreamBody["writeTo"]>): Promise<StreamEnd> {
    return new Promise((resolve, reject) => {
      // By a name, and not put straight in its place: V8 makes such a closure old at once.
      const wake = (): void => resolve(this.#gone());
      this.#wake = wake;
      writeTo({
        write: (part) => this.#isOver() || this.#response.write(part),
        room: async () => {
          await this.#drained();
          return !this.#isOver();
        },
        end: () => resolve(this.#isOver() ? this.#gone() : "finished"),
        fail: reject,
      });
    });
  }

  async #writeParts(): Promise<StreamEnd> {
    const { length } = this.#body;
    let left = length ?? Number.POSITIVE_INFINITY;
    for (let part = await this.#next(); part !== undefined; part = await this.#next()) {
      if (this.#isOver()) return this.#gone();
      const written = this.#response.write(part.subarray(0, left));
      if (part.byteLength > left) return "long";
      left -= part.byteLength;
      if (!written) await this.#drained();
    }
    if (this.#isOver()) return this.#gone();
    return length !== undefined && left > 0 ? "short" : "finished";
  }

  // What makes the parts may not hear that nobody waits for one any more: a generator that itself waits does not.
  #next(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const wake = (): void => resolve(undefined);
      this.#wake = wake;
      this.#parts.next().then(resolve, reject);
    });
  }

  #isOver(): boolean {
    return this.#isCut || this.#socket.destroyed;
  }

  #gone(): StreamEnd {
    if (this.#isCut) return "connection closed";
    return connectionOf(this.#socket).stoppedReading ? "client stopped reading" : "client gone";
  }

  /** Waits until the client took what was written, or its connection is closed. */
  #drained(): Promise<void> {
    const response = this.#response;
    const socket = this.#socket;
    if (socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        response.off("drain", settle);
        socket.off("close", settle);
        resolve();
      };
      sendWithin(response, this.#writing);
      response.once("drain", settle);
      socket.once("close", settle);
    });
  }
}
