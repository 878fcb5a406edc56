import type { Socket } from "node:net";
import type { TakenConnection } from "../../src/answers/answer.ts";
import type { OpenedTakeover } from "../../src/app/exchange.ts";
import { shouldYield, yieldToEventLoop } from "../../src/async.ts";
import { guarded, inBackground } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import { linger } from "./closing.ts";

/** How often the system looks whether a quiet client is still there. */
const probeMs = 15_000;

/** What ends a connection that a handler speaks on. */
interface Bounds {
  readonly deadlines: Deadlines;
  readonly sendTimeoutMs: number;
}

/** A connection that an application speaks a protocol of its own on. */
export class Takeover {
  readonly #socket: Socket;
  readonly #bounds: Bounds;
  readonly #stopping = new AbortController();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined = undefined;
  /** What came with the request. */
  #head: Uint8Array | undefined;
  readonly #onData: (part: Buffer) => void;
  readonly #onEnd: () => void;
  readonly #onClose: () => void;
  /** Why it ended before its handler was done. */
  #why: string | undefined = undefined;

  constructor(socket: Socket, head: Buffer, bounds: Bounds) {
    this.#socket = socket;
    this.#head = head.length === 0 ? undefined : new Uint8Array(head);
    this.#bounds = bounds;
    this.#onData = guarded(socket, (part: Buffer) => this.#taken(part));
    this.#onEnd = guarded(socket, () => this.#ended());
    this.#onClose = guarded(socket, () => this.#closed());
    socket.pause();
    socket.setTimeout(0);
    // A client that vanished sends nothing, and neither does one whose protocol is quiet.
    socket.setKeepAlive(true, probeMs);
    socket.on("data", this.#onData).once("end", this.#onEnd).once("close", this.#onClose);
  }

  /** Has its handler speak, and ends it when that is done. Never rejects. */
  async runHandler({ handle, request }: OpenedTakeover): Promise<void> {
    const connection = this.#connection();
    try {
      await request.run(async () => handle(connection));
      request.ended(this.#why ?? "finished");
      this.#finish();
    } catch (thrown) {
      // Of a connection that is gone, whoever reads or writes raises: that is no bug.
      if (this.#why === undefined) request.raised(thrown);
      request.ended(this.#why ?? "its handler raised");
      this.#socket.destroy();
    }
  }

  /** The server stops. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Ends it whatever is said on it. */
  cut(): void {
    this.#why ??= "connection closed";
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
          // What comes is nobody's any more, and a client that is not read from would never be seen to go.
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
    this.#socket.pause();
    this.#controller?.enqueue(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  }

  #ended(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #closed(): void {
    this.#why ??= "client gone";
    this.#controller?.error(new Error(`the connection is closed: ${this.#why}`));
    this.#controller = undefined;
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
        // Its `close` may still be to come.
        this.#why ??= "client gone";
        reject(new Error(`the connection is closed: ${this.#why}`));
      };
      if (socket.destroyed) return failed();
      const written = (): void => {
        if (shouldYield()) inBackground(yieldToEventLoop().then(resolve));
        else resolve();
      };
      if (socket.write(part)) return written();
      // Node's time-out knows of every byte that was taken.
      const timedOut = guarded(socket, () => {
        this.#why ??= "client stopped reading";
        socket.destroy();
      });
      const settle = guarded(socket, () => {
        socket.off("drain", settle).off("close", settle).off("timeout", timedOut);
        socket.setTimeout(0);
        if (socket.destroyed) failed();
        else written();
      });
      socket.on("drain", settle).on("close", settle).on("timeout", timedOut);
      socket.setTimeout(this.#bounds.sendTimeoutMs);
    });
  }

  #finish(): void {
    if (this.#socket.destroyed) return;
    const { deadlines, sendTimeoutMs } = this.#bounds;
    this.#socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    // What is still to go out has the time that any answer has.
    if (this.#socket.writableLength > 0) this.#socket.setTimeout(sendTimeoutMs, destroy);
    linger(this.#socket, deadlines);
  }
}

function destroy(this: Socket): void {
  this.destroy();
}

/** The connections that applications speak on: the requests they came by are in flight until their handlers are done. */
export class Takeovers {
  readonly #open = new Set<Takeover>();
  #isStopping = false;
  #whenNone: (() => void) | undefined = undefined;

  get size(): number {
    return this.#open.size;
  }

  async track(taken: Takeover, handed: OpenedTakeover): Promise<void> {
    this.#open.add(taken);
    if (this.#isStopping) taken.stop();
    try {
      await taken.runHandler(handed);
    } finally {
      this.#open.delete(taken);
      if (this.#open.size === 0) this.#whenNone?.();
    }
  }

  /** Tells each handler that the server stops, one that is yet to speak included. */
  stop(): void {
    this.#isStopping = true;
    for (const taken of this.#open) taken.stop();
  }

  /** Resolves once all are done. */
  ended(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#whenNone = resolve));
  }

  cut(): void {
    for (const taken of this.#open) taken.cut();
  }
}
