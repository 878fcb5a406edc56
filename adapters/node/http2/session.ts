import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { guarded } from "../../../src/doors/logging.ts";
import { takeSessionEnds } from "../private.ts";
import type { DestroyArguments, SessionEnds } from "../private.ts";

/** Where the end of a session is. */
export type Http2State =
  /** Requests are answered. */
  | { readonly at: "open" }
  /** GOAWAY is sent: no further request is answered, and the session ends with its last stream. */
  | { readonly at: "draining" }
  /** Node's `close` is called in a later turn. */
  | { readonly at: "close due" }
  /** Node's `close` sends what is left, and then calls `destroy`. */
  | { readonly at: "closing" }
  /** Node's `destroy` is called in a later turn. */
  | { readonly at: "destroy due"; readonly given: DestroyArguments }
  | { readonly at: "destroyed" }
  /** Node has emitted `close`. */
  | { readonly at: "closed" };

export type Http2Event =
  /** The client or the server ends the session once its streams have ended. */
  | { readonly what: "drain" }
  /** No stream is open any more. */
  | { readonly what: "quiet" }
  /** The session ends with its streams. */
  | { readonly what: "destroy"; readonly given: DestroyArguments }
  /** A later turn of the event loop. */
  | { readonly what: "turn" }
  | { readonly what: "closed" };

type At = Http2State["at"];

/** Every move. Any other event leaves the state as it is. */
export const moves: { readonly [at in At]: { readonly [what in Http2Event["what"]]?: At } } = {
  open: { drain: "draining", destroy: "destroy due", closed: "closed" },
  draining: { quiet: "close due", destroy: "destroy due", closed: "closed" },
  "close due": { turn: "closing", destroy: "destroy due", closed: "closed" },
  closing: { destroy: "destroy due", closed: "closed" },
  "destroy due": { turn: "destroyed", closed: "closed" },
  destroyed: { closed: "closed" },
  closed: {},
};

/**
 * The one owner of a session, which alone ends it, and in a later turn only. Node ends it inside a callback of nghttp2, which reads
 * on: DATA of a request behind the end aborts the process (Node 22), and a request behind it corrupts the heap (Node 20). See
 * https://github.com/nodejs/node/issues/64850.
 */
export class SessionOwner {
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #node: SessionEnds;
  readonly #ended: () => void;
  #state: Http2State = { at: "open" };
  /** The number of open streams. */
  #streams = 0;

  /** @param ended Called once Node ends the session: its client may take nothing any more, not even the GOAWAY. */
  constructor(session: ServerHttp2Session, socket: Socket, ended: () => void) {
    this.#session = session;
    this.#socket = socket;
    this.#ended = ended;
    this.#node = takeSessionEnds(session, {
      close: () => this.drain(),
      destroy: (...given) => this.#move({ what: "destroy", given }),
    });
    session.on(
      "close",
      guarded(undefined, () => this.#move({ what: "closed" })),
    );
  }

  /** Whether requests are answered. */
  get isOpen(): boolean {
    return this.#state.at === "open";
  }

  /** Whether its streams may end by themselves. */
  get isLive(): boolean {
    return this.isOpen || this.#state.at === "draining";
  }

  get hasStreams(): boolean {
    return this.#streams > 0;
  }

  streamBegan(): void {
    this.#streams++;
  }

  streamEnded(): void {
    this.#streams--;
    if (this.#streams === 0) this.#move({ what: "quiet" });
  }

  /** Takes no further request, and ends the session once its streams have ended. */
  drain(): void {
    this.#move({ what: "drain" });
    if (this.#streams === 0) this.#move({ what: "quiet" });
  }

  /** Ends the session with its streams. @param code Of its GOAWAY. */
  destroy(error: Error, code: number): void {
    this.#move({ what: "destroy", given: [error, code] });
  }

  #move(event: Http2Event): void {
    const before = this.#state;
    const at = moves[before.at][event.what];
    if (at === undefined) return;
    if (at === "destroy due") this.#state = { at, given: event.what === "destroy" ? event.given : [] };
    else this.#state = { at };
    this.#enter(this.#state, before);
  }

  #enter(state: Http2State, before: Http2State): void {
    switch (state.at) {
      case "draining":
        // Node only puts it into a queue of nghttp2's, which is sent before the next turn.
        if (!this.#session.destroyed) this.#session.goaway();
        return;
      case "close due":
      case "destroy due":
        setImmediate(guarded(this.#socket, () => this.#move({ what: "turn" })));
        return;
      case "closing":
        this.#node.close();
        return this.#ended();
      case "destroyed":
        this.#node.destroy(...(before.at === "destroy due" ? before.given : []));
        return this.#ended();
      case "open":
      case "closed":
    }
  }
}
