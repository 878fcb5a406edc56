import { OpenStream } from "../../src/doors/events.ts";
import type { Deadline, DeadlineListener, Deadlines, SendingState, HeldBytes } from "../../src/doors/server.ts";

/** The length of a response that the system nearly always buffers although its client reads nothing. */
export const roomBytes = 262_144;

/** The longest part of a stream where more waits: of a client that takes nothing, Bun holds one until it is disconnected. */
const shortBytes = 16_384;

/** How soon Bun closes the connection of a client that takes nothing. It looks every four seconds. */
const cutSeconds = 1;

/** A request, as far as the response to it is held. */
interface HeldExchange {
  readonly server: {
    requestIP(request: Request): object | null;
    timeout(request: Request, seconds: number): void;
  };
  readonly request: Request;
}

/** The state of a listener that counts what Bun holds. */
interface HoldingState extends SendingState {
  /** The path of the listener's Unix socket. */
  readonly socket: string | undefined;
  /** In seconds. */
  readonly sendSeconds: number;
}

/**
 * What Bun holds until its client takes it or is disconnected.
 *
 * It cannot drop a whole response, and its stream has no `Content-Length`. Each one above 256 KiB is counted. Where they have no room in
 * the budget, the next one is sent in pieces, without `Content-Length`, as a stream.
 *
 * Of a stream that has failed it holds what its client has not taken, until its timer closes the connection.
 */
export class HeldResponses {
  readonly #state: HoldingState;
  readonly #held = new Set<HeldResponse>();

  constructor(state: HoldingState) {
    this.#state = state;
  }

  /** Whether a response that is longer than `roomBytes` can be sent whole. It is counted from now on, in its client network. */
  takes(exchange: HeldExchange, body: string | Uint8Array, network: string | undefined): boolean {
    const { unsent, socket, sendSeconds } = this.#state;
    // On a Unix socket Bun does not tell when a response is sent.
    if (socket !== undefined) return true;
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    let counted = unsent.hold(bytes, network);
    if (counted === undefined) {
      for (const held of this.#held) held.look();
      counted = unsent.hold(bytes, network);
    }
    if (counted === undefined) return false;
    this.#keep(exchange, counted, sendSeconds);
    return true;
  }

  /** The longest part of a stream that Bun gets now. */
  get longestPart(): number {
    return this.#state.unsent.isRoomy ? roomBytes : shortBytes;
  }

  /** A stream has failed because its client takes nothing: it is disconnected, and its last part is counted until then. */
  cut(exchange: HeldExchange, bytes: number, network: string | undefined): void {
    exchange.server.timeout(exchange.request, cutSeconds);
    const counted = this.#state.socket === undefined ? this.#state.unsent.hold(bytes, network) : undefined;
    if (counted !== undefined) this.#keep(exchange, counted);
  }

  #keep(exchange: HeldExchange, counted: HeldBytes, lateSeconds?: number): void {
    const { deadlines } = this.#state;
    const held = new HeldResponse(exchange, counted, deadlines, lateSeconds, () => this.#held.delete(held));
    this.#held.add(held);
  }
}

/** What Bun holds of one response. It does not say when it is sent: it forgets the address of the request then. */
class HeldResponse implements DeadlineListener {
  readonly #exchange: HeldExchange;
  readonly #counted: HeldBytes;
  readonly #nextLook: Deadline;
  readonly #onEnd: () => void;
  /** Undefined once it is set. */
  #lateSeconds: number | undefined;

  /** @param lateSeconds How long its client may take nothing, if it does not take all at once. */
  constructor(
    exchange: HeldExchange,
    counted: HeldBytes,
    deadlines: Deadlines,
    lateSeconds: number | undefined,
    onEnd: () => void,
  ) {
    this.#exchange = exchange;
    this.#counted = counted;
    this.#lateSeconds = lateSeconds;
    this.#onEnd = onEnd;
    this.#nextLook = deadlines.time(0, this);
  }

  expire(): void {
    if (!this.look()) return;
    this.#nextLook.restart();
    const seconds = this.#lateSeconds;
    if (seconds === undefined) return;
    // Not at once: after the response it stays set as the idle time-out of the connection.
    this.#lateSeconds = undefined;
    const { server, request } = this.#exchange;
    server.timeout(request, seconds);
  }

  /** Whether Bun holds it still. Frees what is counted where it does not. */
  look(): boolean {
    const { server, request } = this.#exchange;
    if (server.requestIP(request) !== null) return true;
    this.#nextLook.clear();
    this.#counted.free();
    this.#onEnd();
    return false;
  }
}

/** A whole body as a stream. */
export function asStream(body: string | Uint8Array): OpenStream {
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield typeof body === "string" ? Buffer.from(body) : body;
  }
  return new OpenStream({ kind: "stream", parts: parts() });
}
