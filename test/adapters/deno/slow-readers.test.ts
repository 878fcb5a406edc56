/** The time limit of a stream for its client on Deno: the test takes the place of the runtime, and the clock is fake. */
import { beforeEach, expect, it, vi } from "vitest";
import type { DenoExchange } from "../../../adapters/deno/exchange.ts";
import { InFlight, denoResponse } from "../../../adapters/deno/respond.ts";
import { Deadlines } from "../../../src/server/deadlines.ts";
import type { App } from "../../../src/app/app.ts";
import { SendBudget } from "../../../src/server/send-budget.ts";
import { OpenSockets } from "../../../src/server/lifecycle.ts";
import { OpenStream } from "../../../src/events/open-stream.ts";

const sendTimeoutMs = 1000;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = ({ value }: { readonly value?: Uint8Array | undefined }): string => new TextDecoder().decode(value);

let reader: ReadableStreamDefaultReader<Uint8Array>;
let make: (part: string) => void;
let hasLeft: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  const deadlines = new Deadlines({ bodyTimeoutMs: sendTimeoutMs, minBodyRate: 1, sendTimeoutMs, minSendRate: 1 });
  deadlines.start();
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (;;) yield bytes(await new Promise<string>((resolve) => (make = resolve)));
  }
  hasLeft = false;
  const left = (): void => void (hasLeft = true);
  const exchange = { method: "GET", answered: () => {}, whenTaken: () => {}, left } as unknown as DenoExchange;
  const none = { eventStreams: new InFlight<never>(), streams: new InFlight<never>(), untaken: new InFlight<never>() };
  const unsent = new SendBudget({ sendBudget: 10, sendShare: 10 }, deadlines, () => {});
  const app = { networkOf: () => undefined } as unknown as App;
  const state = { app, deadlines, unsent, sendTimeoutMs, stopping: false, open: new OpenSockets(), ...none };
  const body = new OpenStream({ kind: "stream", parts: parts() });
  const sent = { status: 200, head: [], body, closes: false } as const;
  reader = (denoResponse(exchange, sent, state).body as ReadableStream<Uint8Array>).getReader();
  return () => {
    deadlines.stop();
    vi.useRealTimers();
  };
});

/** The next chunk of the client, which is generated now. */
async function reads(part: string): Promise<string> {
  const read = reader.read();
  await vi.advanceTimersByTimeAsync(0);
  make(part);
  return text(await read);
}

it("does not count while no chunk is ready, and starts again for each chunk", async () => {
  for (const part of ["one", "two", "three"]) {
    expect(await reads(part)).toBe(part);
    await vi.advanceTimersByTimeAsync(sendTimeoutMs / 2);
  }
  const last = reader.read();
  await vi.advanceTimersByTimeAsync(10 * sendTimeoutMs);
  make("last");
  expect([text(await last), hasLeft]).toEqual(["last", false]);
});

it("ends after sendTimeoutMs in which the client read nothing", async () => {
  await reads("one");
  await vi.advanceTimersByTimeAsync(2 * sendTimeoutMs);
  expect(hasLeft).toBe(true);
  await expect(reader.read()).rejects.toThrow("the stream was cut");
});
