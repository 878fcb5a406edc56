import type { IncomingMessage } from "node:http";
import { joined, noRoom, tooLarge } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { connectionOf } from "./connections.ts";
import type { Deadline, Sweep } from "./sweep.ts";

const endedEarly: BodyFailure = { kind: "unreadable", detail: "the body ended early" };
const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };

/** A body as `node:http` brings it. Nothing is read, and the client not told to send it, before it is asked for. */
export class IncomingBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: IncomingMessage;
  readonly #sweep: Sweep;
  #sendContinue: (() => void) | undefined;
  #parts: AsyncIterator<Buffer> | undefined = undefined;

  constructor(
    request: IncomingMessage,
    length: number | undefined,
    sweep: Sweep,
    sendContinue: (() => void) | undefined,
  ) {
    this.length = length;
    this.#request = request;
    this.#sweep = sweep;
    this.#sendContinue = sendContinue;
  }

  async read(): Promise<Uint8Array | BodyFailure | undefined> {
    this.#begin();
    this.#parts ??= this.#request.iterator({ destroyOnReturn: false });
    const deadline = this.#sweep.body(() => this.#request.destroy());
    try {
      const { done, value } = await this.#parts.next();
      return done === true ? undefined : value;
    } catch {
      return deadline.passed ? tooSlow : endedEarly;
    } finally {
      deadline.clear();
    }
  }

  whole(limit: number, receiver: BodyReceiver): void {
    this.#begin();
    new Gathering(this.#request, this.#sweep, limit, receiver).start();
  }

  #begin(): void {
    this.#sendContinue?.();
    this.#sendContinue = undefined;
  }
}

/** One body being read whole: by its events, which cost a request a third of what its iterator does. */
class Gathering {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #receiver: BodyReceiver;
  readonly #deadline: Deadline;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #over = false;

  constructor(request: IncomingMessage, sweep: Sweep, limit: number, receiver: BodyReceiver) {
    this.#request = request;
    this.#limit = limit;
    this.#receiver = receiver;
    this.#deadline = sweep.body(() => this.#finish(tooSlow));
  }

  start(): void {
    this.#request.on("data", (part: Buffer) => this.#keep(part));
    this.#request.on("end", () => this.#finish(joined(this.#parts, this.#length)));
    // By a name, and not put straight in its place: V8 then makes the closure old at once, which keeps its whole request
    // until a full collection, and in some processes a POST cost twice.
    const cut = (): void => this.#finish(endedEarly);
    connectionOf(this.#request.socket).cut = cut;
  }

  #keep(part: Buffer): void {
    if (this.#over) return;
    this.#length += part.byteLength;
    this.#deadline.arrived(part.byteLength);
    if (this.#length > this.#limit) this.#stop(tooLarge);
    else if (this.#receiver.take(part.byteLength)) this.#parts.push(part);
    else this.#stop(noRoom);
  }

  // What is left on the wire is the writer's to drop, once the answer is out.
  #stop(failure: BodyFailure): void {
    this.#request.pause();
    this.#finish(failure);
  }

  #finish(read: Uint8Array | BodyFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline.clear();
    connectionOf(this.#request.socket).cut = undefined;
    this.#receiver.done(read);
  }
}
