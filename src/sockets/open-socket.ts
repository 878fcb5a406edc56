import { counted } from "../counted.ts";
import { afterOthers, handled, shouldYield, yieldToEventLoop } from "../async.ts";
import { keepAlive } from "../events/event-stream.ts";
import type { KeptAlive } from "../events/event-stream.ts";
import { WireEvent } from "../events/event.ts";
import { byteLength } from "../http/bytes.ts";
import { guarded, inBackground, isA } from "../logging/raised.ts";
import { Queue } from "../queue.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { Unreadable, socketEndText } from "./socket.ts";
import type { AnyMessage, Encoded, Socket, SocketEnd, SocketHandler } from "./socket.ts";
import type { SocketListener, SocketRequest, SocketTransport } from "../exchange/transport.ts";

/** The settings of a socket's route and server. */
interface SocketSetting {
  /** The subprotocol that was chosen. */
  readonly subprotocol?: string | undefined;
  readonly client: AnyMessage;
  readonly server: AnyMessage;
  readonly keepAliveMs: number;
  /** In bytes. */
  readonly maxMessage: number;
  /** Logs a bug of the application that does not affect the client. */
  readonly warn: (message: string) => void;
}

/** How long the client may take to answer a Close frame. */
const closingMs = 1000;
const maxReasonBytes = 123;
/**
 * How many messages are read until others have a turn. Many arrive at once, and those who get them from a hub need more steps for
 * each than the reader: they would fall behind and be dropped, however fast they are.
 */
const readsPerTurn = 8;
/** How much may wait for the handler, besides one message of `maxMessage`, if the runtime cannot stop reading. */
const maxWaitingBytes = 1_048_576;
/** The same if it can: deflate makes up to 1,032 bytes of one, and what has arrived together is decompressed together. */
const maxInflatedBytes = 16_777_216;
/** About what an empty message takes in memory. */
const messageOverhead = 64;

/** A close by this side. */
interface Closing {
  readonly frame: { readonly code: number; readonly reason: string };
  /** How the end of the socket is logged. */
  readonly logged: "closed" | "server stopped";
}

/** A caller that waits for a message: `receive` gets the end in a result, an iteration as its end or as an error. */
type SocketReader<Client> = { readonly reject: (thrown: unknown) => void } & (
  | { readonly of: "receive"; readonly resolve: (received: Result<Client, SocketEnd>) => void }
  | { readonly of: "iteration"; readonly resolve: (result: IteratorResult<Client, undefined>) => void }
);

// One promise for every message that finds room at once.
const sent: Promise<Result<void, never>> = /* @__PURE__ */ Promise.resolve(ok());

/** A socket over a runtime's transport. */
export class OpenSocket<Client, Server> implements Socket<Client, Server>, SocketListener {
  readonly subprotocol: string | undefined;
  readonly #transport: SocketTransport;
  readonly #setting: SocketSetting;
  /** Unread messages: one, and those that the runtime had read before it was paused. */
  readonly #inbox = new Queue<string | Uint8Array>();
  /** The approximate size of the inbox. */
  #inboxBytes = 0;
  #reads = 0;
  /** The first waiting caller. There is rarely more than one, so the others have a list of their own. */
  #reader: SocketReader<Client> | undefined = undefined;
  readonly #otherReaders: SocketReader<Client>[] = [];
  /** Undefined if the runtime sends pings itself. */
  readonly #keptAlive: KeptAlive | undefined;
  /** Whether a ping was sent and nothing was received since. */
  #isPinged = false;
  /** The transport's progress when the client was last quiet, and whether there was any since the time before. */
  #progress: number | undefined = undefined;
  #wasMoving = false;
  #closing: Closing | undefined = undefined;
  #end: SocketEnd | undefined = undefined;
  /** The code that the runtime sent for an invalid frame. */
  #faultCode: number | undefined = undefined;
  readonly ended: Promise<SocketEnd>;
  #resolveEnded: (end: SocketEnd) => void = () => {};

  constructor(transport: SocketTransport, setting: SocketSetting) {
    this.#transport = transport;
    this.#setting = setting;
    this.subprotocol = setting.subprotocol;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    if (transport.ping !== undefined) this.#keptAlive = keepAlive(setting.keepAliveMs, () => this.#onQuiet());
    transport.start(this);
  }

  receive(): Promise<Result<Client, SocketEnd>> {
    return handled(new Promise((resolve, reject) => this.#read({ of: "receive", resolve, reject })));
  }

  send(message: Server | Encoded<Server>): Promise<Result<void, SocketEnd>> {
    if (message instanceof WireEvent) return this.#send(message.wire);
    const written = this.#setting.server.write(message as never);
    if (written.ok) return this.#send(written.value);
    this.#setting.warn("was given a message that its shape cannot write, which is not sent");
    return handled(Promise.reject(new Error(`a message that cannot be written: ${written.error}`)));
  }

  #send(data: string | Uint8Array): Promise<Result<void, SocketEnd>> {
    if (this.#end !== undefined || this.#closing !== undefined) return Promise.resolve(error(this.#currentEnd()));
    const room = this.#transport.send(data);
    return room === true && !shouldYield() ? sent : this.#whenRoom(room);
  }

  async #whenRoom(room: boolean | Promise<boolean>): Promise<Result<void, SocketEnd>> {
    // The end of the socket follows.
    if (!(await room)) return error(this.#end ?? (await this.ended));
    if (room === true || shouldYield()) await yieldToEventLoop();
    return ok();
  }

  async close({
    code = 1000,
    reason = "",
  }: { readonly code?: number | undefined; readonly reason?: string | undefined } = {}): Promise<void> {
    await this.#close(code, reason, "closed");
  }

  async #close(code: number, reason: string, logged: Closing["logged"]): Promise<void> {
    if (this.#end !== undefined || this.#closing !== undefined) {
      await this.ended;
      return;
    }
    const frame = { code: this.#sendableCode(code), reason: this.#sendableReason(reason) };
    this.#closing = { frame, logged };
    // The time-out starts once the Close frame is sent: a slow client first reads what was sent before, under the send time-out.
    const sent = this.#transport.close(frame.code, frame.reason);
    // The answer to it comes behind messages that no handler takes any more.
    this.#transport.resume?.();
    await sent;
    if (this.#end !== undefined) return;
    const late = guarded(this.#transport, () => this.#closeTimedOut());
    const timer = setTimeout(late, closingMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** Not a generator: that would cost three more promises per message. */
  [Symbol.asyncIterator](): AsyncIterator<Client, undefined> {
    return {
      next: () => handled(new Promise((resolve, reject) => this.#read({ of: "iteration", resolve, reject }))),
    };
  }

  message(data: string | Uint8Array): void {
    // A runtime that cannot end a connection may still deliver what a client sends that was given up.
    if (this.#end !== undefined) return;
    this.frame();
    if (this.#closing !== undefined) return;
    const frame = typeof data === "string" ? "text" : "binary";
    if (frame !== this.#setting.client.frame) {
      inBackground(this.close({ code: 1003, reason: "a kind of message this socket does not carry" }));
      return;
    }
    // Most runtimes check the size before they read; the others have no such setting.
    const { maxMessage } = this.#setting;
    if (isLonger(data, maxMessage)) {
      inBackground(this.close({ code: 1009, reason: `a message longer than ${counted(maxMessage, "byte")}` }));
      return;
    }
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = this.#otherReaders.shift();
      this.#deliver(reader, data);
      return;
    }
    this.#inbox.push(data);
    this.#inboxBytes += data.length + messageOverhead;
    this.#transport.pause?.();
    const room = this.#transport.pause === undefined ? maxWaitingBytes : maxInflatedBytes;
    if (this.#inboxBytes > this.#setting.maxMessage + room) {
      inBackground(this.close({ code: 1013, reason: "more messages than this socket can hold" }));
    }
  }

  frame(): void {
    this.#isPinged = false;
    this.#keptAlive?.noteActivity();
  }

  closed(code: number, reason: string): void {
    // workerd accepts any code. 1005 means that there was none.
    if (code !== 1005 && !isSendableCode(code)) return this.lost("a close with a code that none can send");
    // Some runtimes report the client's answer to our close, others our own code. Ours counts.
    this.#finish({ kind: "closed", code, reason, ...this.#closing?.frame });
  }

  lost(detail: string, code?: number): void {
    this.#faultCode = code;
    this.#finish(this.#closing === undefined ? { kind: "lost", detail } : { kind: "closed", ...this.#closing.frame });
  }

  /** The code of the Close frame that was sent or received; undefined if there was none. */
  get closeCode(): number | undefined {
    return this.#end?.kind === "closed" ? this.#end.code : this.#faultCode;
  }

  /** How a socket that has ended is logged. */
  endText(end: SocketEnd): string {
    return end.kind === "closed" ? (this.#closing?.logged ?? "closed") : socketEndText(end);
  }

  stopping(): void {
    inBackground(this.#close(1001, "The server is stopping.", "server stopped"));
  }

  /** Gives the reader the next message or the end, now or later. */
  #read(reader: SocketReader<Client>): void {
    const data = this.#inbox.shift();
    if (data !== undefined) {
      this.#inboxBytes -= data.length + messageOverhead;
      if (this.#inbox.length === 0) this.#transport.resume?.();
      this.#deliver(reader, data);
    } else if (this.#end !== undefined) deliverEnd(reader, this.#end);
    else if (this.#reader === undefined) this.#reader = reader;
    else this.#otherReaders.push(reader);
  }

  #deliver(reader: SocketReader<Client>, data: string | Uint8Array): void {
    if (++this.#reads % readsPerTurn === 0) afterOthers(() => this.#settle(reader, data));
    else this.#settle(reader, data);
  }

  #settle(reader: SocketReader<Client>, data: string | Uint8Array): void {
    let read: Result<unknown, string>;
    try {
      read = this.#setting.client.read(data);
    } catch (thrown) {
      // A shape's own function threw: the handler gets its error, as it would from any call.
      return reader.reject(thrown);
    }
    if (!read.ok) return deliverEnd(reader, { kind: "unreadable", detail: read.error });
    const value = read.value as Client;
    if (reader.of === "receive") reader.resolve(ok(value));
    else reader.resolve({ done: false, value });
  }

  #onQuiet(): void {
    const progress = this.#transport.progress?.();
    const isMoving = this.#isPinged && progress !== this.#progress;
    // The system takes what it sends in large steps.
    const hasMoved = isMoving || this.#wasMoving;
    this.#wasMoving = isMoving;
    this.#progress = progress;
    if (this.#inbox.length > 0 || !this.#isPinged || hasMoved) {
      // While messages wait for the handler nothing is read, and while a long one is on its way no answer can come: silence is
      // not the client's fault. A ping still shows a client that has gone: it cannot be written.
      this.#isPinged = this.#inbox.length === 0;
      this.#transport.ping?.();
      return;
    }
    // Before `terminate`, which may report the end at once.
    this.lost(`nothing heard for ${(2 * this.#setting.keepAliveMs) / 1000}s`);
    this.#transport.terminate();
  }

  #closeTimedOut(): void {
    this.lost("the close was not answered");
    this.#transport.terminate();
  }

  #finish(end: SocketEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#keptAlive?.end();
    if (this.#reader !== undefined) deliverEnd(this.#reader, end);
    for (const reader of this.#otherReaders.splice(0)) deliverEnd(reader, end);
    this.#reader = undefined;
    this.#resolveEnded(end);
  }

  #currentEnd(): SocketEnd {
    return this.#end ?? { kind: "closed", code: 1000, reason: "", ...this.#closing?.frame };
  }

  #sendableCode(code: number): number {
    if (isSendableCode(code)) return code;
    const given = typeof code === "number" ? `the code ${code}` : `a code of type ${typeof code}`;
    this.#setting.warn(`closed a socket with ${given}, which none can send: it was sent 1011`);
    return 1011;
  }

  #sendableReason(reason: string): string {
    if (reason.isWellFormed() && new TextEncoder().encode(reason).byteLength <= maxReasonBytes) return reason;
    this.#setting.warn("closed a socket with a reason longer than 123 bytes, or no text: it was left out");
    return "";
  }
}

function isLonger(data: string | Uint8Array, max: number): boolean {
  if (data.length > max) return true;
  // A UTF-16 unit has at most three bytes in UTF-8.
  return typeof data === "string" && data.length * 3 > max && byteLength(data) > max;
}

function deliverEnd<Client>(reader: SocketReader<Client>, end: SocketEnd): void {
  if (reader.of === "receive") reader.resolve(error(end));
  else if (end.kind === "unreadable") reader.reject(new Unreadable(end.detail));
  else reader.resolve({ done: true, value: undefined });
}

/** Whether an endpoint may send a code (RFC 6455 §7.4). */
function isSendableCode(code: number): boolean {
  if (!Number.isInteger(code)) return false;
  return (code >= 1000 && code <= 1014 && (code <= 1003 || code >= 1007)) || (code >= 3000 && code <= 4999);
}

/** Runs the handler and closes the socket with the code of its outcome. Never rejects. */
export async function serveSocket<Client, Server>(
  transport: SocketTransport,
  handler: SocketHandler<Client, Server>,
  setting: Omit<SocketSetting, "warn">,
  request: SocketRequest,
): Promise<void> {
  const socket = new OpenSocket<Client, Server>(transport, { ...setting, warn: (message) => request.warn(message) });
  request.expires(() => inBackground(socket.close({ code: 1001, reason: "The time of this socket is over." })));
  request.lapses(() => inBackground(socket.close({ code: 1008, reason: "Access to this socket has ended." })));
  const outcome = await runHandler(handler, socket, request);
  await socket.close(closes[outcome.kind]);
  const end = await socket.ended;
  request.ended(outcomeText(outcome, socket, end), socket.closeCode);
}

/** The outcome of a handler. */
type ServedSocket =
  | { readonly kind: "returned" }
  | { readonly kind: "raised" }
  | Extract<SocketEnd, { readonly kind: "unreadable" }>;

function outcomeText<C, S>(outcome: ServedSocket, socket: OpenSocket<C, S>, end: SocketEnd): string {
  if (outcome.kind === "raised") return "its handler raised";
  return outcome.kind === "unreadable" && end.kind === "closed" ? socketEndText(outcome) : socket.endText(end);
}

const closes: { readonly [S in ServedSocket["kind"]]: { readonly code: number; readonly reason: string } } = {
  returned: { code: 1000, reason: "" },
  unreadable: { code: 1007, reason: "A message this socket could not read." },
  raised: { code: 1011, reason: "Something went wrong at our end." },
};

async function runHandler<Client, Server>(
  handler: SocketHandler<Client, Server>,
  socket: OpenSocket<Client, Server>,
  request: SocketRequest,
): Promise<ServedSocket> {
  try {
    const returned: void | SocketEnd = await request.run(async () => handler(socket));
    return returned?.kind === "unreadable" ? returned : { kind: "returned" };
  } catch (thrown) {
    if (isA(Unreadable, thrown)) return thrown.end;
    return { kind: request.raised(thrown) ? "raised" : "returned" };
  }
}
