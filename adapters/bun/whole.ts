import type { StreamBody } from "../../src/events/stream.ts";
import type { Deadline, DeadlineListener } from "../../src/server/deadlines.ts";
import type { SendingState } from "../../src/server/pulled-unsent.ts";
import type { HeldBytes } from "../../src/server/send-budget.ts";

/** The length of a response that the system nearly always buffers although its client reads nothing. */
export const roomBytes = 262_144;

/** A request, as far as the response to it is held. */
interface HeldExchange {
  readonly server: {
    requestIP(request: Request): object | null;
    timeout(request: Request, seconds: number): void;
  };
  readonly request: Request;
}

/** The state of a listener that counts whole responses. */
interface WholeState extends SendingState {
  /** The path of the listener's Unix socket. */
  readonly socket: string | undefined;
  /** In seconds. */
  readonly sendSeconds: number;
}

/**
 * The long whole responses that Bun holds. It cannot drop one, and its stream has no `Content-Length`. So they are counted, and where they
 * have no room in the budget, the next one is sent in pieces, without `Content-Length`, as a stream.
 */
export class WholeResponses {
  readonly #state: WholeState;
  readonly #held = new Set<WholeResponse>();

  constructor(state: WholeState) {
    this.#state = state;
  }

  /** Whether a response that is longer than `roomBytes` can be sent whole. It is counted from now on, in its client network. */
  takes(exchange: HeldExchange, body: string | Uint8Array, network: string | undefined): boolean {
    const { unsent, socket } = this.#state;
    // On a Unix socket Bun does not tell when a response is sent.
    if (socket !== undefined) return true;
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    let counted = unsent.hold(bytes, network);
    if (counted === undefined) {
      for (const held of this.#held) held.look();
      counted = unsent.hold(bytes, network);
    }
    if (counted === undefined) return false;
    const held = new WholeResponse(exchange, counted, this.#state, () => this.#held.delete(held));
    this.#held.add(held);
    return true;
  }
}

/** A long response that Bun holds until it is sent. Bun does not say when: it forgets the address of the request then. */
class WholeResponse implements DeadlineListener {
  readonly #exchange: HeldExchange;
  readonly #counted: HeldBytes;
  readonly #nextLook: Deadline;
  readonly #sendSeconds: number;
  readonly #onEnd: () => void;
  #isLate = false;

  constructor(exchange: HeldExchange, counted: HeldBytes, { deadlines, sendSeconds }: WholeState, onEnd: () => void) {
    this.#exchange = exchange;
    this.#counted = counted;
    this.#sendSeconds = sendSeconds;
    this.#onEnd = onEnd;
    this.#nextLook = deadlines.time(0, this);
  }

  expire(): void {
    if (!this.look()) return;
    this.#nextLook.restart();
    if (this.#isLate) return;
    // Set only where its client does not take it at once: after the response it stays set as the idle time-out of the connection.
    this.#isLate = true;
    const { server, request } = this.#exchange;
    server.timeout(request, this.#sendSeconds);
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

/** A whole body in pieces. */
export function inPieces(body: string | Uint8Array): StreamBody & { readonly length: number } {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; at += roomBytes) yield bytes.subarray(at, at + roomBytes);
  }
  return { kind: "stream", parts: parts(), length: bytes.byteLength };
}
