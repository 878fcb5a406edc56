/** Limits of what is sent to many clients: reached, freed, and reached again. */
import { expect, it } from "vitest";
import { Broadcast, Event } from "usher-http";
import { WorkerTransport } from "../../adapters/workers/socket.ts";
import type { WorkerSocket } from "../../adapters/workers/socket.ts";
import { turn } from "../support/memory.ts";

const Tick = Event.text("tick");

it("a subscription falls behind by its hub's depth several times, and is dropped above it each time", async () => {
  const hub = Broadcast.create<typeof Tick>({ depth: 3 });
  const event = Event.make(Tick, "x");
  for (let round = 0; round < 3; round++) {
    const subscription = hub.subscribe("t");
    for (let again = 0; again < 3; again++) {
      for (let i = 0; i < 3; i++) hub.publish("t", event);
      expect(hub.subscribers("t")).toHaveLength(1);
      for (let i = 0; i < 3; i++) expect(await subscription.next()).toBe(event);
    }
    for (let i = 0; i < 4; i++) hub.publish("t", event);
    expect(hub.topics()).toEqual([]);
    for (let i = 0; i < 3; i++) expect(await subscription.next()).toBe(event);
    expect(await subscription.next()).toBeUndefined();
  }
});

it("a Worker's socket waits after each limit of bytes without an acknowledgement, and only then", async () => {
  const listeners = new Map<string, (event: never) => void>();
  const socket: WorkerSocket = {
    binaryType: "arraybuffer",
    readyState: 1,
    accept: () => {},
    send: () => {},
    close: () => {},
    addEventListener: (type: string, listener: (event: never) => void) => void listeners.set(type, listener),
  };
  const link = new WorkerTransport(socket, 1000);
  const heard: unknown[] = [];
  link.start({
    message: (data) => void heard.push(data),
    frame: () => {},
    closed: () => {},
    lost: (detail) => void heard.push(`lost: ${detail}`),
    stopping: () => {},
  });
  const say = (): void => listeners.get("message")?.({ data: "word" } as never);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 9; i++) expect(link.send("x".repeat(100))).toBe(true);
    const [one, other] = [link.send("x".repeat(100)), link.send("x")];
    expect([one instanceof Promise, other]).toEqual([true, one]);
    let hasRoom: unknown = "it waits";
    const waited = Promise.resolve(one).then((room) => (hasRoom = room));
    await turn();
    expect(hasRoom).toBe("it waits");
    say();
    await waited;
    expect(hasRoom).toBe(true);
  }
  expect(heard).toEqual(["word", "word", "word"]);
});

it("a subscription that is read with other signals in turn ends with the signal of its last call", async () => {
  const event = Event.make(Tick, "x");
  for (const calls of [1, 2, 3, 4]) {
    const hub = Broadcast.create<typeof Tick>();
    const subscription = hub.subscribe("t");
    const [one, other] = [new AbortController(), new AbortController()];
    for (let i = 1; i < calls; i++) {
      const read = subscription.next({ until: (i % 2 === 0 ? one : other).signal });
      hub.publish("t", event);
      expect(await read).toBe(event);
    }
    const [last, before] = calls % 2 === 0 ? [one, other] : [other, one];
    const read = subscription.next({ until: last.signal });
    before.abort();
    expect(hub.subscribers("t")).toHaveLength(1);
    last.abort();
    expect(hub.subscribers("t")).toHaveLength(0);
    expect(await read).toBeUndefined();
  }
});
