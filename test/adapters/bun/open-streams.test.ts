/** What a server on Bun counts as open: the test takes the place of the runtime. */
import { expect, it } from "vitest";
import { respond } from "../../../adapters/bun/respond.ts";
import type { BunExchange } from "../../../adapters/bun/respond.ts";
import { EventStreams } from "../../../src/server/lifecycle.ts";
import type { PulledStream } from "../../../src/events/readable.ts";

const exchange = {
  method: "GET",
  body: undefined,
  request: new Request("http://h/"),
  server: { timeout: () => {} },
  left: () => {},
} as unknown as BunExchange;

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
  const times = { idleSeconds: 1, sendSeconds: 1, stopping: false, cutting: false };
  const state = { ...times, eventStreams: new Counted(), streams: 0 };
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(": one\n\n");
  }
  const body = { kind: "stream", parts: parts() } as const;
  const sent = { status: 200, head: ["content-type", type], body, closes: false };
  const response = (await respond(exchange, sent, state)) as Response;
  const isEvents = type === "text/event-stream";
  expect([open.size, state.streams]).toEqual(isEvents ? [1, 0] : [0, 1]);
  expect(await response.text()).toBe(": one\n\n");
  expect([open.size, state.streams]).toEqual([0, 0]);
});
