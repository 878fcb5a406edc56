/** A server from its start to its stop, worked out without one: what each connection sees, and how many answers are cut. */
import fc from "fast-check";

/** Longer than a test waits: the clock is held, and `pass` ends it. */
export const drainMs = 10_000;

/**
 * What a connection is for. `held` and `stream` wait for their gates with nothing and with half of their answers sent; `body`
 * lacks half of its body; an `opening` one is handed over when its gate opens; a `polite` takeover ends when the server stops and a `deaf` one at its gate; a `half` head and a
 * `silent` connection ask nothing.
 */
export type Kind =
  | "quick"
  | "held"
  | "body"
  | "stream"
  | "feed"
  | "socket"
  | "polite"
  | "deaf"
  | "opening"
  | "half"
  | "silent";
const kinds: readonly Kind[] = [
  "quick",
  "held",
  "body",
  "stream",
  "feed",
  "socket",
  "polite",
  "deaf",
  "opening",
  "half",
  "silent",
];

export type Step =
  | { readonly does: "connect"; readonly kind: Kind }
  /** One request more on a connection that is kept. */
  | { readonly does: "again"; readonly of: number }
  /** A gate opens, or the rest of a body comes. */
  | { readonly does: "let-go"; readonly of: number }
  | { readonly does: "leave"; readonly of: number }
  | { readonly does: "stop" }
  | { readonly does: "signal" }
  /** The app is not ready any more, and serves on. */
  | { readonly does: "drain" }
  /** A second server on the same port. */
  | { readonly does: "start-again" }
  /** Longer than `drainMs`. */
  | { readonly does: "pass" };

const of = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...kinds).map((kind) => ({ does: "connect" as const, kind })) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("let-go" as const), of }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom("again" as const, "leave" as const), of }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        "stop" as const,
        "stop" as const,
        "signal" as const,
        "drain" as const,
        "start-again" as const,
        "pass" as const,
      )
      .map((does) => ({ does })),
  },
);
export const script: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 1, maxLength: 20 });

/** One connection, as it should be. */
export class Held {
  readonly key: number;
  readonly kind: Kind;
  /** What its client should have seen, in this order. */
  readonly sees: string[] = [];
  isClosed = false;
  hasLeft = false;
  isLetGo = false;
  /** Its handler is not done, or its answer is not whole. */
  isUnderWay: boolean;

  constructor(key: number, kind: Kind) {
    this.key = key;
    this.kind = kind;
    this.isUnderWay = !["quick", "half", "silent"].includes(kind);
    const begun: { readonly [K in Kind]?: string } = {
      quick: "ok",
      stream: "one",
      feed: "text/event-stream",
      socket: "101 Switching Protocols",
      polite: "101 Switching Protocols",
      deaf: "101 Switching Protocols",
    };
    const seen = begun[kind];
    if (seen !== undefined) this.sees.push(seen);
  }

  /** A stopping server waits for it. */
  get keepsServer(): boolean {
    return this.isUnderWay && (["held", "body", "stream", "deaf"].includes(this.kind) || this.isOpening);
  }

  /** Its request waits to be handed over. */
  get isOpening(): boolean {
    return this.kind === "opening" && !this.isLetGo;
  }
}

export class Life {
  readonly all: Held[] = [];
  phase: "running" | "stopping" | "stopped" = "running";
  isReady = true;
  /** One signal stops it, also where it stops already: only the next one has its default effect. */
  hasSignal = false;
  /** What `stop()` answers, once it does. */
  cut: number | undefined = undefined;

  connect(kind: Kind): Held {
    const held = new Held(this.all.length, kind);
    this.all.push(held);
    return held;
  }

  /** Whether there is a connection that a request can be sent on. */
  canAsk(of: number): boolean {
    const held = this.all[of];
    return held !== undefined && !held.isClosed && !held.isUnderWay && !["half", "silent"].includes(held.kind);
  }

  again(of: number): void {
    this.all[of]?.sees.push("ok");
  }

  /** Whether a handler waits that can be released. */
  canLetGo(of: number): boolean {
    const held = this.all[of];
    if (held === undefined || held.isLetGo) return false;
    if (held.kind === "body") return held.isUnderWay;
    return ["held", "stream", "polite", "deaf", "opening"].includes(held.kind);
  }

  letGo(of: number): void {
    const held = this.all[of] as Held;
    held.isLetGo = true;
    if (!held.isUnderWay) return;
    held.isUnderWay = held.kind === "opening" && !held.hasLeft && this.phase === "running";
    if (held.hasLeft) return this.#settle();
    if (held.kind === "held") held.sees.push("held");
    if (held.kind === "body") held.sees.push("whole");
    if (held.kind === "stream") held.sees.push("two");
    if (held.kind === "opening") held.sees.push("101 Switching Protocols");
    held.isClosed = this.phase === "stopping" || held.kind === "polite" || held.kind === "deaf";
    if (held.isClosed && held.kind === "held") held.sees.push("connection: close");
    this.#settle();
  }

  leave(of: number): void {
    const held = this.all[of] as Held;
    held.hasLeft = true;
    held.isClosed = true;
    // What a handler does for a client that has gone is to be done all the same.
    if (!["held", "polite", "deaf"].includes(held.kind) && !held.isOpening) held.isUnderWay = false;
    this.#settle();
  }

  signal(): void {
    this.hasSignal = true;
    this.stop();
  }

  stop(): void {
    if (this.phase !== "running") return;
    this.phase = "stopping";
    this.isReady = false;
    for (const held of this.all) {
      if (held.keepsServer) continue;
      held.isUnderWay = false;
      held.isClosed = true;
    }
    this.#settle();
  }

  pass(): void {
    if (this.phase !== "stopping") return;
    const cut = this.all.filter(({ keepsServer }) => keepsServer);
    for (const held of cut) held.isClosed = true;
    // Whatever their handlers do from now on, the server does not wait for them.
    for (const held of cut) held.isUnderWay = false;
    this.phase = "stopped";
    this.cut = cut.length;
  }

  #settle(): void {
    if (this.phase !== "stopping" || this.all.some(({ keepsServer }) => keepsServer)) return;
    this.phase = "stopped";
    this.cut = 0;
  }
}
