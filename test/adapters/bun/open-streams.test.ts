/** What a server on Bun counts as open: the test takes the place of the runtime. */
import { expect, it } from "vitest";
import { LateAnswer, bunResponse } from "../../../adapters/bun/respond.ts";
import { HeldResponses } from "../../../adapters/bun/held.ts";
import { compressStream } from "../../../adapters/compress/codings.ts";
import type { BunExchange } from "../../../adapters/bun/respond.ts";
import type { App } from "../../../src/app/app.ts";
import { Deadlines } from "../../../src/server/deadlines.ts";
import { SendBudget } from "../../../src/server/send-budget.ts";
import { EventStreams } from "../../../src/server/lifecycle.ts";
import type { PulledStream } from "../../../src/events/readable.ts";
import type { StreamBody } from "../../../src/events/stream.ts";
import { gate } from "../../support/gate.ts";
import { messages } from "../../support/logs.ts";
import { OpenStream } from "../../../src/events/open-stream.ts";

const exchange = {
  method: "GET",
  body: undefined,
  request: new Request("http://h/"),
  server: { timeout: () => {} },
  left: () => {},
} as unknown as BunExchange;

const deadlines = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 1, sendTimeoutMs: 1000, minSendRate: 1 });
const sending = {
  deadlines,
  unsent: new SendBudget({ sendBudget: 100, sendShare: 100 }, deadlines, () => {}),
  sendTimeoutMs: 1000,
};
const counted = {
  ...sending,
  app: { networkOf: () => undefined } as unknown as App,
  held: new HeldResponses({ ...sending, socket: undefined, sendSeconds: 1 }),
};

it.each(["text/event-stream", "text/plain"])("a stream of %s is open until it has ended", async (type) => {
  const open = new Set<PulledStream>();
  class Counted extends EventStreams {
    override add(stream: PulledStream): void {
      open.add(stream);
    }
    override remove(stream: PulledStream): void {
      open.delete(stream);
    }
  }
  const times = { ...counted, idleSeconds: 1, sendSeconds: 1, stopping: false, cutting: false };
  const state = { ...times, eventStreams: new Counted(), streams: 0 };
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(": one\n\n");
  }
  const body = new OpenStream({ kind: "stream", parts: parts() });
  const sent = { status: 200, head: ["content-type", type], body, closes: false };
  const response = (await bunResponse(exchange, sent, state)) as Response;
  const isEvents = type === "text/event-stream";
  expect([open.size, state.streams]).toEqual(isEvents ? [1, 0] : [0, 1]);
  expect(await response.text()).toBe(": one\n\n");
  expect([open.size, state.streams]).toEqual([0, 0]);
});

it.each<[what: string, coded: (body: StreamBody) => StreamBody, first: Buffer]>([
  [
    "by gzip begins with the head of that, at once",
    (body) => compressStream(body, 6, undefined),
    Buffer.from([0x1f, 0x8b]),
  ],
  ["in a coding of its own begins with its first part", (body) => body, Buffer.from(": ")],
])("an event stream %s: Bun's first bytes would not be in its coding", async (_what, coded, first) => {
  const ready = gate();
  async function* parts(): AsyncGenerator<Uint8Array> {
    await ready.passed;
    yield new TextEncoder().encode(": one\n\n");
  }
  const times = { ...counted, idleSeconds: 1, sendSeconds: 1, stopping: false, cutting: false };
  const body = new OpenStream(coded({ kind: "stream", parts: parts() }));
  const head = ["content-type", "text/event-stream", "content-encoding", "gzip"];
  const sent = { status: 200, head, body, closes: false };
  const response = (await bunResponse(exchange, sent, {
    ...times,
    eventStreams: new EventStreams(),
    streams: 0,
  })) as Response;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const reading = reader.read();
  setTimeout(ready.open, 20);
  const { value } = await reading;
  expect(Buffer.from(value ?? []).subarray(0, 2)).toEqual(first);
  await reader.cancel();
});

it("a late answer that cannot be made is a 500, and its request is over", async () => {
  const times = { ...counted, idleSeconds: 1, sendSeconds: 1, stopping: false, cutting: false };
  const state = { ...times, eventStreams: new EventStreams(), streams: 0, inFlightNow: 1 };
  const timeout = (): never => {
    throw new Error("a fault of the runtime");
  };
  const late = new LateAnswer({ ...exchange, server: { timeout } } as unknown as BunExchange, state);
  late.pass({ status: 200, head: [], body: undefined, closes: false });
  expect((await late.response)?.status).toBe(500);
  expect([state.inFlightNow, messages("error").length]).toEqual([0, 1]);
});
