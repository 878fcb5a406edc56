import { isStream } from "../../src/answers/answer.ts";
import type { StreamEnd } from "../../src/answers/answer.ts";
import type { Sent } from "../../src/app/exchange.ts";
import { responseOf } from "../../src/app/fetch.ts";
import { Streaming } from "../../src/app/streaming.ts";
import type { Sending } from "../../src/app/streaming.ts";
import type { BunExchange } from "./exchange.ts";

/** What the sending of an answer needs to know of its server. Seconds are whole, 255 at the most. */
export interface Responding {
  readonly idleSeconds: number;
  readonly sendSeconds: number;
  /** No further request is taken: every answer says so. */
  readonly stopping: boolean;
  /** Connections are closed now whoever waits on them. */
  readonly cutting: boolean;
}

/** An answer as Bun takes it. */
export function respond(exchange: BunExchange, sent: Sent, responding: Responding): Response {
  const { begun } = exchange;
  const { body } = sent;
  // Bun drops what is left of a body, however much that is; of one that stopped coming, nothing is waited for.
  const closes = sent.closes || responding.stopping || begun?.isLost === true;
  begun?.release();
  const answer = closes === sent.closes ? sent : { ...sent, closes };
  if (!isStream(body)) return responseOf(answer);
  const opening = sent.head[1] === "text/event-stream" ? emptyComment : undefined;
  return responseOf(answer, new Streaming(body, new Watch(exchange, responding), opening).readable);
}

// Bun keeps the end of a head until there is a part. Whoever subscribes waits for it, and may see no event for long.
const emptyComment: Uint8Array = new TextEncoder().encode(":\n\n");

/**
 * Has Bun's own time-out mind the client alone. It is set for the connection, and would otherwise end one whose stream
 * is quiet, or whose handler is slow.
 */
class Watch implements Sending {
  readonly stopsAtLength = false;
  readonly #exchange: BunExchange;
  readonly #responding: Responding;
  /** Since when the client is waited for. */
  #since = Number.POSITIVE_INFINITY;

  constructor(exchange: BunExchange, responding: Responding) {
    this.#exchange = exchange;
    this.#responding = responding;
  }

  making(): void {
    this.#since = Number.POSITIVE_INFINITY;
    this.#timeout(0);
  }

  made(): void {
    this.#since = performance.now();
    this.#timeout(this.#responding.sendSeconds);
  }

  cancelled(): StreamEnd {
    const { cutting, sendSeconds } = this.#responding;
    if (cutting) return "connection closed";
    return performance.now() - this.#since < sendSeconds * 1000 ? "client gone" : "client stopped reading";
  }

  ended(): void {
    this.#timeout(this.#responding.idleSeconds);
  }

  #timeout(seconds: number): void {
    this.#exchange.server.timeout(this.#exchange.request, seconds);
  }
}
