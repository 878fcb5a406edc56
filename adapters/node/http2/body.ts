import type { ServerHttp2Stream } from "node:http2";
import { endedEarly } from "../../../src/doors/inputs.ts";
import type { Deadlines } from "../../../src/doors/server.ts";
import { ArrivingBody } from "../arriving-body.ts";
import { endWithReset, guardedBy } from "./resets.ts";

/**
 * A body from a stream of HTTP/2. Before the first read nothing is read: a client may send as much as the stream's window, 64
 * KiB, which is held.
 */
export class Http2Body extends ArrivingBody {
  readonly #stream: ServerHttp2Stream;
  readonly #awaitsContinue: boolean;

  constructor(stream: ServerHttp2Stream, length: number | undefined, deadlines: Deadlines, awaitsContinue: boolean) {
    super(length, deadlines);
    this.#stream = stream;
    this.#awaitsContinue = awaitsContinue;
  }

  protected open(): void {
    const stream = this.#stream;
    if (stream.destroyed) return this.breakOff();
    // Where nothing of it arrived before its end, Node has emitted that already.
    if (stream.readableEnded) return this.#ended();
    // Node waits for the end of what is read no further, also after a reset without an error.
    endWithReset(stream);
    if (this.#awaitsContinue && !stream.closed) stream.additionalHeaders({ ":status": 100 });
    stream.on(
      "data",
      guardedBy(stream, (part: Buffer) => this.#take(part)),
    );
    stream.on(
      "end",
      guardedBy(stream, () => this.#ended()),
    );
  }

  /** The stream is reset in a later turn, and may end before: a body that lacks this part is not whole. */
  #take(part: Buffer): void {
    try {
      this.take(part);
    } catch (thrown) {
      this.fail(endedEarly);
      throw thrown;
    }
  }

  #ended(): void {
    // Node ends the body of a stream that was reset, too.
    if (this.#stream.aborted) this.breakOff();
    else this.end();
  }

  /** What still arrives waits for the answer, and is dropped with it. */
  protected shut(hasEnded: boolean): void {
    if (!hasEnded) this.#stream.pause();
  }

  protected resume(): void {
    this.#stream.resume();
  }

  protected pause(): void {
    this.#stream.pause();
  }
}
