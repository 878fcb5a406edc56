import type { ServerHttp2Stream } from "node:http2";
import { endedEarly, gather } from "../../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../../src/inputs/body-source.ts";
import { guarded } from "../../../src/logging/raised.ts";
import type { Deadline, Deadlines, DeadlineListener } from "../../../src/server/deadlines.ts";

type PartRead = Uint8Array | BodyFailure | undefined;

const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };

/**
 * A body from a stream of HTTP/2. Before the first read nothing is read: a client may send as much as the stream's window, 64
 * KiB, which is held.
 */
export class Http2Body implements BodySource, DeadlineListener {
  readonly length: number | undefined;
  readonly #stream: ServerHttp2Stream;
  readonly #deadlines: Deadlines;
  readonly #sendContinue: (() => void) | undefined;
  #deadline: Deadline | undefined = undefined;
  #resolve: ((read: PartRead) => void) | undefined = undefined;
  #isOver = false;
  #failure: BodyFailure | undefined = undefined;

  constructor(
    stream: ServerHttp2Stream,
    length: number | undefined,
    deadlines: Deadlines,
    sendContinue: (() => void) | undefined,
  ) {
    this.length = length;
    this.#stream = stream;
    this.#deadlines = deadlines;
    this.#sendContinue = sendContinue;
  }

  /** The next part. Time without a pending read is not charged to the client. */
  read(): Promise<PartRead> {
    if (this.#deadline === undefined) this.#begin();
    if (this.#isOver) return Promise.resolve(this.#failure);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#deadline?.resume();
      this.#stream.resume();
    });
  }

  whole(limit: number, receiver: BodyReceiver): void {
    gather(() => this.read(), limit, receiver);
  }

  expire(): void {
    this.#end(tooSlow);
  }

  #begin(): void {
    const stream = this.#stream;
    this.#deadline = this.#deadlines.body(this);
    this.#deadline.pause();
    if (stream.destroyed) return this.#end(endedEarly);
    if (!stream.closed) this.#sendContinue?.();
    stream.on(
      "data",
      guarded(stream, (part: Buffer) => this.#take(part)),
    );
    stream.on(
      "end",
      // Node ends the body of a stream that was reset, too.
      guarded(stream, () => this.#end(stream.aborted ? endedEarly : undefined)),
    );
    stream.on(
      "close",
      guarded(stream, () => this.#end(endedEarly)),
    );
  }

  #take(part: Buffer): void {
    // The request is answered: the rest is dropped.
    if (this.#isOver) return;
    this.#stream.pause();
    this.#deadline?.arrived(part.byteLength);
    this.#deadline?.pause();
    this.#resolve?.(part);
  }

  #end(failure: BodyFailure | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#deadline?.clear();
    this.#resolve?.(failure);
  }
}
