/** A connection to Redis or Valkey for scripts. */
import { createHash } from "node:crypto";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { ErrorReply, createClient } from "redis";
import { closed, needsReadable } from "./closing.ts";

// How long the server may take to answer; also the interval of pings.
const connectMs = 5000;
const maxBackoffMs = 2000;

function backoffMs(tries: number): number {
  return Math.min(maxBackoffMs, 50 * 2 ** Math.min(tries, 6));
}

/** A script, and the digest by which the server knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** The code of an error that the server answered, as OOM or NOPERM; undefined where it did not answer. Its text may have a key. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof ErrorReply ? (/^[A-Z]+/.exec(thrown.message)?.[0] ?? "ERR") : undefined;
}

export class RedisConnection {
  readonly #client: ReturnType<typeof clientOf>;
  #isLate = false;
  #isClosed = false;
  #pings: ReturnType<typeof setInterval> | undefined = undefined;
  #reconnecting: ReturnType<typeof setTimeout> | undefined = undefined;
  #tries = 0;
  #closing: Promise<void> | undefined = undefined;

  /** @param connected Called once it is connected, and each time it is again. */
  constructor(url: string, connected: () => void = () => {}) {
    // Only the first connection is the package's own to try again: its timers keep the process running.
    this.#client = clientOf(url, (tries) => (this.#pings === undefined ? backoffMs(tries) : false));
    // Without a listener an error ends the process.
    this.#client.on("error", () => {
      // It is connected after an answer that it could not read, and would take each later one for that of the call before.
      if (this.#client.isReady) this.#client.destroy();
      this.#reconnect(backoffMs(this.#tries));
    });
    // A client destroyed while its socket connects still connects.
    this.#client.on("ready", () => {
      this.#tries = 0;
      if (this.#client.isOpen) connected();
      else this.destroy();
    });
  }

  get isReady(): boolean {
    return this.#client.isReady;
  }

  /** Whether a call is late. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /**
   * Whether it is connected and no call is late. Otherwise nothing should be sent that can be left out: calls would pile up, and as
   * `socketTimeout` counts what is written too, a server that stopped answering would not be left.
   */
  get isAnswering(): boolean {
    return this.isReady && !this.#isLate;
  }

  /** @throws Error if the server cannot be reached. */
  async connect(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), connectMs);
    try {
      await this.#client.connect();
    } finally {
      clearTimeout(timer);
    }
    if (!this.#client.isOpen) throw new Error(`the server did not answer within ${connectMs} ms`);
    // The store alone must not keep the process running. The package's own `pingInterval` would, until its next ping.
    this.#client.unref();
    this.#pings = setInterval(() => this.#ping(), connectMs).unref();
  }

  /** Rejects where the server is away, or does not answer within `waitMs`. */
  run(script: Script, key: string, given: string[], waitMs: number): Promise<unknown> {
    return this.#inTime(this.#run(script, key, given), waitMs);
  }

  #inTime(call: Promise<unknown>, waitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#isLate = true;
        reject(new Error("the server is slow"));
      };
      const timer = setTimeout(late, waitMs);
      const settled = (): void => {
        clearTimeout(timer);
        this.#isLate = false;
      };
      call.finally(settled).then(resolve, reject);
    });
  }

  async #run(script: Script, key: string, given: string[]): Promise<unknown> {
    try {
      return await this.#eval(script, { keys: [key], arguments: given });
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.includes("READONLY")) this.#leaveReplica();
      throw thrown;
    }
  }

  async #eval({ sha, text }: Script, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
    try {
      return await this.#client.evalSha(sha, options);
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.message.startsWith("NOSCRIPT"))) throw thrown;
      return this.#client.eval(text, options);
    }
  }

  /** After a failover that left connections open: the server that took over is reached by the same name. */
  #leaveReplica(): void {
    if (this.#isClosed) return;
    this.#client.destroy();
    this.#reconnect(maxBackoffMs);
  }

  /** Connects again after a while, where it is neither connected nor connecting. */
  #reconnect(ms: number): void {
    if (this.#isClosed || this.#client.isOpen || this.#reconnecting !== undefined) return;
    this.#reconnecting = setTimeout(() => {
      this.#reconnecting = undefined;
      this.#tries++;
      // It is an "error" event, too.
      this.#client.connect().catch(() => {});
    }, ms).unref();
  }

  /** Detects a server that stopped answering without closing the connection. */
  #ping(): void {
    if (this.isAnswering) this.#inTime(this.#client.ping(), connectMs).catch(() => {});
  }

  destroy(): void {
    this.#isClosed = true;
    clearInterval(this.#pings);
    clearTimeout(this.#reconnecting);
    this.#client.destroy();
  }

  /** Ends it, and waits at most `waitMs` for its pending calls. */
  close(waitMs: number): Promise<void> {
    // The package's client refuses a second call while it waits.
    return (this.#closing ??= this.#close(waitMs));
  }

  async #close(waitMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pings);
    if (!this.isReady) {
      this.destroy();
      return;
    }
    const timer = setTimeout(() => this.destroy(), waitMs);
    await closed(this.#client);
    clearTimeout(timer);
  }
}

function clientOf(url: string, reconnectStrategy: (tries: number) => number | false) {
  needsReadable(url);
  return createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    // The package catches no error of a move that fails, which would end the process.
    maintNotifications: "disabled",
    socket: {
      connectTimeout: connectMs,
      socketTimeout: 3 * connectMs,
      reconnectStrategy,
    },
  });
}
