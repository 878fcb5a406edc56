/**
 * What Deno holds of a response whose client reads nothing: it ends no connection, and keeps the part that it got until the client reads or
 * goes. The test takes the place of the runtime, and the clock is fake.
 */
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { DenoExchange } from "../../../adapters/deno/exchange.ts";
import { InFlight, denoResponse } from "../../../adapters/deno/respond.ts";
import { Deadlines } from "../../../src/server/deadlines.ts";
import type { App } from "../../../src/app/app.ts";
import { SendBudget } from "../../../src/server/send-budget.ts";
import { OpenSockets } from "../../../src/server/lifecycle.ts";
import { OpenStream } from "../../../src/events/open-stream.ts";

const sendTimeoutMs = 1000;
const sendBudget = 8 * 1024 * 1024;
const length = 600_000;
const whole = Uint8Array.from({ length }, (_, i) => i % 251);

let unsent: SendBudget;
let taken: () => void;
let asks: (body: "whole" | "stream") => ReadableStreamDefaultReader<Uint8Array>;

beforeEach(() => {
  vi.useFakeTimers();
  const deadlines = new Deadlines({ bodyTimeoutMs: sendTimeoutMs, minBodyRate: 1, sendTimeoutMs, minSendRate: 1 });
  deadlines.start();
  unsent = new SendBudget({ sendBudget, sendShare: sendBudget }, deadlines, () => {});
  const acts: (() => void)[] = [];
  taken = () => acts.splice(0).forEach((act) => act());
  const whenTaken = (act: () => void): void => void acts.push(act);
  const exchange = {
    method: "GET",
    peer: "",
    answered: () => {},
    whenTaken,
    left: () => {},
  } as unknown as DenoExchange;
  const none = { eventStreams: new InFlight<never>(), streams: new InFlight<never>(), untaken: new InFlight<never>() };
  const app = { networkOf: () => undefined } as unknown as App;
  const state = { app, deadlines, unsent, sendTimeoutMs, stopping: false, open: new OpenSockets(), ...none };
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield whole;
  }
  asks = (kind) => {
    const body = kind === "whole" ? whole : new OpenStream({ kind: "stream", parts: parts() });
    const { body: stream } = denoResponse(exchange, { status: 200, head: [], body, closes: false }, state);
    return (stream as ReadableStream<Uint8Array>).getReader();
  };
  return () => {
    deadlines.stop();
    vi.useRealTimers();
  };
});

/** Makes other clients wait for bytes. */
function othersWait(bytes: number): void {
  unsent.of({ network: undefined, taken: undefined, cut: () => {} }).wait(bytes);
}

describe.each(["whole", "stream"] as const)("of a %s body", (kind) => {
  it("the last part counts after the time limit, until its client has taken it or has gone", async () => {
    othersWait(sendBudget / 4);
    const before = unsent.bytes;
    const reader = asks(kind);
    const { value } = await reader.read();
    expect(unsent.bytes).toBe(before + length);
    await vi.advanceTimersByTimeAsync(2 * sendTimeoutMs);
    expect(unsent.bytes).toBe(before + (value?.byteLength ?? 0));
    taken();
    expect(unsent.bytes).toBe(before);
  });

  it("the last part counts no more, where its client took it before the end was noticed", async () => {
    const reader = asks(kind);
    await reader.read();
    taken();
    await vi.advanceTimersByTimeAsync(2 * sendTimeoutMs);
    expect(unsent.bytes).toBe(0);
  });

  it("parts are short, and hold no more memory than their bytes, where more than an eighth of the budget waits", async () => {
    othersWait(sendBudget / 4);
    const reader = asks(kind);
    let at = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const { value } = part;
      expect([value.byteLength, value.buffer.byteLength]).toEqual(Array(2).fill(Math.min(16_384, length - at)));
      expect(Buffer.compare(value, whole.subarray(at, at + value.byteLength))).toBe(0);
      at += value.byteLength;
    }
    expect(at).toBe(length);
  });

  it("parts are of 256 KiB where little waits", async () => {
    expect((await asks(kind).read()).value?.byteLength).toBe(262_144);
  });
});
