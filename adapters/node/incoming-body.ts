import type { IncomingMessage } from "node:http";
import { tooLarge } from "../../src/inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/inputs/body-source.ts";
import { BodyParts } from "./body-parts.ts";
import { Draining } from "./dropping.ts";
import { Gathering } from "./gathering.ts";
import type { Sweep } from "../../src/app/sweep.ts";

/** A body as `node:http` brings it. Nothing is read, and the client not told to send it, before it is asked for. */
export class IncomingBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: IncomingMessage;
  readonly #sweep: Sweep;
  readonly #isOurs: boolean;
  #sendContinue: (() => void) | undefined;
  #whole: Gathering | undefined = undefined;
  #parts: BodyParts | undefined = undefined;
  #draining: Draining | undefined = undefined;

  constructor(
    request: IncomingMessage,
    length: number | undefined,
    sweep: Sweep,
    isOurs: boolean,
    sendContinue: (() => void) | undefined,
  ) {
    this.length = length;
    this.#request = request;
    this.#sweep = sweep;
    this.#isOurs = isOurs;
    this.#sendContinue = sendContinue;
  }

  read(): Promise<Uint8Array | BodyFailure | undefined> {
    this.#begin();
    this.#parts ??= new BodyParts(this.#request, this.#sweep);
    return this.#parts.read();
  }

  whole(limit: number, receiver: BodyReceiver): void {
    this.#begin();
    this.#whole = new Gathering(this.#request, this.#sweep, limit, receiver);
    this.#whole.start(this.#isOurs);
  }

  /** Bytes that have not come yet; undefined where no length says how many. */
  get left(): number | undefined {
    if (this.length === undefined) return undefined;
    const taken = this.#whole?.received ?? this.#parts?.received ?? 0;
    return this.length - taken - this.dropped - this.#request.readableLength;
  }

  /** Bytes that came, and that nobody read. */
  get dropped(): number {
    return this.#draining?.dropped ?? 0;
  }

  /** Whether the rest is not to be waited for: the client was never told to send it, or stopped, or sent what is no body. */
  get isLost(): boolean {
    const failure = this.#whole?.failure ?? this.#parts?.failure;
    return this.#sendContinue !== undefined || (failure !== undefined && failure !== tooLarge);
  }

  /** The request is answered: the rest is the writer's to drop. */
  release(): void {
    this.#parts?.release();
    this.#draining?.stop();
  }

  /** Nobody reads it, or the rest of it. The client is not told to send it. */
  drain(): void {
    this.#draining ??= new Draining(this.#request, this.#sweep);
    this.#draining.start();
  }

  #begin(): void {
    this.#sendContinue?.();
    this.#sendContinue = undefined;
  }
}
