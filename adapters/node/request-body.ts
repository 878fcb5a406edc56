import type { IncomingMessage } from "node:http";
import { bodyTooLarge } from "../../src/doors/inputs.ts";
import { guarded } from "../../src/doors/logging.ts";
import type { Deadlines } from "../../src/doors/server.ts";
import { ArrivingBody } from "./arriving-body.ts";
import type { BodyUse } from "./arriving-body.ts";
import { connectionOf } from "./connection.ts";
import type { ConnectionBodyReader } from "./reading.ts";
import { leaveToStream, readFromParser } from "./private.ts";

/**
 * A body from `node:http`, from its parser or, where that is not possible, from the events of its request. Their own iterator costs more
 * for each part, and leaves a request that does not flow again for draining.
 */
export class IncomingBody extends ArrivingBody implements ConnectionBodyReader {
  readonly request: IncomingMessage;
  next: ConnectionBodyReader | undefined = undefined;
  readonly #isOurs: boolean;
  #sendContinue: (() => void) | undefined;
  #onPart: ((part: Buffer) => void) | undefined = undefined;
  #onEnd: (() => void) | undefined = undefined;

  /** @param isOurs No other code listens to the request's stream. */
  constructor(
    request: IncomingMessage,
    length: number | undefined,
    deadlines: Deadlines,
    isOurs: boolean,
    sendContinue: (() => void) | undefined,
  ) {
    super(length, deadlines);
    this.request = request;
    this.#isOurs = isOurs;
    this.#sendContinue = sendContinue;
  }

  /** Bytes still to arrive; undefined without a length. */
  get left(): number | undefined {
    return this.length === undefined ? undefined : this.length - this.received - this.request.readableLength;
  }

  /** Whether the rest may never arrive: the client got no `100 Continue`, or stopped, or sent an invalid body. */
  get isLost(): boolean {
    const { state } = this;
    return this.#sendContinue !== undefined || (state.at === "failed" && state.failure !== bodyTooLarge);
  }

  protected open(use: BodyUse): void {
    const { request } = this;
    if (use !== "rest") {
      this.#sendContinue?.();
      this.#sendContinue = undefined;
    }
    if (use !== "whole" || !this.#isOurs || !readFromParser(request)) this.#listen();
    connectionOf(request.socket).reading.addReader(this);
  }

  #listen(): void {
    const { request } = this;
    this.#onPart ??= guarded(request.socket, (part: Buffer) => this.take(part));
    this.#onEnd ??= guarded(request.socket, () => this.end());
    request.on("data", this.#onPart).on("end", this.#onEnd);
  }

  protected shut(hasEnded: boolean): void {
    const { request } = this;
    connectionOf(request.socket).reading.removeReader(this);
    if (hasEnded) return;
    if (this.#onPart === undefined) leaveToStream(request);
    else request.off("data", this.#onPart).off("end", this.#onEnd as () => void);
    request.pause();
  }

  protected resume(): void {
    this.request.resume();
  }

  protected pause(): void {
    this.request.pause();
  }

  /**
   * Whether Node does not read the connection, because responses to earlier requests wait for the client. That has a time limit of
   * its own, and is not charged to the body.
   */
  protected override get isHeldBack(): boolean {
    return this.request.socket.isPaused();
  }
}
