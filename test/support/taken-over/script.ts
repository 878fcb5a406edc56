/** What clients do on connections that become a WebSocket or are taken over, and when the server stops. */
import fc from "fast-check";

const connections = 3;

/** How a handler speaks: the routes of `routes.ts`, each as a WebSocket and as a takeover. */
export type Handler = "echo" | "deaf" | "floods" | "raises" | "leaves";
const handlers = ["echo", "echo", "echo", "deaf", "floods", "raises", "leaves"] as const;

/** A WebSocket, or a protocol of the application's. */
export type Kind = "socket" | "taken";

export type Step = { readonly on: number } & (
  | {
      readonly does: "open";
      readonly kind: Kind;
      readonly handler: Handler;
      /** Answered only once it is let in. */
      readonly isLate: boolean;
    }
  | { readonly does: "say"; readonly text: string; readonly parts: number }
  | { readonly does: "send bytes" | "ping" | "close" | "break" | "half-close" | "reset" | "leave" }
  | { readonly does: "stop reading" | "read on" | "let in" | "turn" | "stop" }
);

const say = fc.record({
  does: fc.constant("say" as const),
  text: fc.constantFrom("", "hello", "x".repeat(120), "y".repeat(1000), "z".repeat(30_000)),
  parts: fc.constantFrom(1, 1, 2, 3),
});
const only = <D extends string>(...does: readonly D[]) => fc.constantFrom(...does).map((does) => ({ does }));

/** Scripts of connections of these kinds. */
export function scriptOf(...kinds: readonly Kind[]): fc.Arbitrary<readonly Step[]> {
  const open = fc.record({
    does: fc.constant("open" as const),
    kind: fc.constantFrom(...kinds),
    handler: fc.constantFrom(...handlers),
    isLate: fc.constantFrom(false, false, true),
  });
  const step: fc.Arbitrary<Step> = fc
    .tuple(
      fc.nat(connections - 1),
      fc.oneof(
        { weight: 3, arbitrary: open },
        { weight: 5, arbitrary: say },
        { weight: 3, arbitrary: only("ping", "send bytes", "close", "break") },
        { weight: 3, arbitrary: only("half-close", "reset", "leave") },
        { weight: 3, arbitrary: only("stop reading", "read on", "let in") },
        { weight: 6, arbitrary: only("turn") },
        { weight: 1, arbitrary: only("stop") },
      ),
    )
    .map(([on, step]) => ({ on, ...step }));
  // Each opens something first, so that most of what follows has a connection.
  const opened: fc.Arbitrary<readonly Step[]> = fc
    .tuple(...Array.from({ length: connections }, () => open))
    .map((opens) => opens.map((open, on) => ({ on, ...open })));
  return fc
    .tuple(opened, fc.array(step, { maxLength: 40, size: "max" }))
    .map(([opened, steps]) => [...opened, { on: 0, does: "turn" as const }, ...steps]);
}
