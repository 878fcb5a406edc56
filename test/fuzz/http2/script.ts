/** What random clients of HTTP/2 do, as data that fast-check makes and shrinks. */
import fc from "fast-check";

/** One frame, or a few that belong together. `on` counts the streams of the connection: 0 is its newest. */
export type Sent =
  | { readonly does: "get"; readonly path: string }
  /** HEADERS in pieces: one, and as many CONTINUATION. */
  | { readonly does: "get in pieces"; readonly path: string; readonly pieces: number; readonly isWhole: boolean }
  | { readonly does: "post"; readonly path: string }
  | { readonly does: "connect" }
  | {
      readonly does: "data";
      readonly on: number;
      readonly length: number;
      readonly ends: boolean;
      readonly pads: boolean;
    }
  | { readonly does: "trailers"; readonly on: number }
  | { readonly does: "reset"; readonly on: number; readonly code: number }
  | { readonly does: "window"; readonly on: number | "connection"; readonly by: number }
  | { readonly does: "settings"; readonly what: Settings }
  | { readonly does: "ping"; readonly times: number }
  | { readonly does: "goaway"; readonly code: number }
  | { readonly does: "again"; readonly on: number; readonly path: string }
  | { readonly does: "wrong"; readonly what: Wrong };

export type Settings = "ack" | "no window" | "wide window" | "short frames" | "no table" | "too wide" | "push";
export type Wrong =
  | "DATA on a stream that is idle"
  | "PUSH_PROMISE"
  | "CONTINUATION alone"
  | "a type that is unknown"
  | "PING of 7 bytes"
  | "RST_STREAM on 0"
  | "a frame past its limit"
  | "an even stream"
  | "HEADERS that are malformed"
  | "HEADERS that cannot be decoded"
  | "WINDOW_UPDATE past the limit"
  | "PRIORITY on itself";

/** One thing that the client of one connection does. */
export type Step =
  /** In one write. */
  | { readonly does: "send"; readonly frames: readonly Sent[]; readonly cutAt: number | undefined }
  /** The server has read what was sent. */
  | { readonly does: "turn" }
  | { readonly does: "wait"; readonly ms: number }
  | { readonly does: "stop reading" }
  | { readonly does: "read on" }
  | { readonly does: "half-close" }
  | { readonly does: "close" }
  | { readonly does: "reset" }
  /** The server stops, and another one starts. */
  | { readonly does: "restart" };

export interface Client {
  readonly isSecure: boolean;
  readonly begins: "open" | "no window" | "wide window";
  readonly steps: readonly Step[];
}

/** The clients of one round, which all act at the same time. */
export type Script = readonly Client[];

const gets = [
  "/ok",
  "/none",
  "/large",
  "/later",
  "/waits",
  "/throws",
  "/closes",
  "/closes/later",
  "/closes/stream",
  "/stream",
  "/stream/slow",
  "/stream/cut",
  "/stream/short",
  "/events",
  "/nowhere",
  "/é",
];
const posts = ["/size", "/upload", "/upload/slow", "/upload/some", "/ignored", "/ignored/later", "/ok", "/nowhere"];

const path = fc.constantFrom(...gets);
const on = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(5) });
const code = fc.constantFrom(0, 8, 8, 8, 1, 2, 5, 7, 11, 99);
const length = fc.constantFrom(0, 0, 1, 10, 1000, 16_384);

const frames: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 12, arbitrary: path.map((path) => ({ does: "get" as const, path })) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("get in pieces" as const),
      path,
      pieces: fc.integer({ min: 1, max: 10 }),
      isWhole: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.constantFrom(...posts).map((path) => ({ does: "post" as const, path })) },
  { weight: 2, arbitrary: fc.constant({ does: "connect" as const }) },
  {
    weight: 10,
    arbitrary: fc.record({
      does: fc.constant("data" as const),
      on,
      length,
      ends: fc.boolean(),
      pads: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: on.map((on) => ({ does: "trailers" as const, on })) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant("reset" as const), on, code }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("window" as const),
      on: fc.oneof(on, fc.constant("connection" as const)),
      by: fc.constantFrom(1, 1000, 65_535, 1_000_000, 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<Settings>("ack", "no window", "wide window", "short frames", "no table", "too wide", "push")
      .map((what) => ({ does: "settings" as const, what })),
  },
  { weight: 2, arbitrary: fc.constantFrom(1, 1, 3, 600).map((times) => ({ does: "ping" as const, times })) },
  { weight: 4, arbitrary: code.map((code) => ({ does: "goaway" as const, code })) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("again" as const), on, path }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<Wrong>(
        "DATA on a stream that is idle",
        "PUSH_PROMISE",
        "CONTINUATION alone",
        "a type that is unknown",
        "PING of 7 bytes",
        "RST_STREAM on 0",
        "a frame past its limit",
        "an even stream",
        "HEADERS that are malformed",
        "HEADERS that cannot be decoded",
        "WINDOW_UPDATE past the limit",
        "PRIORITY on itself",
      )
      .map((what) => ({ does: "wrong" as const, what })),
  },
);

const others = ["stop reading", "read on", "half-close", "close", "reset"] as const;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      does: fc.constant("send" as const),
      frames: fc.array(frames, { minLength: 1, maxLength: 12 }),
      // Bytes at the end that arrive with the next write, or never.
      cutAt: fc.oneof(
        { weight: 6, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
      ),
    }),
  },
  { weight: 8, arbitrary: fc.constant({ does: "turn" as const }) },
  { weight: 2, arbitrary: fc.constantFrom(1, 5, 20).map((ms) => ({ does: "wait" as const, ms })) },
  { weight: 4, arbitrary: fc.constantFrom(...others).map((does) => ({ does })) },
);

const client: fc.Arbitrary<Client> = fc.record({
  isSecure: fc.boolean(),
  begins: fc.oneof(
    { weight: 4, arbitrary: fc.constant("open" as const) },
    { weight: 1, arbitrary: fc.constantFrom("no window" as const, "wide window" as const) },
  ),
  steps: fc.oneof(
    { weight: 20, arbitrary: fc.array(step, { minLength: 1, maxLength: 8 }) },
    {
      weight: 1,
      arbitrary: fc
        .array(step, { minLength: 1, maxLength: 4 })
        .map((steps) => [...steps, { does: "restart" as const }]),
    },
  ),
});

export const script: fc.Arbitrary<Script> = fc.array(client, { minLength: 1, maxLength: 6 });
