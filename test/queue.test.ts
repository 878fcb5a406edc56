/** A queue as a list, by random sequences; and queues of the framework that get long. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { Broadcast, Client, Event, Path, Returns, Socket, get } from "usher-http";
import { Queue } from "../src/queue.ts";
import { movesOf } from "./support/list-moves.ts";

const numbers = Socket.protocol({ client: Socket.json(v.number()), server: Socket.json(v.number()) });
const talk = get(Path.of("talk"), { returns: Returns.websocket(numbers) }, () => async () => {});

describe("a queue", () => {
  it("gives what a list gives, whatever is pushed and taken in whatever order", () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant("push" as const), count: fc.nat(3000) }),
      fc.record({ act: fc.constant("shift" as const), count: fc.nat(3000) }),
      fc.record({ act: fc.constant("take all" as const), count: fc.constant(1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const queue = new Queue<number>();
        let list: number[] = [];
        let next = 0;
        for (const { act, count } of steps) {
          for (let left = count; left > 0; left--) {
            if (act === "push") {
              queue.push(next);
              list.push(next++);
            } else if (act === "shift") expect(queue.shift()).toBe(list.shift());
            else {
              expect(queue.takeAll()).toEqual(list);
              list = [];
            }
          }
          expect(queue.length).toBe(list.length);
        }
        expect(queue.takeAll()).toEqual(list);
      }),
      { numRuns: 50 },
    );
  });

  it("moves each item at most twice, however many there are", async () => {
    const queue = new Queue<number>();
    const count = 200_000;
    for (let n = 0; n < count; n++) queue.push(n);
    const { moved } = await movesOf(() => {
      for (let n = 0; n < count; n++) if (queue.shift() !== n) throw new Error(`not ${n}`);
    });
    // The last of them are a short list.
    expect(moved).toBeLessThan(2 * count + 1024 * 1024);
  });
});

describe("what a program leaves in a queue moves no long list for each item that is taken", () => {
  const count = 5000;

  it("messages of a client's WebSocket", async () => {
    const listeners: { [type: string]: (event: object) => void } = {};
    const webSocket = {
      protocol: "",
      readyState: 1,
      send: () => {},
      close: () => {},
      addEventListener: (type: string, listener: (event: object) => void) => (listeners[type] = listener),
    };
    const api = Client.of<[typeof talk]>({
      baseUrl: "http://h",
      webSocket: () => {
        setTimeout(() => listeners["open"]?.({}), 0);
        return webSocket;
      },
    });
    const opened = await api["GET /talk"].open();
    if (!opened.ok) throw new Error(opened.message);
    for (let n = 0; n < count; n++) listeners["message"]?.({ data: String(n) });
    listeners["close"]?.({ code: 1000 });
    const got: unknown[] = [];
    const { most } = await movesOf(async () => {
      for await (const message of opened.value) got.push(message);
    });
    expect(got).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(most).toBeLessThan(count);
  });

  it("events of a hub", async () => {
    const hub = Broadcast.create<never>({ depth: count });
    const subscription = hub.subscribe("topic", undefined);
    for (let n = 0; n < count; n++) hub.publish("topic", Event.comment(String(n)));
    hub.close();
    let got = 0;
    const { most } = await movesOf(async () => {
      for (let event = await subscription.next(); event !== undefined; event = await subscription.next()) got++;
    });
    expect(got).toBe(count);
    expect(most).toBeLessThan(count);
  });
});
