import type { WireResponse } from "../app/exchange.ts";
import { readParts } from "../events/stream.ts";
import type { Parts, StreamBody, StreamEnd } from "../events/stream.ts";
import { attempt, inBackground } from "../logging/raised.ts";

/** What a listener does of its own while a body is sent. */
export interface StreamEvents {
  /** The runtime takes no more of a body once it has the length that was told, and does not hear that it was all. */
  readonly stopsAtLength: boolean;
  /** The next part is waited for, however long that takes; none is where this has ended the stream. */
  making(): void;
  /** A part is handed over: now it is the client that is waited for. */
  made(): void;
  /** Why the runtime takes no more of it. */
  cancelled(): StreamEnd;
  /** Nothing is sent any more. Only what is finished leaves a connection another answer can follow on. */
  ended(how: StreamEnd): void;
}

/** Whether an answer is a stream of events: it goes on until one side leaves, so a server that stops ends it at once. */
export function isEventStream({ head }: WireResponse): boolean {
  return head[0] === "content-type" && /^text\/event-stream\b/i.test(head[1] as string);
}

/** What a stream is broken off with. A runtime tells its own hook of it, and the log has been told. */
export const cut: Error = new Error("the stream was cut");

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** A body as a runtime's own stream takes it: a part when it asks for one, and never further ahead of the client. */
export class PulledStream {
  readonly #body: StreamBody;
  readonly #parts: Parts;
  readonly #sending: StreamEvents;
  #left: number;
  #opening: Uint8Array | undefined;
  /** What the opening went out before. */
  #first: Promise<Uint8Array | undefined> | undefined = undefined;
  #isOver = false;
  #controller: Controller | undefined = undefined;

  /** @param opening Bytes that mean nothing, to begin with where the first part is not at hand. */
  constructor(body: StreamBody, sending: StreamEvents, opening?: Uint8Array) {
    this.#body = body;
    this.#parts = readParts(body);
    this.#left = body.length ?? Number.POSITIVE_INFINITY;
    this.#sending = sending;
    this.#opening = opening;
  }

  get readable(): ReadableStream<Uint8Array> {
    return new ReadableStream(this, { highWaterMark: 0 });
  }

  start(controller: Controller): void {
    this.#controller = controller;
  }

  async pull(controller: Controller): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    try {
      this.#sending.making();
      if (this.#isOver) return;
      const next = this.#first ?? this.#next();
      this.#first = undefined;
      if (opening !== undefined && !(await isAtHand(next))) {
        this.#first = next;
        if (!this.#isOver) controller.enqueue(opening);
        return;
      }
      this.#send(controller, await next);
    } catch (thrown) {
      this.end("failed", thrown);
    }
  }

  cancel(): void {
    if (this.#left === 0 && this.#sending.stopsAtLength) inBackground(this.#rest());
    else attempt(undefined, () => this.end(this.#sending.cancelled()));
  }

  /** Ends it where it stands. */
  end(how: StreamEnd, thrown?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    attempt(undefined, () => this.#sending.ended(how));
    if (how !== "finished") inBackground(this.#parts.cancel());
    try {
      // What goes past its length is cut there, and its client has all that it was told of.
      if (how === "finished" || how === "long") this.#controller?.close();
      else this.#controller?.error(cut);
    } catch {
      // It was cancelled, which closed it.
    }
    this.#body.request?.ended(how, thrown);
  }

  /** The next part with anything in it. */
  async #next(): Promise<Uint8Array | undefined> {
    let part = await this.#parts.next();
    while (part?.byteLength === 0) part = await this.#parts.next();
    return part;
  }

  #send(controller: Controller, part: Uint8Array | undefined): void {
    if (this.#isOver) return;
    const isShort = this.#body.length !== undefined && this.#left > 0;
    if (part === undefined) return this.end(isShort ? "short" : "finished");
    const isLong = part.byteLength > this.#left;
    if (this.#left > 0) controller.enqueue(isLong ? part.subarray(0, this.#left) : part);
    if (isLong) return this.end("long");
    this.#left -= part.byteLength;
    this.#sending.made();
  }

  async #rest(): Promise<void> {
    const part = await this.#next().catch(() => undefined);
    this.end(part === undefined ? "finished" : "long");
  }
}

/** Whether it settles before anything else has its turn. */
function isAtHand(promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 0);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
