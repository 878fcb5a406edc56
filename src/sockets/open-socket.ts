import { shouldYield, yieldToEventLoop } from "../async.ts";
import { keepAlive } from "../events/event-stream.ts";
import type { KeptAlive } from "../events/event-stream.ts";
import { WireEvent } from "../events/event.ts";
import { byteLength } from "../http/bytes.ts";
import { guarded, inBackground } from "../logging/raised.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Encoded, Message } from "./message.ts";
import { Unreadable, socketEndText } from "./socket.ts";
import type { Socket, SocketEnd, SocketHandler, SocketListener, SocketTransport } from "./socket.ts";

/** What an open socket has of its route and its server. */
interface SocketSetting<Client, Server> {
  readonly client: Message<Client>;
  readonly server: Message<Server>;
  readonly keepAliveMs: number;
  /** Bytes of a message. */
  readonly maxMessage: number;
  /** Says what is a bug of the application's, and changes nothing for its client. */
  readonly warn: (message: string) => void;
}

/** How long the other side may take to answer a close. */
const closingMs = 1000;
const maxReasonBytes = 123;
/** What may wait for the handler beside a message of the longest kind, where a runtime cannot stop reading. */
const maxWaitingBytes = 1_048_576;
/** What a message costs that has nothing in it. */
const emptyMessage = 64;

/** Who waits for a message: a `receive`, which is told the end in a result, or an iteration, by its own words. */
type SocketTaker<Client> =
  | { readonly of: "receive"; readonly resolve: (received: Result<Client, SocketEnd>) => void }
  | {
      readonly of: "iteration";
      readonly resolve: (result: IteratorResult<Client, undefined>) => void;
      readonly reject: (thrown: unknown) => void;
    };

// One for every message there is room for.
const sent: Promise<Result<void, never>> = /* @__PURE__ */ Promise.resolve(ok());

/** A socket over a runtime's own. */
export class OpenSocket<Client, Server> implements Socket<Client, Server>, SocketListener {
  readonly #link: SocketTransport;
  readonly #setting: SocketSetting<Client, Server>;
  /** Messages nobody asked for yet: one, and what a runtime had read before it could be held back. */
  readonly #inbox: (string | Uint8Array)[] = [];
  /** About how many bytes they are. */
  #waiting = 0;
  /** Who waits for a message, the first of them by itself: mostly it is the only one. */
  #taker: SocketTaker<Client> | undefined = undefined;
  readonly #otherTakers: SocketTaker<Client>[] = [];
  /** Undefined where the runtime sees to it. */
  readonly #keptAlive: KeptAlive | undefined;
  /** A ping went out, and nothing came since. */
  #isPinged = false;
  #closing: { readonly code: number; readonly reason: string } | undefined = undefined;
  #end: SocketEnd | undefined = undefined;
  readonly ended: Promise<SocketEnd>;
  #tellEnded: (end: SocketEnd) => void = () => {};

  constructor(link: SocketTransport, setting: SocketSetting<Client, Server>) {
    this.#link = link;
    this.#setting = setting;
    this.ended = new Promise((resolve) => (this.#tellEnded = resolve));
    if (link.ping !== undefined) this.#keptAlive = keepAlive(setting.keepAliveMs, () => this.#onQuiet());
    link.start(this);
  }

  receive(): Promise<Result<Client, SocketEnd>> {
    return new Promise((resolve) => this.#give({ of: "receive", resolve }));
  }

  send(message: Server | Encoded<Server>): Promise<Result<void, SocketEnd>> {
    if (message instanceof WireEvent) return this.#send(message.wire);
    const written = this.#setting.server.write(message as never);
    if (!written.ok) return Promise.reject(new Error(`a message that cannot be written: ${written.error}`));
    return this.#send(written.value);
  }

  #send(data: string | Uint8Array): Promise<Result<void, SocketEnd>> {
    if (this.#end !== undefined || this.#closing !== undefined) return Promise.resolve(error(this.#whyNot()));
    const room = this.#link.send(data);
    return room === true && !shouldYield() ? sent : this.#whenRoom(room);
  }

  async #whenRoom(room: boolean | Promise<boolean>): Promise<Result<void, SocketEnd>> {
    // What became of it is told next.
    if (!(await room)) return error(this.#end ?? (await this.ended));
    if (room === true || shouldYield()) await yieldToEventLoop();
    return ok();
  }

  async close({ code = 1000, reason = "" }: { readonly code?: number; readonly reason?: string } = {}): Promise<void> {
    if (this.#end !== undefined || this.#closing !== undefined) {
      await this.ended;
      return;
    }
    this.#closing = { code: this.#sendable(code), reason: this.#short(reason) };
    // Only once it is out: a client that is slow to take what was sent before it has the time of any send.
    await this.#link.close(this.#closing.code, this.#closing.reason);
    if (this.#end !== undefined) return;
    const late = guarded(this.#link, () => this.#lateClose());
    const timer = setTimeout(late, closingMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** By hand: a generator would cost a message three promises more. */
  [Symbol.asyncIterator](): AsyncIterator<Client, undefined> {
    return {
      next: () => new Promise((resolve, reject) => this.#give({ of: "iteration", resolve, reject })),
    };
  }

  message(data: string | Uint8Array): void {
    this.frame();
    if (this.#closing !== undefined) return;
    const frame = typeof data === "string" ? "text" : "binary";
    if (frame !== this.#setting.client.frame) {
      inBackground(this.close({ code: 1003, reason: "a kind of message this socket does not carry" }));
      return;
    }
    // Most runtimes have looked before it was read; the others have no limit of ours.
    const { maxMessage } = this.#setting;
    if (isLonger(data, maxMessage)) {
      inBackground(this.close({ code: 1009, reason: `a message longer than ${maxMessage} bytes` }));
      return;
    }
    const taker = this.#taker;
    if (taker !== undefined) {
      this.#taker = this.#otherTakers.shift();
      this.#hand(taker, data);
      return;
    }
    this.#inbox.push(data);
    this.#waiting += data.length + emptyMessage;
    if (this.#link.pause !== undefined) this.#link.pause();
    else if (this.#waiting > this.#setting.maxMessage + maxWaitingBytes) {
      inBackground(this.close({ code: 1013, reason: "more messages than this socket can hold" }));
    }
  }

  frame(): void {
    this.#isPinged = false;
    this.#keptAlive?.heard();
  }

  closed(code: number, reason: string): void {
    // Of an answer to our own close, runtimes tell or do not: it is ours that counts.
    this.#over({ kind: "closed", code, reason, ...this.#closing });
  }

  lost(detail: string): void {
    this.#over(this.#closing === undefined ? { kind: "lost", detail } : { kind: "closed", ...this.#closing });
  }

  stopping(): void {
    inBackground(this.close({ code: 1001, reason: "The server is stopping." }));
  }

  /** Gives the next message, or the end, to whoever asked, now or when it is there. */
  #give(taker: SocketTaker<Client>): void {
    const data = this.#inbox.length > 0 ? this.#inbox.shift() : undefined;
    if (data !== undefined) {
      this.#waiting -= data.length + emptyMessage;
      if (this.#inbox.length === 0) this.#link.resume?.();
      this.#hand(taker, data);
    } else if (this.#end !== undefined) tellEnd(taker, this.#end);
    else if (this.#taker === undefined) this.#taker = taker;
    else this.#otherTakers.push(taker);
  }

  #hand(taker: SocketTaker<Client>, data: string | Uint8Array): void {
    const read = this.#setting.client.read(data);
    if (!read.ok) return tellEnd(taker, { kind: "unreadable", detail: read.error });
    const value = read.value as Client;
    if (taker.of === "receive") taker.resolve(ok(value));
    else taker.resolve({ done: false, value });
  }

  #onQuiet(): void {
    if (this.#inbox.length > 0 || !this.#isPinged) {
      // While its messages wait for the handler nothing is read, so that nothing is heard is not the client's doing; nor is
      // it heard that it went, but from what cannot be written to it.
      this.#isPinged = this.#inbox.length === 0;
      this.#link.ping?.();
      return;
    }
    // First, for a runtime tells of the connection's end at once.
    this.lost(`nothing heard for ${(2 * this.#setting.keepAliveMs) / 1000}s`);
    this.#link.terminate();
  }

  #lateClose(): void {
    this.lost("the close was not answered");
    this.#link.terminate();
  }

  #over(end: SocketEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#keptAlive?.end();
    if (this.#taker !== undefined) tellEnd(this.#taker, end);
    for (const taker of this.#otherTakers.splice(0)) tellEnd(taker, end);
    this.#taker = undefined;
    this.#tellEnded(end);
  }

  #whyNot(): SocketEnd {
    return this.#end ?? { kind: "closed", code: this.#closing?.code ?? 1000, reason: this.#closing?.reason ?? "" };
  }

  // RFC 6455 §7.4: the codes an endpoint may send.
  #sendable(code: number): number {
    const isSendable = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014].includes(code);
    if (isSendable || (Number.isInteger(code) && code >= 3000 && code <= 4999)) return code;
    this.#setting.warn(`closed a socket with the code ${code}, which none can send: it was sent 1011`);
    return 1011;
  }

  #short(reason: string): string {
    if (reason.isWellFormed() && new TextEncoder().encode(reason).byteLength <= maxReasonBytes) return reason;
    this.#setting.warn("closed a socket with a reason longer than 123 bytes, or no text: it was left out");
    return "";
  }
}

function isLonger(data: string | Uint8Array, max: number): boolean {
  if (data.length > max) return true;
  // A character is three bytes at the most.
  return typeof data === "string" && data.length * 3 > max && byteLength(data) > max;
}

function tellEnd<Client>(taker: SocketTaker<Client>, end: SocketEnd): void {
  if (taker.of === "receive") taker.resolve(error(end));
  else if (end.kind === "unreadable") taker.reject(new Unreadable(end.detail));
  else taker.resolve({ done: true, value: undefined });
}

/** What a socket has of the request that opened it. */
export interface SocketRequest {
  /** Runs work as part of the request: what it logs carries the request's id. */
  run<A>(work: () => A): A;
  /** Says what is a bug of the application's, and changes nothing for its client. */
  warn(message: string): void;
  raised(thrown: unknown): void;
  /** Said once. */
  ended(how: string): void;
}

/** Has a handler speak with the client, and closes the socket as what came of it says. Never rejects. */
export async function serveSocket<Client, Server>(
  link: SocketTransport,
  handler: SocketHandler<Client, Server>,
  setting: Omit<SocketSetting<Client, Server>, "warn">,
  request: SocketRequest,
): Promise<void> {
  const socket = new OpenSocket(link, { ...setting, warn: (message) => request.warn(message) });
  const spoken = await handled(handler, socket, request);
  await socket.close(closes[spoken]);
  const end = await socket.ended;
  request.ended(spoken === "raised" ? "its handler raised" : socketEndText(end));
}

/** What came of a handler. */
type ServedSocket = "returned" | "unreadable" | "raised";

const closes: { readonly [S in ServedSocket]: { readonly code: number; readonly reason: string } } = {
  returned: { code: 1000, reason: "" },
  unreadable: { code: 1007, reason: "A message this socket could not read." },
  raised: { code: 1011, reason: "Something went wrong at our end." },
};

async function handled<Client, Server>(
  handler: SocketHandler<Client, Server>,
  socket: OpenSocket<Client, Server>,
  request: SocketRequest,
): Promise<ServedSocket> {
  try {
    const returned: void | SocketEnd = await request.run(async () => handler(socket));
    return returned?.kind === "unreadable" ? "unreadable" : "returned";
  } catch (thrown) {
    if (thrown instanceof Unreadable) return "unreadable";
    request.raised(thrown);
    return "raised";
  }
}
