import type { ServerHttp2Stream } from "node:http2";
import { bodyTooLarge, endedEarly, joined, noRoom, tooSlow } from "../../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../../src/inputs/body-source.ts";
import type { Deadline, Deadlines, DeadlineListener } from "../../../src/server/deadlines.ts";
import { endWithReset, guardedBy } from "./resets.ts";

type PartRead = Uint8Array | BodyFailure | undefined;

/** A body that is read whole. */
interface WholeRead {
  readonly limit: number;
  readonly receiver: BodyReceiver;
  readonly parts: Uint8Array[];
  length: number;
}

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
  #whole: WholeRead | undefined = undefined;
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
    if (this.#deadline === undefined) this.#begin().pause();
    if (this.#isOver) return Promise.resolve(this.#failure);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#deadline?.resume();
      this.#stream.resume();
    });
  }

  // Part by part, each with its promise and a pause of the stream, a short body took 4 µs more.
  whole(limit: number, receiver: BodyReceiver): void {
    this.#whole = { limit, receiver, parts: [], length: 0 };
    if (this.#deadline === undefined) this.#begin();
    else this.#stream.resume();
    if (this.#isOver) this.#gathered(this.#failure);
  }

  /** Its stream has closed: nothing more arrives. */
  streamClosed(): void {
    if (this.#deadline !== undefined) this.#end(endedEarly);
  }

  expire(): void {
    this.#end(tooSlow);
  }

  #begin(): Deadline {
    const stream = this.#stream;
    const deadline = this.#deadlines.body(this);
    this.#deadline = deadline;
    if (stream.destroyed) {
      this.#end(endedEarly);
      return deadline;
    }
    // Where nothing of it arrived before its end, Node has emitted that already.
    if (stream.readableEnded) {
      this.#end(stream.aborted ? endedEarly : undefined);
      return deadline;
    }
    // Node waits for the end of what is read no further, also after a reset without an error.
    endWithReset(stream);
    if (!stream.closed) this.#sendContinue?.();
    stream.on(
      "data",
      guardedBy(stream, (part: Buffer) => this.#take(part)),
    );
    stream.on(
      "end",
      // Node ends the body of a stream that was reset, too.
      guardedBy(stream, () => this.#end(stream.aborted ? endedEarly : undefined)),
    );
    return deadline;
  }

  #take(part: Buffer): void {
    // The request is answered: the rest is dropped.
    if (this.#isOver) return;
    this.#deadline?.arrived(part.byteLength);
    if (this.#whole !== undefined) return this.#gather(part, this.#whole);
    this.#stream.pause();
    this.#deadline?.pause();
    this.#resolve?.(part);
  }

  #gather(part: Buffer, whole: WholeRead): void {
    whole.length += part.byteLength;
    if (whole.length > whole.limit) return this.#refuse(bodyTooLarge);
    if (!whole.receiver.take(part.byteLength)) return this.#refuse(noRoom);
    whole.parts.push(part);
  }

  /** What still arrives waits for the answer, and is dropped with it. */
  #refuse(failure: BodyFailure): void {
    this.#stream.pause();
    this.#end(failure);
  }

  #end(failure: BodyFailure | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#deadline?.clear();
    this.#resolve?.(failure);
    this.#gathered(failure);
  }

  #gathered(failure: BodyFailure | undefined): void {
    const whole = this.#whole;
    this.#whole = undefined;
    whole?.receiver.done(failure ?? joined(whole.parts, whole.length));
  }
}
