/** A connection to Redis or Valkey for scripts. */
import { createHash } from "node:crypto";
import { clearTimeout, setTimeout } from "node:timers";
import { createClient } from "redis";
import { closed } from "./closing.ts";

// How long the server may take to answer; also the interval of pings.
const connectMs = 5000;
const maxBackoffMs = 2000;

/** A script, and the digest by which the server knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

export class RedisConnection {
  readonly #client: ReturnType<typeof clientOf>;
  #closing: Promise<void> | undefined = undefined;

  constructor(url: string) {
    this.#client = clientOf(url);
    // Without a listener an error ends the process.
    this.#client.on("error", () => {});
  }

  get isReady(): boolean {
    return this.#client.isReady;
  }

  /** @throws Error if the server cannot be reached. */
  async connect(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), connectMs);
    try {
      await this.#client.connect();
    } finally {
      clearTimeout(timer);
    }
    // A client destroyed while its socket connects still connects.
    if (!this.#client.isOpen) {
      this.destroy();
      throw new Error(`the server did not answer within ${connectMs} ms`);
    }
    // The store alone must not keep the process running.
    this.#client.unref();
  }

  async run({ sha, text }: Script, key: string, given: string[]): Promise<unknown> {
    const options = { keys: [key], arguments: given };
    try {
      return await this.#client.evalSha(sha, options);
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.message.startsWith("NOSCRIPT"))) throw thrown;
      return this.#client.eval(text, options);
    }
  }

  destroy(): void {
    this.#client.destroy();
  }

  /** Ends it, and waits at most `waitMs` for its pending calls. */
  close(waitMs: number): Promise<void> {
    // The package's client refuses a second call while it waits.
    return (this.#closing ??= this.#close(waitMs));
  }

  async #close(waitMs: number): Promise<void> {
    if (!this.isReady) {
      this.destroy();
      return;
    }
    const timer = setTimeout(() => this.destroy(), waitMs);
    await closed(this.#client);
    clearTimeout(timer);
  }
}

function clientOf(url: string) {
  return createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    // Detects a server that stopped answering without closing the connection.
    pingInterval: connectMs,
    socket: {
      connectTimeout: connectMs,
      socketTimeout: 3 * connectMs,
      reconnectStrategy: (tries) => Math.min(maxBackoffMs, 50 * 2 ** Math.min(tries, 6)),
    },
  });
}
