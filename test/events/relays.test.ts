/** A relay over a broker of the test: it reports missed messages, and notices dead connections (contract 2.9; issue 5). */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { relayOver } from "../../src/events/relay.ts";
import type { RelayConnection, RelayListener } from "../../src/events/relay.ts";
import { gate } from "../support/node-server.ts";
import { lines, messages } from "../support/logs.ts";
import { HeldEngine } from "../support/relays/held-engine.ts";

let engine: HeldEngine;
beforeEach(() => {
  engine = new HeldEngine();
});

/** A relay, and the events that it reported. */
async function opened(on: HeldEngine = engine) {
  const relay = await relayOver(on);
  const told: string[] = [];
  await relay.subscribe(
    (topic, wire) => told.push(`${topic} ${wire}`),
    () => told.push("missed"),
  );
  return { relay, told };
}

describe("a relay over a broker: messages", () => {
  it("delivers what other processes publish, once", async () => {
    const [one, other] = [await opened(), await opened()];
    await one.relay.publish("t", "1");
    await other.relay.publish("t", "2");
    expect([one.told, other.told]).toEqual([["t 2"], ["t 1"]]);
  });

  it("rejects when the broker is unreachable, and leaks nothing", async () => {
    engine.isAway = true;
    await expect(relayOver(engine)).rejects.toThrow(TypeError);
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("reconnects after a lost connection, with a growing pause, and reports missed messages", async () => {
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

  it("reports to other processes that a message was missed which one published while it was cut off", async () => {
    const [one, other] = [await opened(), await opened()];
    await one.relay.publish("t", "1");
    const [first] = engine.lines;
    engine.lines.delete(first as RelayListener);
    first?.lost(new Error("cut"));
    await expect(one.relay.publish("t", "2")).rejects.toThrow("there is no connection");
    await engine.pass(500);
    expect(other.told).toEqual(["t 1", "missed"]);
  });
});

describe("a relay over a broker: its connection", () => {
  it("delivers nothing to an ended subscription, and still delivers to the others", async () => {
    const [one, other] = [await opened(), await opened()];
    const heard: string[] = [];
    const leave = await other.relay.subscribe(
      (_, wire) => heard.push(wire),
      () => heard.push("missed"),
    );
    await one.relay.publish("t", "1");
    await leave();
    await leave();
    await one.relay.publish("t", "2");
    engine.dies();
    await engine.pass(500);
    expect([heard, other.told]).toEqual([["1"], ["t 1", "t 2", "missed"]]);
  });

  it("treats a connection on which nothing arrives as dead", async () => {
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
});

describe("a relay over a broker: dropped connections", () => {
  it("waits longer each time for a broker that drops every connection", async () => {
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

  it("ignores messages of a lost connection, and reports missed messages on the next one", async () => {
    const { told } = await opened();
    const [line] = engine.lines;
    engine.dies();
    line?.received("00000000000000ff 1 1 tlate");
    expect(told).toEqual([]);
    await engine.pass(500);
    line?.received("00000000000000ff 2 1 tlater");
    expect(told).toEqual(["missed"]);
  });

  it("reconnects when the connection ended before it was open, and keeps nothing of it", async () => {
    const [one, other] = [await opened(), await opened()];
    const { open } = engine;
    engine.open = async (listener) => {
      engine.open = open;
      const line = await open.call(engine, listener);
      listener.lost(new RangeError("secret"));
      return line;
    };
    engine.dies();
    // Less than the time in which a dead connection is noticed.
    await engine.pass(5000);
    expect([engine.destroyed, engine.lines.size]).toEqual([1, 2]);
    await one.relay.publish("t", "1");
    await other.relay.publish("t", "2");
    expect([one.told.at(-1), other.told.at(-1)]).toEqual(["t 2", "t 1"]);
  });

  it("waits no longer after a second loss than after the first, if it was connected in between", async () => {
    await opened();
    for (let loss = 0; loss < 3; loss++) {
      engine.isAway = true;
      engine.dies();
      // It has reached the longest pause by then.
      await engine.pass(30_000);
      engine.isAway = false;
      await engine.pass(2500);
      expect(engine.lines.size).toBe(1);
      // A received message shows that it is connected.
      await engine.pass(11_000);
      engine.dies();
      await engine.pass(125);
      expect(engine.lines.size).toBe(1);
      await engine.pass(11_000);
    }
  });
});

describe("a relay over a broker that is slow, or a process that was blocked", () => {
  it("buffers a limited number of bytes for a slow broker, and as many again after the broker received them", async () => {
    const { relay } = await opened();
    const megabyte = "x".repeat(1_048_576);
    const publish = (wire: string): Promise<string> =>
      relay.publish("t", wire).then(
        () => "sent",
        (error: Error) => error.message,
      );
    // The second full buffer shows whether the space of the first was freed, however it ended.
    for (const end of ["takes", "fails", "takes"] as const) {
      engine.held = [];
      const sending = Array.from({ length: 20 }, () => publish(megabyte));
      await new Promise(setImmediate);
      expect(engine.held).toHaveLength(15);
      if (end === "fails") engine.dies();
      for (const go of engine.held.splice(0)) go();
      const refused = Array.from({ length: 5 }, () => "too much waits to be sent");
      const ended = Array.from({ length: 15 }, () => (end === "takes" ? "sent" : "the connection was lost"));
      expect(await Promise.all(sending)).toEqual([...ended, ...refused]);
      engine.held = undefined;
      await engine.pass(1000);
      expect(await publish("small again")).toBe("sent");
    }
    // All of it at once: no other bytes are counted by now.
    expect(await publish("x".repeat(16 * 1_048_576 - 100))).toBe("sent");
    expect(await publish("x".repeat(16 * 1_048_576))).toBe("too much waits to be sent");
  });

  it("does not compare a new connection's messages with those of the one before", async () => {
    const [one, other] = [await opened(), await opened()];
    await other.relay.publish("t", "1");
    const [first] = engine.lines;
    engine.lines.delete(first as RelayListener);
    first?.lost(new Error("cut"));
    await other.relay.publish("t", "2");
    await engine.pass(500);
    // Missed messages are reported once, with the connection, and not again with the next message.
    expect(one.told).toEqual(["t 1", "missed"]);
    await other.relay.publish("t", "3");
    expect(one.told).toEqual(["t 1", "missed", "t 3"]);
  });

  it("continues when a subscriber throws, and does not log its message", async () => {
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

  it("after the process was blocked, does not treat its connection as dead: data is read after the timers", async () => {
    const { told } = await opened();
    const [listener] = engine.lines;
    await engine.pass(10_000);
    engine.isDeaf = true;
    await engine.pass(20_000);
    listener?.received("0123456789abcdef 1");
    await engine.pass(9000);
    expect([engine.destroyed, told, messages("warn")]).toEqual([0, [], []]);
  });
});

describe("a relay over a broker that is closed: before it is connected", () => {
  it("publishes nothing, connects to nothing and waits for nothing", async () => {
    const { relay } = await opened();
    await relay.close();
    await relay.close();
    await expect(relay.publish("t", "1")).rejects.toThrow("there is no connection");
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("while it is disconnected, does not reconnect", async () => {
    const { relay } = await opened();
    engine.isAway = true;
    engine.dies();
    await engine.pass(1000);
    await relay.close();
    engine.isAway = false;
    await engine.pass(60_000);
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("while it connects, ends that connection too", async () => {
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
});

describe("a relay over a broker that is closed: its connection", () => {
  /** Makes the broker's connections close in this way. */
  function closesBy(close: (line: RelayConnection) => Promise<void>): void {
    const { open } = engine;
    engine.open = async (listener) => {
      const line = await open.call(engine, listener);
      return { ...line, close: () => close(line) };
    };
  }

  it("destroys its connection after five seconds when the broker does not answer", async () => {
    let destroyed = (): void => {};
    closesBy(() => new Promise((_, reject) => (destroyed = () => reject(new Error("destroyed")))));
    const { relay } = await opened();
    const closing = relay.close();
    await engine.pass(4999);
    expect(engine.destroyed).toBe(0);
    await engine.pass(1);
    expect(engine.destroyed).toBe(1);
    destroyed();
    await closing;
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("destroys its connection at once when it cannot be closed", async () => {
    closesBy(() => Promise.reject(new Error("secret")));
    const { relay } = await opened();
    await relay.close();
    expect([engine.destroyed, engine.lines.size, engine.waits]).toEqual([1, 0, 0]);
  });

  it("does not deliver, send or connect while the broker is slow", async () => {
    const answered = gate();
    closesBy(async (line) => {
      await answered.passed;
      await line.close();
    });
    const { relay, told } = await opened();
    const [listener] = engine.lines;
    const closing = relay.close();
    await expect(relay.publish("t", "1")).rejects.toThrow("there is no connection");
    listener?.received("0123456789abcdef 1 1 tlate");
    listener?.lost(new Error("cut"));
    await engine.pass(4000);
    expect([told, messages("warn"), engine.lines.size]).toEqual([[], [], 1]);
    answered.open();
    await closing;
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });
});

describe("a relay keeps the process running", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  it("until the last of what it sends is sent, and no longer", async () => {
    const { relay } = await opened();
    expect(vi.getTimerCount()).toBe(0);
    for (let round = 0; round < 2; round++) {
      engine.held = [];
      const sending = [relay.publish("t", "1"), relay.publish("t", "2")];
      for (const [i, go] of engine.held.entries()) {
        expect(vi.getTimerCount()).toBe(1);
        go();
        await sending[i];
      }
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it("no longer than until a publish fails", async () => {
    const { relay } = await opened();
    engine.held = [];
    const sending = relay.publish("t", "1");
    engine.dies();
    expect(vi.getTimerCount()).toBe(1);
    for (const go of engine.held) go();
    await expect(sending).rejects.toThrow("the connection was lost");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("until its connection is closed, and no longer", async () => {
    const closed = gate();
    const { open } = engine;
    engine.open = async (listener) => ({ ...(await open.call(engine, listener)), close: () => closed.passed });
    const { relay } = await opened();
    const closing = relay.close();
    expect(vi.getTimerCount()).toBe(1);
    closed.open();
    await closing;
    expect(vi.getTimerCount()).toBe(0);
  });
});
