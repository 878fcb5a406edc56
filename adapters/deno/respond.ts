import { isStream } from "../../src/doors/answers.ts";
import type { App } from "../../src/doors/apps.ts";
import type { WireResponse } from "../../src/app/exchange.ts";
import { lengthAt, responseOf, tellsTypeAndId, unmade } from "../../src/doors/apps.ts";
import type { OpenStream, StreamEnd, StreamEvents } from "../../src/doors/events.ts";
import type { ValueReceiver } from "../../src/doors/base.ts";
import { inBackground } from "../../src/doors/logging.ts";
import { lingerMs, PulledUnsent } from "../../src/doors/server.ts";
import type { SendingState, HeldBytes, OpenSockets } from "../../src/doors/server.ts";
import { isEventStream } from "../../src/app/exchange.ts";
import { PulledStream, StreamCut } from "../../src/doors/events.ts";
import type { DenoExchange } from "./exchange.ts";
import type { DenoAddress, DenoRuntime, DenoServeOptions, DenoServer, DenoHandler } from "./runtime.ts";
import { afterLooks, upgrade } from "./socket.ts";

/** The server's state that a response needs while it is made. */
interface PendingState extends DenoServerState {
  readonly pending: InFlight<Pending>;
}

/** The server's state that responses need. */
interface DenoServerState extends SendingState {
  readonly app: App;
  /** No further request is accepted: every response closes its connection. */
  readonly stopping: boolean;
  /** The open event streams, which end when the server stops. */
  readonly eventStreams: InFlight<DenoSender>;
  /** The other open streams. */
  readonly streams: InFlight<DenoSender>;
  /** Responses that the client may not have read yet: streams, and long ones. */
  readonly untaken: InFlight<Untaken>;
  readonly open: OpenSockets;
}

/**
 * The length of a response that the system nearly always buffers although its client reads nothing. A longer one is sent as
 * a stream, because only for that Deno reports when it is sent.
 */
const roomBytes = 262_144;

/** The longest part where more waits: of a client that takes nothing, Deno holds one until it goes. */
const shortBytes = 16_384;

/** How long a stream may make nothing before its client counts as having read everything. */
const quietMs = 100;

/** A response that is being sent, until the client has read it or has gone. */
export class Untaken implements Cuttable {
  /** When the wait for its next part began, with all before it read. */
  #madeSince = Number.POSITIVE_INFINITY;

  making(): void {
    this.#madeSince = performance.now();
  }

  /** Its client has a part, or the rest, to read. */
  made(): void {
    this.#madeSince = Number.POSITIVE_INFINITY;
  }

  get isQuiet(): boolean {
    return performance.now() - this.#madeSince >= quietMs;
  }

  cut(): void {}
}

function untaken(exchange: DenoExchange, state: DenoServerState): Untaken {
  const answer = new Untaken();
  const entry = state.untaken.add(answer);
  exchange.whenTaken(() => state.untaken.remove(entry));
  return answer;
}

/** The `Response` for Deno. */
export function denoResponse(exchange: DenoExchange, sent: WireResponse, state: DenoServerState): Response {
  if (sent.readsBody !== true) exchange.begun?.release();
  exchange.answered();
  if (sent.socket !== undefined && exchange.hasLeft) {
    sent.unsent?.();
    return new Response(null, { status: 400 });
  }
  if (sent.socket !== undefined) return upgrade(exchange, sent, sent.socket, state);
  const answer = toSend(sent, state);
  const { body } = answer;
  if (!isStream(body)) {
    if (isHeadOfStream(exchange, answer)) return responseOf(answer, emptyStream());
    if (body === undefined || body.length <= roomBytes) return whole(answer);
    return responseOf(answer, new LongBody(exchange, body, state).readable);
  }
  const group = isEventStream(answer) ? state.eventStreams : state.streams;
  return responseOf(answer, new DenoSender(exchange, body, state, group).readable);
}

function toSend(sent: WireResponse, { stopping }: DenoServerState): WireResponse {
  if (!stopping && sent.status !== 205) return sent;
  const closes = sent.closes || stopping;
  // Deno would send a 205 without framing, and its client would wait forever.
  return sent.status === 205 ? { ...sent, status: 204, head: unframed(sent.head), closes } : { ...sent, closes };
}

/**
 * Nearly every response has only a type and an id, which are passed to the constructor: Deno prepares a `Response` there for
 * sending, and again for each header that is added. With more headers both ways cost the same.
 */
function whole(answer: WireResponse): Response {
  const { status, head, body } = answer;
  const until = lengthAt(answer);
  if (!tellsTypeAndId(answer, until)) return responseOf(answer, undefined, until);
  const [, type = "", , id = ""] = head;
  const headers = { "content-type": type, "x-request-id": id };
  return new Response((body as string | Uint8Array<ArrayBuffer> | undefined) ?? null, { status, headers });
}

// For HEAD, Deno sends `Content-Length: 0` for a response without a body, where GET has no length.
function isHeadOfStream({ method }: DenoExchange, { status, head }: WireResponse): boolean {
  return method === "HEAD" && status !== 204 && status !== 304 && head.at(-2) !== "content-length";
}

/**
 * The part that Deno has. Deno ends no connection of a client that reads nothing, and holds the part until that reads or goes, though the
 * stream has ended: it counts until then.
 */
class LastPart {
  readonly #unsent: SendingState["unsent"];
  #state: LastPartState = { at: "sending", bytes: 0 };

  constructor(exchange: DenoExchange, { unsent }: SendingState) {
    this.#unsent = unsent;
    exchange.whenTaken(() => this.#taken());
  }

  /** How long it may be. */
  get longest(): number {
    return this.#unsent.isRoomy ? roomBytes : shortBytes;
  }

  /** @param bytes Those that Deno holds for it. */
  made(bytes: number): void {
    if (this.#state.at === "sending") this.#state.bytes = bytes;
  }

  /** The stream has ended, and its client has not taken the part. */
  stays(network: string | undefined): void {
    const state = this.#state;
    if (state.at === "sending") this.#state = { at: "held", held: this.#unsent.hold(state.bytes, network) };
  }

  #taken(): void {
    if (this.#state.at === "held") this.#state.held?.free();
    this.#state = { at: "taken" };
  }
}

type LastPartState =
  | { readonly at: "sending"; bytes: number }
  | { readonly at: "held"; readonly held: HeldBytes | undefined }
  | { readonly at: "taken" };

type PieceController = ReadableStreamDefaultController<Uint8Array>;

/** A long whole body, of which Deno gets the next piece once its client has taken the one before: what Deno holds cannot be freed. */
class LongBody {
  readonly #exchange: DenoExchange;
  readonly #state: DenoServerState;
  /** Undefined once the client was given up: Deno keeps the stream. */
  #bytes: Uint8Array | undefined;
  readonly #unsent: PulledUnsent;
  readonly #last: LastPart;
  #controller: PieceController | undefined = undefined;
  /** The number of bytes that Deno has. */
  #at = 0;

  constructor(exchange: DenoExchange, body: string | Uint8Array, state: DenoServerState) {
    this.#exchange = exchange;
    this.#state = state;
    this.#bytes = typeof body === "string" ? encoder.encode(body) : body;
    this.#unsent = new PulledUnsent(state, this);
    this.#last = new LastPart(exchange, state);
    untaken(exchange, state);
    exchange.whenTaken(() => this.#unsent.ended());
  }

  get network(): string | undefined {
    return this.#state.app.networkOf(this.#exchange.peer, (name) => this.#exchange.lines(name));
  }

  get readable(): ReadableStream<Uint8Array> {
    return new ReadableStream(this, { highWaterMark: 0 });
  }

  pull(controller: PieceController): void {
    this.#controller = controller;
    const bytes = this.#bytes;
    if (bytes === undefined) return;
    this.#unsent.making();
    const left = bytes.byteLength - this.#at;
    if (left === 0) return controller.close();
    const { longest } = this.#last;
    const view = bytes.subarray(this.#at, this.#at + longest);
    // Of a view Deno holds all bytes behind it.
    const piece = longest < roomBytes ? new Uint8Array(view) : view;
    this.#at += piece.byteLength;
    controller.enqueue(piece);
    this.#last.made(piece.buffer.byteLength);
    this.#unsent.made(piece.byteLength, left);
  }

  cancel(): void {
    this.#unsent.ended();
  }

  stoppedReading(): void {
    this.#unsent.ended();
    this.#bytes = undefined;
    this.#last.stays(this.network);
    this.#controller?.error(new StreamCut("client stopped reading"));
  }
}

const encoder: TextEncoder = new TextEncoder();

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 });
}

function unframed(head: readonly string[]): readonly string[] {
  return head.at(-2) === "content-length" ? head.slice(0, -2) : head;
}

/** Applies the send timeout to a stream: Deno itself would wait forever. */
export class DenoSender implements StreamEvents, Cuttable {
  readonly stopsAtLength = true;
  readonly #exchange: DenoExchange;
  readonly #state: DenoServerState;
  readonly #streaming: PulledStream;
  readonly #group: InFlight<DenoSender>;
  readonly #entry: PendingAnswer<DenoSender>;
  readonly #untaken: Untaken;
  readonly #unsent: PulledUnsent;
  readonly #last: LastPart;

  constructor(exchange: DenoExchange, body: OpenStream, state: DenoServerState, group: InFlight<DenoSender>) {
    this.#exchange = exchange;
    this.#state = state;
    this.#streaming = new PulledStream(body, this);
    this.#group = group;
    this.#entry = group.add(this);
    this.#untaken = untaken(exchange, state);
    this.#unsent = new PulledUnsent(state, this);
    this.#last = new LastPart(exchange, state);
  }

  get network(): string | undefined {
    return this.#state.app.networkOf(this.#exchange.peer, (name) => this.#exchange.lines(name));
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#streaming.readable;
  }

  get longestPart(): number {
    return this.#last.longest;
  }

  making(): void {
    this.#unsent.making();
    this.#untaken.making();
    const { stopping, eventStreams } = this.#state;
    // It was requested while the server ran, and is answered after it stopped.
    if (stopping && this.#group === eventStreams) this.stop();
  }

  made(bytes: number, waiting: number): void {
    this.#untaken.made();
    this.#last.made(bytes);
    this.#unsent.made(bytes, waiting);
  }

  stoppedReading(): void {
    this.#streaming.end("client stopped reading");
  }

  cancelled(): StreamEnd {
    return "client gone";
  }

  ended(how: StreamEnd): void {
    this.#unsent.ended();
    // Its stream may have been made of it.
    this.#exchange.begun?.release();
    if (how === "client stopped reading") this.#last.stays(this.network);
    this.#untaken.made();
    this.#group.remove(this.#entry);
    if (how !== "finished") this.#exchange.left();
  }

  cut(): void {
    this.#streaming.end("server stopped");
  }

  /** The server stops. */
  stop(): void {
    this.#streaming.stopWithServer((expire) => this.#state.deadlines.time(lingerMs, { expire }));
  }
}

/** A response that is still being made. */
export class Pending implements Cuttable, ValueReceiver<WireResponse> {
  readonly response: Promise<Response>;
  readonly #exchange: DenoExchange;
  readonly #state: PendingState;
  readonly #entry: PendingAnswer<Pending>;
  #resolve: (response: Response) => void = ignore;
  #isCut = false;

  constructor(exchange: DenoExchange, state: PendingState) {
    this.#exchange = exchange;
    this.#state = state;
    this.response = new Promise((resolve) => (this.#resolve = resolve));
    this.#entry = state.pending.add(this);
  }

  /** Whether the client is still sending the body that the response waits for. */
  get isReading(): boolean {
    return this.#exchange.begun?.isReading === true;
  }

  pass(sent: WireResponse): void {
    if (sent.socket === undefined) this.#answer(sent);
    else afterLooks(() => this.#answer(sent));
  }

  /** There is no response, because of a bug of the framework. */
  fail(thrown: unknown): void {
    this.#state.pending.remove(this.#entry);
    this.#resolve(unmade(thrown));
  }

  #answer(sent: WireResponse): void {
    try {
      this.#state.pending.remove(this.#entry);
      if (!this.#isCut) this.#resolve(denoResponse(this.#exchange, sent, this.#state));
      else sent.unsent?.();
    } catch (thrown) {
      this.#resolve(unmade(thrown));
    }
  }

  /** Answers 503 in place of the application, because Deno cannot close a connection. */
  cut(): void {
    this.#isCut = true;
    this.#exchange.left();
    this.#exchange.begun?.release();
    this.#resolve(new Response(null, { status: 503, headers: { connection: "close" } }));
  }
}

function ignore(): void {}

/** Something that a stopping server may cut. */
export interface Cuttable {
  cut(): void;
}

/** Everything in flight, as a ring: adding and removing take the same time, and a removed entry is not kept. */
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

  some(matches: (cuttable: C) => boolean): boolean {
    for (let at = this.#ends.next; at.cuttable !== undefined; at = at.next) if (matches(at.cuttable)) return true;
    return false;
  }

  each(act: (cuttable: C) => void): void {
    for (let at = this.#ends.next; at.cuttable !== undefined;) {
      const { cuttable, next } = at;
      // It may leave meanwhile.
      at = next;
      act(cuttable);
    }
  }

  cutAll(): void {
    for (let at = this.#ends.next; at.cuttable !== undefined; at = this.#ends.next) {
      this.remove(at);
      at.cuttable.cut();
    }
  }
}

/** An entry; without a value it is the ring's anchor. */
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

/** A Deno server, which can be ended in one of two ways. */
export class Serving {
  readonly #server: DenoServer;
  readonly #aborting = new AbortController();
  /** Its last connection is closed. */
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

  /** Refuses new connections, and lets requests on the others end. Those can no longer be closed after this. */
  shutdown(): void {
    if (this.isOver) return;
    this.#isEnding = true;
    // `finished` rejects with the same error.
    this.#server.shutdown().catch(() => {});
  }

  /** Closes every connection. After `shutdown`, or a second time, Deno would throw where no code can catch it. */
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
