/** Code that sends without a pause gives other code its turn (issue 5; each runtime has tests in conformance). */
import { afterEach, describe, expect, it, vi } from "vitest";
import { readParts } from "../src/events/stream.ts";
import type { StreamSink } from "../src/events/stream.ts";
import { EventStream } from "../src/events/event-stream.ts";
import type { Producer } from "../src/events/event-stream.ts";
import { comment } from "../src/events/event.ts";
import { text } from "../src/sockets/socket.ts";
import { OpenSocket } from "../src/sockets/open-socket.ts";
import { noteIo, shouldYield } from "../src/async.ts";
import { PulledStream } from "../src/events/readable.ts";
import { OpenStream } from "../src/events/open-stream.ts";
import type { SocketTransport } from "../src/exchange/transport.ts";

afterEach(() => void vi.useRealTimers());

const nothing = (): void => {};
const tick = comment("tick");

/** Whether other code had a turn. */
function other(): { had: boolean } {
  const other = { had: false };
  setTimeout(() => (other.had = true), 0);
  return other;
}

/** Sends until other code had a turn, and at most this number of times: without a limit it would hang the test. */
async function flood(send: () => Promise<unknown>): Promise<number> {
  const another = other();
  let sent = 0;
  while (!another.had && sent < 3_000_000) {
    await send();
    sent++;
  }
  return sent;
}

/** Of who sends it, that there is always room. */
const roomy: StreamSink = { write: () => true, room: () => Promise.resolve(true), end: nothing, fail: nothing };

/** What floods, and tells how much it sent when another had a turn. */
const floods: { readonly [what: string]: () => Promise<number> } = {
  "events, written as they are sent": () =>
    new Promise((resolve) => {
      const produce: Producer<never> = async (send) => resolve(await flood(() => send(tick)));
      new EventStream(produce, undefined, 15_000).writeTo(roomy);
    }),
  "events whose room is there as soon as it is waited for": () =>
    new Promise((resolve) => {
      const produce: Producer<never> = async (send) => resolve(await flood(() => send(tick)));
      new EventStream(produce, undefined, 15_000).writeTo({ ...roomy, write: () => false });
    }),
  "events, asked for one after the other": () =>
    new Promise((resolve) => {
      const produce: Producer<never> = async (send) => resolve(await flood(() => send(tick)));
      const parts = readParts({ parts: new EventStream(produce, undefined, 15_000) });
      void (async () => {
        while ((await parts.next()) !== undefined);
      })();
    }),
  messages: () => {
    const link: SocketTransport = { start: nothing, send: () => true, close: nothing, terminate: nothing };
    const setting = { client: text, server: text, maxMessage: 1000, keepAliveMs: 15_000, warn: nothing };
    const socket = new OpenSocket<string, string>(link, setting);
    return flood(() => socket.send("tick"));
  },
  "parts that a runtime takes as they come": async () => {
    const another = other();
    let made = 0;
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (; !another.had && made < 3_000_000; made++) yield new Uint8Array(1);
    }
    const sending = { stopsAtLength: false, making: nothing, made: nothing, ended: nothing };
    const { readable } = new PulledStream(new OpenStream({ kind: "stream", parts: parts() }), {
      ...sending,
      cancelled: () => "client gone",
    });
    await readable.pipeTo(new WritableStream());
    return made;
  },
};

describe("other code has a turn next to", () => {
  it.each(Object.entries(floods))("%s", async (_what, flooding) => {
    expect(await flooding()).toBeLessThan(3_000_000);
  });

  it.each(Object.entries(floods))(
    "%s, also where the clock stands still while nothing is waited for",
    async (_, run) => {
      vi.useFakeTimers({ toFake: ["performance"] });
      expect(await run()).toBeLessThan(100_000);
    },
  );
});

it("a few concurrent sends do not wait", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const another = other();
  await new Promise<void>((resolve) => {
    const produce: Producer<never> = async (send) => {
      for (let i = 0; i < 500; i++) await send(tick);
      resolve();
    };
    new EventStream(produce, undefined, 15_000).writeTo(roomy);
  });
  expect(another.had).toBe(false);
});

describe("when an event arrived for every few sends", () => {
  const anotherTurn = () => new Promise((resolve) => setTimeout(resolve, 20));

  it("no turn is due, however many there are", async () => {
    await anotherTurn();
    const until = performance.now() + 50;
    while (performance.now() < until) {
      noteIo();
      for (let i = 0; i < 31; i++) expect(shouldYield()).toBe(false);
    }
  });

  it("a sender without a pause gives one turn for one of them", async () => {
    await anotherTurn();
    let isDue = false;
    // In a turn: the code that waits for another event has none.
    for (let i = 0; !isDue && i < 1_000_000; i++) {
      noteIo();
      for (let j = 0; j < 32; j++) isDue ||= shouldYield();
    }
    expect(isDue).toBe(true);
  });
});
