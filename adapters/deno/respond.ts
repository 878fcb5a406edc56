import { isStream } from "../../src/answers/answer.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { lengthAt, responseOf, tellsTypeAndId, unmade } from "../../src/app/web.ts";
import { readParts } from "../../src/events/stream.ts";
import type { StreamBody, StreamEnd } from "../../src/events/stream.ts";
import { guarded, inBackground } from "../../src/logging/raised.ts";
import type { Deadline, Deadlines } from "../../src/server/deadlines.ts";
import type { OpenSockets } from "../../src/server/lifecycle.ts";
import { PulledStream, isEventStream } from "../../src/server/stream.ts";
import type { StreamEvents } from "../../src/server/stream.ts";
import type { DenoExchange } from "./exchange.ts";
import type { DenoAddress, DenoRuntime, DenoServeOptions, DenoServer, DenoHandler } from "./runtime.ts";
import { upgrade } from "./socket.ts";

/** What the sending of an answer needs to know of its server. */
interface DenoServerState {
  readonly deadlines: Deadlines;
  readonly sendTimeoutMs: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
  /** The streams of events that are being sent, which end when the server stops. */
  readonly feeds: InFlight<Cuttable>;
  /** The other streams. */
  readonly streams: InFlight<Cuttable>;
  /** What the system may not have had room for yet: streams, and answers that are long. */
  readonly untaken: InFlight<Untaken>;
  readonly open: OpenSockets;
}

/**
 * Bytes of an answer that a system has room for though its client takes none of them, nearly always. What is longer goes out
 * as a stream, for of that alone Deno tells when it is out.
 */
const roomBytes = 262_144;

/** How long nothing is made of a stream before its client counts as one that takes what there is. */
const quietMs = 100;

/** An answer that is handed over, until the client has taken it whole or has gone. */
export class Untaken implements Cuttable {
  /** Since when its next part is made, and all before it taken. */
  #madeSince = Number.POSITIVE_INFINITY;

  making(): void {
    this.#madeSince = performance.now();
  }

  /** Its client has a part to take, or all that is left. */
  made(): void {
    this.#madeSince = Number.POSITIVE_INFINITY;
  }

  get isQuiet(): boolean {
    return performance.now() - this.#madeSince >= quietMs;
  }

  cut(): void {}
}

function untaken(exchange: DenoExchange, responding: DenoServerState): Untaken {
  const answer = new Untaken();
  const entry = responding.untaken.add(answer);
  exchange.whenTaken(() => responding.untaken.remove(entry));
  return answer;
}

/** An answer as Deno takes it. */
export function respond(exchange: DenoExchange, sent: WireResponse, responding: DenoServerState): Response {
  exchange.begun?.release();
  exchange.answered();
  if (sent.socket !== undefined && exchange.hasLeft) return new Response(null, { status: 400 });
  if (sent.socket !== undefined) return upgrade(exchange, sent, sent.socket, responding);
  const answer = toSend(sent, responding);
  const { body } = answer;
  if (!isStream(body)) {
    if (isHeadOfStream(exchange, answer)) return responseOf(answer, emptyStream());
    if (body === undefined || body.length <= roomBytes) return whole(answer);
    untaken(exchange, responding);
    return responseOf(answer, streamOf(body));
  }
  const among = isEventStream(answer) ? responding.feeds : responding.streams;
  return responseOf(answer, new DenoSender(exchange, body, responding, among).readable);
}

function toSend(sent: WireResponse, { stopping }: DenoServerState): WireResponse {
  if (!stopping && sent.status !== 205) return sent;
  const closes = sent.closes || stopping;
  // A 205 would go out with nothing that tells its end, and its client wait for ever.
  return sent.status === 205 ? { ...sent, status: 204, head: unframed(sent.head), closes } : { ...sent, closes };
}

/**
 * A type and an id, as nearly every answer has, are told from the start: Deno makes a Response ready for the wire where it
 * is made, and anew where a header is added. More of them cost as much one way as the other.
 */
function whole(answer: WireResponse): Response {
  const { status, head, body } = answer;
  const until = lengthAt(answer);
  if (!tellsTypeAndId(answer, until)) return responseOf(answer, undefined, until);
  const [, type = "", , id = ""] = head;
  const headers = { "content-type": type, "x-request-id": id };
  return new Response((body as string | Uint8Array<ArrayBuffer> | undefined) ?? null, { status, headers });
}

// To HEAD, Deno tells a length of 0 for an answer without a body, where GET has one of no length.
function isHeadOfStream({ method }: DenoExchange, { status, head }: WireResponse): boolean {
  return method === "HEAD" && status !== 204 && status !== 304 && head.at(-2) !== "content-length";
}

function streamOf(body: string | Uint8Array): ReadableStream<Uint8Array> {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(bytes);
    controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

const encoder: TextEncoder = new TextEncoder();

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 });
}

function unframed(head: readonly string[]): readonly string[] {
  return head.at(-2) === "content-length" ? head.slice(0, -2) : head;
}

/** Minds the client of a stream: Deno itself would wait for it for ever. */
class DenoSender implements StreamEvents, Cuttable {
  readonly stopsAtLength = true;
  readonly #exchange: DenoExchange;
  readonly #responding: DenoServerState;
  readonly #streaming: PulledStream;
  readonly #among: InFlight<Cuttable>;
  readonly #entry: PendingAnswer<Cuttable>;
  readonly #untaken: Untaken;
  #deadline: Deadline | undefined = undefined;

  constructor(exchange: DenoExchange, body: StreamBody, responding: DenoServerState, among: InFlight<Cuttable>) {
    this.#exchange = exchange;
    this.#responding = responding;
    this.#streaming = new PulledStream(body, this);
    this.#among = among;
    this.#entry = among.add(this);
    this.#untaken = untaken(exchange, responding);
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#streaming.readable;
  }

  making(): void {
    this.#deadline?.clear();
    this.#untaken.making();
    const { stopping, feeds } = this.#responding;
    // It was asked for while the server ran, and is answered when it does not any more.
    if (stopping && this.#among === feeds) this.cut();
  }

  made(): void {
    const { deadlines, sendTimeoutMs } = this.#responding;
    this.#untaken.made();
    this.#deadline = deadlines.time(sendTimeoutMs, this);
  }

  // Not at once: what comes of it may end other waits, and whoever looks at them is on the way from one to the next.
  expire(): void {
    queueMicrotask(guarded(undefined, () => this.#streaming.end("client stopped reading")));
  }

  cancelled(): StreamEnd {
    return "client gone";
  }

  ended(how: StreamEnd): void {
    this.#deadline?.clear();
    this.#untaken.made();
    this.#among.remove(this.#entry);
    if (how !== "finished") this.#exchange.left();
  }

  cut(): void {
    this.#streaming.end("connection closed");
  }
}

/** An answer that is still being made. */
export class Pending implements Cuttable {
  readonly response: Promise<Response>;
  readonly #exchange: DenoExchange;
  #resolve: (response: Response) => void = () => {};
  #isCut = false;

  constructor(exchange: DenoExchange) {
    this.#exchange = exchange;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** The client is still sending what it is waiting for. */
  get isReading(): boolean {
    return this.#exchange.begun?.isReading === true;
  }

  answer(sent: WireResponse, responding: DenoServerState): void {
    if (!this.#isCut) this.#resolve(this.#made(sent, responding));
    // Nobody will read it.
    else if (isStream(sent.body)) inBackground(readParts(sent.body).cancel());
  }

  /** There will be no answer: that is a bug of ours. */
  fail(thrown: unknown): void {
    this.#resolve(unmade(thrown));
  }

  #made(sent: WireResponse, responding: DenoServerState): Response {
    try {
      return respond(this.#exchange, sent, responding);
    } catch (thrown) {
      return unmade(thrown);
    }
  }

  /** Answers for the application that this will not be answered: Deno lets nobody close a connection. */
  cut(): void {
    this.#isCut = true;
    this.#exchange.left();
    this.#exchange.begun?.release();
    this.#resolve(new Response(null, { status: 503, headers: { connection: "close" } }));
  }
}

/** Something that a stopping server may have to end. */
export interface Cuttable {
  cut(): void;
}

/** What is under way: a ring, from which one is taken as quickly as it is put in, and which keeps nothing of it. */
export class InFlight<C extends Cuttable> {
  readonly #ends: PendingAnswer<C> = new PendingAnswer<C>(undefined);
  size = 0;

  add(cuttable: C): PendingAnswer<C> {
    const entry = new PendingAnswer<C>(cuttable);
    entry.putBefore(this.#ends);
    this.size++;
    return entry;
  }

  remove(entry: PendingAnswer<C>): void {
    if (entry.takeOut()) this.size--;
  }

  some(isIt: (cuttable: C) => boolean): boolean {
    for (let at = this.#ends.next; at.cuttable !== undefined; at = at.next) if (isIt(at.cuttable)) return true;
    return false;
  }

  cutAll(): void {
    for (let at = this.#ends.next; at.cuttable !== undefined; at = this.#ends.next) {
      this.remove(at);
      at.cuttable.cut();
    }
  }
}

/** One that is under way; without anything, the place where the ring begins and ends. */
class PendingAnswer<C> {
  readonly cuttable: C | undefined;
  next: PendingAnswer<C> = this;
  #before: PendingAnswer<C> = this;

  constructor(cuttable: C | undefined) {
    this.cuttable = cuttable;
  }

  putBefore(next: PendingAnswer<C>): void {
    this.next = next;
    this.#before = next.#before;
    next.#before.next = this;
    next.#before = this;
  }

  /** Whether it was in a ring. */
  takeOut(): boolean {
    if (this.next === this) return false;
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this;
    this.#before = this;
    return true;
  }
}

declare const Deno: DenoRuntime;

/** A server of Deno's, which is ended in one of two ways. */
export class Serving {
  readonly #server: DenoServer;
  readonly #aborting = new AbortController();
  /** Its last connection has gone. */
  isOver = false;
  #isEnding = false;

  constructor(options: Omit<DenoServeOptions, "signal">, handler: DenoHandler) {
    this.#server = Deno.serve({ ...options, signal: this.#aborting.signal }, handler);
    const over = (): void => {
      this.isOver = true;
    };
    inBackground(this.#server.finished.then(over, over));
  }

  get addr(): DenoAddress {
    return this.#server.addr;
  }

  /** Refuses new connections, and lets what is on the others come to its end. Nobody can close those any more. */
  shutdown(): void {
    if (this.#isEnding || this.isOver) return;
    this.#isEnding = true;
    // What it rejects with is told by `finished`, too.
    this.#server.shutdown().catch(() => {});
  }

  /** Closes every connection. Behind `shutdown`, or a second time, Deno would raise where nobody can catch it. */
  abort(): void {
    if (this.#isEnding || this.isOver) return;
    this.#isEnding = true;
    this.#aborting.abort();
  }

  /** Lets the process end while it listens. */
  unref(): void {
    this.#server.unref();
  }
}
