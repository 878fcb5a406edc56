import type { IncomingMessage } from "node:http";
import { joined, noRoom, tooLarge } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodySource } from "../../src/inputs/body-source.ts";
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

  whole(limit: number, take: (bytes: number) => boolean): Promise<Uint8Array | BodyFailure> {
    this.#begin();
    return new Promise((resolve) => new Gathering(this.#request, this.#sweep, limit, take, resolve));
  }

  #begin(): void {
    this.#sendContinue?.();
    this.#sendContinue = undefined;
  }
}

/** One body being read whole: by its events, which cost a request a third of what its iterator does. */
class Gathering {
  readonly #request: IncomingMessage;
  readonly #resolve: (read: Uint8Array | BodyFailure) => void;
  readonly #limit: number;
  readonly #take: (bytes: number) => boolean;
  readonly #deadline: Deadline;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(
    request: IncomingMessage,
    sweep: Sweep,
    limit: number,
    take: (bytes: number) => boolean,
    resolve: (read: Uint8Array | BodyFailure) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#limit = limit;
    this.#take = take;
    this.#deadline = sweep.body(() => this.#finish(tooSlow));
    request.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose).on("error", this.#onClose);
  }

  readonly #onData = (part: Buffer): void => {
    this.#length += part.byteLength;
    this.#deadline.arrived(part.byteLength);
    if (this.#length > this.#limit) this.#finish(tooLarge);
    else if (this.#take(part.byteLength)) this.#parts.push(part);
    else this.#finish(noRoom);
  };
  readonly #onEnd = (): void => this.#finish(joined(this.#parts, this.#length));
  // A body cut short closes without an end; the error that says so differs on each runtime.
  readonly #onClose = (): void => this.#finish(endedEarly);

  #finish(read: Uint8Array | BodyFailure): void {
    this.#deadline.clear();
    const request = this.#request;
    request.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    if (!request.complete) request.pause();
    this.#resolve(read);
  }
}
