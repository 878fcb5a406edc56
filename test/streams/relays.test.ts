/** A relay over an engine that a test holds: what is missed is said, what is dead is noticed (contract 2.9; issue 5). */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Broadcast, Event } from "usher-http";
import type { Engine, EngineLine, LineListener } from "../../src/streams/relays/engine.ts";
import { relayOver } from "../../src/streams/relays/engine-relay.ts";
import { Numbered } from "../../src/streams/relays/numbered.ts";
import { lines, messages } from "../support/logs.ts";

/** An engine in memory, with a clock that stands. */
class HeldEngine implements Engine {
  readonly source = "framework.held";
  /** Who listens now. */
  readonly lines = new Set<LineListener>();
  isAway = false;
  /** Takes what it is sent and tells nobody, as half a connection does. */
  isDeaf = false;
  destroyed = 0;
  /** What waits for the engine to take it. */
  held: (() => void)[] | undefined = undefined;
  readonly #due: { readonly at: number; readonly act: () => void }[] = [];
  #now = 0;

  async open(listener: LineListener): Promise<EngineLine> {
    if (this.isAway) throw new TypeError("secret");
    this.lines.add(listener);
    return {
      send: async (message) => {
        if (this.held !== undefined) await new Promise<void>((resolve) => this.held?.push(resolve));
        if (!this.lines.has(listener)) throw new Error("it ended");
        if (!this.isDeaf) for (const { heard } of this.lines) heard(message);
      },
      close: async () => void this.lines.delete(listener),
      destroy: () => {
        this.destroyed++;
        this.lines.delete(listener);
      },
    };
  }

  after(ms: number, act: () => void): () => void {
    const due = { at: this.#now + ms, act };
    this.#due.push(due);
    return () => void this.#due.splice(0, Infinity, ...this.#due.filter((other) => other !== due));
  }

  get waits(): number {
    return this.#due.length;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    for (const end = this.#now + ms; ;) {
      const [next] = this.#due.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) {
        this.#now = end;
        return;
      }
      this.#now = next.at;
      this.#due.splice(this.#due.indexOf(next), 1);
      next.act();
      await new Promise(setImmediate);
    }
  }

  dies(): void {
    const all = [...this.lines];
    this.lines.clear();
    for (const { died } of all) died(new RangeError("secret"));
  }
}

let engine: HeldEngine;
beforeEach(() => {
  engine = new HeldEngine();
});

/** A relay, and what it told. */
async function opened(on: HeldEngine = engine) {
  const relay = await relayOver(on);
  const told: string[] = [];
  await relay.subscribe(
    (topic, wire) => told.push(`${topic} ${wire}`),
    () => told.push("missed"),
  );
  return { relay, told };
}

describe("numbered messages", () => {
  const pair = () => [new Numbered(), new Numbered()] as const;

  it("come out as they went in, whatever is in them", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, (topic, wire) => {
        const [here, there] = pair();
        expect(there.read(here.event(topic, wire))).toEqual({ event: { topic, wire }, isBehindGap: false });
      }),
    );
  });

  it("are each told once, in their order, and a gap wherever one is lost", () => {
    const fates = fc.array(fc.constantFrom("comes", "is lost", "comes twice"), { maxLength: 40 });
    fc.assert(
      fc.property(fates, (fates) => {
        const [here, there] = pair();
        there.read(here.mark());
        let isLost = false;
        for (const [i, fate] of fates.entries()) {
          const message = here.event("t", `${i}`);
          if (fate === "is lost") {
            isLost = true;
            continue;
          }
          expect(there.read(message)).toEqual({ event: { topic: "t", wire: `${i}` }, isBehindGap: isLost });
          isLost = false;
          if (fate === "comes twice") expect(there.read(message)).toBeUndefined();
        }
        expect(there.read(here.mark())).toEqual({ event: undefined, isBehindGap: isLost });
      }),
    );
  });

  it("are known where they are one's own, and passed over where they are none", () => {
    const [here, there] = pair();
    expect([here.read(here.event("t", "w")), here.read(here.mark())]).toEqual(["own", "own"]);
    fc.assert(fc.property(fc.string(), (text) => there.read(text) === undefined));
    for (const text of [
      "0123456789abcdef",
      "0123456789abcdef 1 x",
      "0123456789abcdef 12345678901234567 1 t",
      "0123456789abcdef 1 9 t",
    ]) {
      expect(there.read(text)).toBeUndefined();
    }
  });

  it("of a sender that was not heard of are no gap, nor after a break", () => {
    const [here, there] = pair();
    here.event("t", "lost");
    expect(there.read(here.event("t", "2"))?.valueOf()).toMatchObject({ isBehindGap: false });
    here.event("t", "lost");
    there.forget();
    expect(there.read(here.event("t", "4"))?.valueOf()).toMatchObject({ isBehindGap: false });
  });

  it("take no more room for senders that come and go", () => {
    const there = new Numbered();
    const first = new Numbered();
    there.read(first.event("t", "1"));
    for (let i = 0; i < 1000; i++) there.read(new Numbered().mark());
    first.event("t", "lost");
    // Forgotten, and so no gap.
    expect(there.read(first.event("t", "3"))).toEqual({ event: { topic: "t", wire: "3" }, isBehindGap: false });
  });
});

describe("a relay over an engine", () => {
  it("tells each process what the others publish, once", async () => {
    const [one, other] = [await opened(), await opened()];
    await one.relay.publish("t", "1");
    await other.relay.publish("t", "2");
    expect([one.told, other.told]).toEqual([["t 2"], ["t 1"]]);
  });

  it("is not opened where the engine is away, and leaves nothing behind", async () => {
    engine.isAway = true;
    await expect(relayOver(engine)).rejects.toThrow(TypeError);
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("connects again when it is lost, by and by, and says what was missed", async () => {
    const [one, other] = [await opened(), await opened()];
    engine.isAway = true;
    engine.dies();
    await expect(one.relay.publish("t", "lost")).rejects.toThrow("there is no connection");
    await engine.pass(60_000);
    expect(one.told).toEqual([]);
    engine.isAway = false;
    await engine.pass(2500);
    expect(engine.lines.size).toBe(2);
    expect([one.told, other.told]).toEqual([["missed"], ["missed"]]);
    await one.relay.publish("t", "1");
    expect(other.told).toEqual(["missed", "t 1"]);
    const said = lines().map((line) => [line["level"], line["logger.name"], line["error.kind"]]);
    expect(said).toEqual([
      ["warn", "framework.held", "RangeError"],
      ["warn", "framework.held", "RangeError"],
      ["info", "framework.held", undefined],
      ["info", "framework.held", undefined],
    ]);
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("tells the others that what one published while it was cut off is missed", async () => {
    const [one, other] = [await opened(), await opened()];
    await one.relay.publish("t", "1");
    const [first] = engine.lines;
    engine.lines.delete(first as LineListener);
    first?.died(new Error("cut"));
    await expect(one.relay.publish("t", "2")).rejects.toThrow();
    await engine.pass(500);
    expect(other.told).toEqual(["t 1", "missed"]);
  });

  it("takes a line on which nothing is heard any more for dead", async () => {
    const { told } = await opened();
    await engine.pass(60_000);
    expect(messages("warn")).toEqual([]);
    engine.isDeaf = true;
    await engine.pass(21_000);
    expect([engine.destroyed, messages("warn").length]).toEqual([1, 1]);
    engine.isDeaf = false;
    await engine.pass(2500);
    expect(told).toEqual(["missed"]);
  });

  it("waits longer and longer for an engine that drops whoever connects", async () => {
    await opened();
    let dropped = 0;
    const { open } = engine;
    engine.open = async (listener) => {
      const line = await open.call(engine, listener);
      setImmediate(() => {
        dropped++;
        engine.dies();
      });
      return line;
    };
    engine.dies();
    for (let i = 0; i < 100; i++) {
      await engine.pass(100);
      await new Promise(setImmediate);
    }
    expect(dropped).toBeGreaterThan(3);
    expect(dropped).toBeLessThan(13);
  });

  it("holds back no more than so much for an engine that is slow, and says what it refuses", async () => {
    const { relay } = await opened();
    engine.held = [];
    const megabyte = "x".repeat(1_048_576);
    const results = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const sending = relay.publish("t", megabyte);
        // The last ones are refused at once, and let the others go.
        if (i === 19) for (const go of engine.held?.splice(0) ?? []) go();
        return sending.then(
          () => "sent",
          (error: Error) => error.message,
        );
      }),
    );
    expect(results.filter((result) => result === "sent")).toHaveLength(15);
    expect(results.filter((result) => result === "too much waits to be sent")).toHaveLength(5);
    engine.held = undefined;
    await relay.publish("t", "small again");
  });

  it("goes on where what receives raises, and keeps its words", async () => {
    const [one, other] = [await opened(), await opened()];
    const heard: string[] = [];
    await other.relay.subscribe(() => {
      throw new TypeError("secret");
    });
    await other.relay.subscribe((_, wire) => heard.push(wire));
    await one.relay.publish("t", "1");
    await one.relay.publish("t", "2");
    expect([heard, other.told]).toEqual([
      ["1", "2"],
      ["t 1", "t 2"],
    ]);
    expect(messages("error")).toEqual(["what receives from a relay raised", "what receives from a relay raised"]);
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("of a process that was itself held up is not taken for dead: what came meanwhile is read after its timers", async () => {
    const { told } = await opened();
    const [listener] = engine.lines;
    await engine.pass(10_000);
    engine.isDeaf = true;
    await engine.pass(20_000);
    listener?.heard("0123456789abcdef 1");
    await engine.pass(9000);
    expect([engine.destroyed, told, messages("warn")]).toEqual([0, [], []]);
  });

  it("closed, publishes nothing, connects to nothing and waits for nothing", async () => {
    const { relay } = await opened();
    await relay.close();
    await relay.close();
    await expect(relay.publish("t", "1")).rejects.toThrow();
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("closed while it is away, stays so", async () => {
    const { relay } = await opened();
    engine.isAway = true;
    engine.dies();
    await engine.pass(1000);
    await relay.close();
    engine.isAway = false;
    await engine.pass(60_000);
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("closed while it connects, ends that connection too", async () => {
    const { relay } = await opened();
    let go = (): void => {};
    const { open } = engine;
    engine.open = async (listener) => {
      await new Promise<void>((resolve) => (go = resolve));
      return open.call(engine, listener);
    };
    engine.dies();
    await engine.pass(1000);
    await relay.close();
    go();
    await new Promise(setImmediate);
    expect([engine.lines.size, engine.waits, engine.destroyed]).toEqual([0, 0, 1]);
  });

  it("whose close is not answered is ended without it", async () => {
    const { open } = engine;
    engine.open = async (listener) => {
      const line = await open.call(engine, listener);
      let gone = (): void => {};
      return {
        ...line,
        close: () => new Promise((_, reject) => (gone = () => reject(new Error("destroyed")))),
        destroy: () => {
          line.destroy();
          gone();
        },
      };
    };
    const { relay } = await opened();
    const closing = relay.close();
    await engine.pass(5000);
    await closing;
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });
});

describe("a hub over it", () => {
  const text = Event.text("text");

  it("ends its subscriptions where something was missed, with what was queued told", async () => {
    const far = await opened();
    const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
    const subscription = hub.subscribe("t");
    await far.relay.publish("t", Event.make(text, "1").wire);
    engine.dies();
    hub.publish("t", Event.make(text, "here"));
    await engine.pass(500);
    const heard: (string | undefined)[] = [];
    for await (const { wire } of subscription) heard.push(/data: (.*)/.exec(wire)?.[1]);
    expect(heard).toEqual(["1", "here"]);
    expect(hub.topics()).toEqual([]);
    const again = hub.subscribe("t");
    await far.relay.publish("t", Event.make(text, "2").wire);
    expect((await again.next())?.wire).toBe(Event.make(text, "2").wire);
    expect(messages("warn")).toContain(
      "a broadcast may have missed events of the other processes, so its subscriptions are ended",
    );
  });

  it("says once that it cannot publish, and how much it could not once it can", async () => {
    const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
    engine.dies();
    for (let i = 0; i < 100; i++) hub.publish("t", Event.make(text, "lost"));
    await engine.pass(500);
    hub.publish("t", Event.make(text, "sent"));
    await new Promise(setImmediate);
    expect(messages("error")).toEqual(["a broadcast could not publish to the other processes"]);
    expect(messages("info").at(-1)).toBe(
      "a broadcast publishes to the other processes again; 100 events may not have reached them",
    );
    hub.close();
  });
});
