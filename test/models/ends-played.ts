import { vi } from "vitest";
import type { App } from "usher-http";
import type { OpenedTakeover, WireResponse } from "../../src/app/exchange.ts";
import { CallExchange, answeredBy } from "../../src/testing/call.ts";
import { connects } from "./ends.ts";
import type { Fate, Features, Step } from "./ends.ts";
import type { SocketListener, SocketTransport } from "../../src/exchange/transport.ts";

/** The client of one request, and what else happens to it. */
export abstract class Played {
  readonly #fate: Fate;

  constructor(fate: Fate) {
    this.#fate = fate;
  }

  async does(step: Step): Promise<void> {
    if (step === "deadline") vi.advanceTimersByTime(70);
    else if (step === "middleware's second") vi.advanceTimersByTime(1100);
    else if (step === "body") this.send();
    else if (step === "body part") this.sendPart();
    else if (step === "read") this.read();
    else if (step === "leave") this.leave();
    else this.#fate.gates.get(step)?.open();
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
  }

  /** Resolves with the response, whose rest is read to its end. */
  abstract ended(): Promise<{ readonly status: number; readonly type: string | null }>;
  protected abstract send(): void;
  protected sendPart(): void {}
  protected abstract read(): void;
  protected abstract leave(): void;
}

export function playedOf(one: Features, app: App, fate: Fate): Played {
  return connects(one) ? new Connecting(one, app, fate) : new Fetching(one, app, fate);
}

/** A request by `app.fetch`. */
class Fetching extends Played {
  readonly #answer: Promise<Response>;
  readonly #leaving = new AbortController();
  #sending: ReadableStreamDefaultController<Uint8Array> | undefined = undefined;
  #response: Response | undefined = undefined;
  #isRead = false;
  #isSent = false;

  constructor(one: Features, app: App, fate: Fate) {
    super(fate);
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#sending = controller) });
    const headers = { "content-type": "application/json", ...(one.hasKey ? { "idempotency-key": '"k"' } : {}) };
    const sent = { method: one.method, headers, signal: this.#leaving.signal };
    const isWith = one.method === "POST" && one.readsBody;
    const request = new Request("http://h/x", isWith ? { ...sent, body, duplex: "half" } : sent);
    this.#answer = app.fetch(request).then((response) => (this.#response = response));
  }

  async ended(): Promise<{ readonly status: number; readonly type: string | null }> {
    const { status, headers } = await this.#answer;
    this.read();
    return { status, type: headers.get("content-type") };
  }

  protected send(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#sending?.enqueue(new TextEncoder().encode('"sent"'));
    this.#sending?.close();
  }

  protected read(): void {
    if (this.#isRead || this.#response === undefined) return;
    this.#isRead = true;
    this.#response.text().catch(() => {});
  }

  protected leave(): void {
    this.#leaving.abort();
    if (this.#isRead || this.#response === undefined) return;
    this.#isRead = true;
    this.#response.body?.cancel().catch(() => {});
  }
}

const offers = {
  socket: {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  },
  takeover: { connection: "Upgrade", upgrade: "lines" },
} as const;

/** A request that offers another protocol, by an exchange of the test. */
class Connecting extends Played {
  readonly #answer: Promise<WireResponse>;
  readonly #leaving = new AbortController();
  #sent: WireResponse | undefined = undefined;
  #isRead = false;
  /** Ends the open connection, as its client's leaving does. */
  #lose: () => void = () => {};

  constructor(one: Features, app: App, fate: Fate) {
    super(fate);
    const headers = offers[one.answers.endsWith("socket") ? "socket" : "takeover"];
    const exchange = new CallExchange("GET", "/x", { headers, gone: this.#leaving.signal }, undefined);
    this.#answer = Promise.resolve(app.answer(exchange)).then((sent) => (this.#sent = sent));
  }

  async ended(): Promise<{ readonly status: number; readonly type: string | null }> {
    const { status, head } = await this.#answer;
    this.read();
    return { status, type: head[0] === "content-type" ? (head[1] as string) : null };
  }

  protected send(): void {}

  protected read(): void {
    if (this.#isRead || this.#sent === undefined) return;
    this.#isRead = true;
    const { socket, takeover, body } = this.#sent;
    if (socket !== undefined) void socket.open(this.#link());
    else if (takeover !== undefined) void this.#hand(takeover);
    else if (body !== undefined) answeredBy(this.#sent, this.#leaving.signal).catch(() => {});
  }

  protected leave(): void {
    this.#leaving.abort();
    this.#lose();
    if (this.#isRead || this.#sent === undefined) return;
    this.#isRead = true;
    this.#sent.unsent?.();
  }

  /** A transport whose client answers a close at once. */
  #link(): SocketTransport {
    let heard: SocketListener | undefined;
    this.#lose = () => heard?.lost("the connection ended");
    return {
      start: (listener) => void (heard = listener),
      send: () => true,
      close: (code = 1005) => heard?.closed(code, ""),
      terminate: () => heard?.lost("the connection ended"),
    };
  }

  /** As a listener does it: a deadline, or the end of what an input checked, is a connection that ends. */
  async #hand({ handle, request }: OpenedTakeover): Promise<void> {
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#lose = () => controller.error(new Error("the client has gone"))),
    });
    const connection = { readable, writable: new WritableStream(), stopping: new AbortController().signal };
    request.lapses(this.#lose);
    try {
      await request.run(() => handle(connection));
      request.ended("finished");
    } catch (thrown) {
      request.ended(request.raised(thrown) ? "its handler raised" : "client gone");
    }
  }
}
