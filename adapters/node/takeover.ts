import type { Socket } from "node:net";
import type { TakenConnection } from "../../src/doors/answers.ts";
import type { OpenedTakeover } from "../../src/app/exchange.ts";
import { shouldYield, unrefTimer, yieldToEventLoop } from "../../src/doors/base.ts";
import type { StreamEnd } from "../../src/doors/events.ts";
import { guarded, inBackground, isOfSignal } from "../../src/doors/logging.ts";
import { OpenThings } from "../../src/doors/server.ts";
import type { SendingState } from "../../src/doors/server.ts";
import { connectionOf, linger } from "./connection.ts";
import { SendWatch } from "./send-watch.ts";

/** How often the system probes whether a quiet client is still there. */
const probeMs = 15_000;
/** How long its handler may take to end it, once what an input checked is not valid any more. */
const lapsedMs = 1000;

/** A connection on which an application runs a protocol of its own. */
export class Takeover {
  readonly #socket: Socket;
  readonly #bounds: SendingState;
  readonly #stopping = new AbortController();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined = undefined;
  /** Bytes that arrived with the request. */
  #head: Uint8Array | undefined;
  /** Why it ended before its handler returned. */
  #endReason: StreamEnd | undefined = undefined;

  constructor(socket: Socket, head: Buffer, bounds: SendingState) {
    this.#socket = socket;
    this.#head = head.length === 0 ? undefined : new Uint8Array(head);
    this.#bounds = bounds;
    const received = guarded(socket, (part: Buffer) => this.#taken(part));
    const ended = guarded(socket, () => this.#ended());
    const closed = guarded(socket, () => this.#closed());
    socket.pause();
    socket.setTimeout(0);
    // A lost client sends nothing, but neither does one with a quiet protocol.
    socket.setKeepAlive(true, probeMs);
    socket.on("data", received).once("end", ended).once("close", closed);
  }

  /** Runs its handler, and ends the connection after it. Never rejects. */
  async runHandler({ handle, request }: OpenedTakeover): Promise<void> {
    const connection = this.#connection();
    request.lapses(() => {
      this.stop();
      unrefTimer(setTimeout(() => this.cut(), lapsedMs));
    });
    try {
      await request.run(async () => handle(connection));
      request.ended(this.#endReason ?? "finished");
      this.#finish();
    } catch (thrown) {
      // Reading or writing a lost connection throws, and so does a call that `stopping` ended: no bugs of the handler.
      if (isOfSignal(this.#stopping.signal, thrown)) this.#endReason ??= "server stopped";
      const isFault = request.raised(thrown, this.#endReason);
      request.ended(this.#endReason ?? (isFault ? "its handler raised" : "client gone"));
      this.#socket.destroy();
    }
  }

  /** The server stops. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Ends it at once. */
  cut(): void {
    this.#endReason ??= "server stopped";
    this.#socket.destroy();
  }

  #connection(): TakenConnection {
    return {
      readable: new ReadableStream<Uint8Array>(
        {
          start: (controller) => {
            this.#controller = controller;
          },
          pull: (controller) => this.#pull(controller),
          // Received bytes are dropped: a socket that is not read never shows that its client has gone.
          cancel: () => this.#forget(),
        },
        { highWaterMark: 0 },
      ),
      writable: new WritableStream<Uint8Array>({
        write: (part) => this.#write(part),
        close: () => {
          this.#socket.end();
        },
        abort: () => {
          this.#socket.destroy();
        },
      }),
      stopping: this.#stopping.signal,
    };
  }

  #pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const head = this.#head;
    this.#head = undefined;
    if (head === undefined) this.#socket.resume();
    else controller.enqueue(head);
  }

  #taken(part: Buffer): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#socket.pause();
    controller.enqueue(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  }

  #ended(): void {
    const controller = this.#controller;
    // A handler that has read nothing yet still reads what arrived with the request.
    if (controller !== undefined && this.#head !== undefined) this.#pull(controller);
    controller?.close();
  }

  #closed(): void {
    this.#endReason ??= "client gone";
    this.#controller?.error(new Error(`the connection is closed: ${this.#endReason}`));
  }

  #forget(): void {
    this.#controller = undefined;
    this.#head = undefined;
    this.#socket.resume();
  }

  /** Resolves once there is room for more. */
  #write(part: Uint8Array): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const failed = (): void => {
        // The `close` event may follow later.
        this.#endReason ??= "client gone";
        reject(new Error(`the connection is closed: ${this.#endReason}`));
      };
      if (socket.destroyed) return failed();
      const written = (): void => {
        if (shouldYield()) inBackground(yieldToEventLoop().then(resolve));
        else resolve();
      };
      const isBelow = socket.write(part);
      const { writing } = connectionOf(socket);
      writing.waits(socket.writableLength);
      if (isBelow) return written();
      const timedOut = guarded(socket, () => {
        this.#endReason ??= "client stopped reading";
        socket.destroy();
      });
      const sending = new SendWatch(socket, this.#bounds, timedOut);
      const settle = guarded(socket, () => {
        sending.stop();
        writing.waits(socket.writableLength);
        socket.off("drain", settle).off("close", settle).off("timeout", timedOut);
        socket.setTimeout(0);
        if (socket.destroyed) failed();
        else written();
      });
      socket.on("drain", settle).on("close", settle).on("timeout", timedOut);
      socket.setTimeout(this.#bounds.sendTimeoutMs);
      sending.start();
    });
  }

  #finish(): void {
    if (this.#socket.destroyed) return;
    const { deadlines, sendTimeoutMs } = this.#bounds;
    const controller = this.#controller;
    this.#forget();
    // Who still reads would wait for ever, and an end would say that nothing was lost.
    controller?.error(new Error("the connection is closed: its handler has returned"));
    // A client that reads nothing of the rest is dropped after `sendTimeoutMs`, as for any response.
    if (this.#socket.writableLength > 0) this.#socket.setTimeout(sendTimeoutMs, destroy);
    linger(this.#socket, deadlines);
  }
}

function destroy(this: Socket): void {
  this.destroy();
}

/** The taken connections. Their requests are in flight until their handlers end. */
export class Takeovers extends OpenThings<Takeover> {
  constructor() {
    super((taken) => taken.stop());
  }

  async track(taken: Takeover, handed: OpenedTakeover): Promise<void> {
    this.add(taken);
    if (this.isStopping) taken.stop();
    try {
      await taken.runHandler(handed);
    } finally {
      this.remove(taken);
    }
  }

  cut(): void {
    this.each((taken) => taken.cut());
  }
}
