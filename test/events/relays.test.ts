/** A relay over an engine that a test holds: what is missed is said, what is dead is noticed (contract 2.9; issue 5). */
import { beforeEach, describe, expect, it } from "vitest";
import { relayOver } from "../../src/events/relay.ts";
import type { RelayConnection, RelayListener } from "../../src/events/relay.ts";
import { gate } from "../support/node-server.ts";
import { lines, messages } from "../support/logs.ts";
import { HeldEngine } from "../support/relays/held-engine.ts";

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

describe("a relay over an engine: messages", () => {
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
    engine.lines.delete(first as RelayListener);
    first?.lost(new Error("cut"));
    await expect(one.relay.publish("t", "2")).rejects.toThrow("there is no connection");
    await engine.pass(500);
    expect(other.told).toEqual(["t 1", "missed"]);
  });
});

describe("a relay over an engine: its connection", () => {
  it("tells nothing more to what left it, and all the more to the others", async () => {
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
});

describe("a relay over an engine: that drops it", () => {
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

  it("takes nothing more from a line that it lost, and says what was missed once it has another", async () => {
    const { told } = await opened();
    const [line] = engine.lines;
    engine.dies();
    line?.received("00000000000000ff 1 1 tlate");
    expect(told).toEqual([]);
    await engine.pass(500);
    line?.received("00000000000000ff 2 1 tlater");
    expect(told).toEqual(["missed"]);
  });

  it("connects again where the line ended before it was open, and keeps nothing of that line", async () => {
    const [one, other] = [await opened(), await opened()];
    const { open } = engine;
    engine.open = async (listener) => {
      engine.open = open;
      const line = await open.call(engine, listener);
      listener.lost(new RangeError("secret"));
      return line;
    };
    engine.dies();
    // Less than a dead line is noticed in.
    await engine.pass(5000);
    expect([engine.destroyed, engine.lines.size]).toEqual([1, 2]);
    await one.relay.publish("t", "1");
    await other.relay.publish("t", "2");
    expect([one.told.at(-1), other.told.at(-1)]).toEqual(["t 2", "t 1"]);
  });

  it("waits no longer after a second loss than after the first, where it was connected in between", async () => {
    await opened();
    for (let loss = 0; loss < 3; loss++) {
      engine.isAway = true;
      engine.dies();
      // It has come to wait the longest by then.
      await engine.pass(30_000);
      engine.isAway = false;
      await engine.pass(2500);
      expect(engine.lines.size).toBe(1);
      // What is heard says that it is connected.
      await engine.pass(11_000);
      engine.dies();
      await engine.pass(125);
      expect(engine.lines.size).toBe(1);
      await engine.pass(11_000);
    }
  });
});

describe("a relay over an engine that is slow, or held up", () => {
  it("holds back no more than so much for an engine that is slow, and as much again once that has it", async () => {
    const { relay } = await opened();
    const megabyte = "x".repeat(1_048_576);
    const publish = (wire: string): Promise<string> =>
      relay.publish("t", wire).then(
        () => "sent",
        (error: Error) => error.message,
      );
    // A second engineful is the one that shows whether what the first took up was given back, however that ended.
    for (const end of ["takes", "fails", "takes"] as const) {
      engine.held = [];
      const sending = Array.from({ length: 20 }, () => publish(megabyte));
      await new Promise(setImmediate);
      expect(engine.held).toHaveLength(15);
      if (end === "fails") engine.dies();
      for (const go of engine.held.splice(0)) go();
      const refused = Array.from({ length: 5 }, () => "too much waits to be sent");
      const ended = Array.from({ length: 15 }, () => (end === "takes" ? "sent" : "it ended"));
      expect(await Promise.all(sending)).toEqual([...ended, ...refused]);
      engine.held = undefined;
      await engine.pass(1000);
      expect(await publish("small again")).toBe("sent");
    }
    // All of it at once: nothing else is counted by now.
    expect(await publish("x".repeat(16 * 1_048_576 - 100))).toBe("sent");
    expect(await publish("x".repeat(16 * 1_048_576))).toBe("too much waits to be sent");
  });

  it("measures what is heard on a new line by nothing that was heard on the one before", async () => {
    const [one, other] = [await opened(), await opened()];
    await other.relay.publish("t", "1");
    const [first] = engine.lines;
    engine.lines.delete(first as RelayListener);
    first?.lost(new Error("cut"));
    await other.relay.publish("t", "2");
    await engine.pass(500);
    // What was missed is told once, with the connection, and not again with the next message.
    expect(one.told).toEqual(["t 1", "missed"]);
    await other.relay.publish("t", "3");
    expect(one.told).toEqual(["t 1", "missed", "t 3"]);
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
    listener?.received("0123456789abcdef 1");
    await engine.pass(9000);
    expect([engine.destroyed, told, messages("warn")]).toEqual([0, [], []]);
  });
});

describe("a relay over an engine, closed,: while it connects", () => {
  it("publishes nothing, connects to nothing and waits for nothing", async () => {
    const { relay } = await opened();
    await relay.close();
    await relay.close();
    await expect(relay.publish("t", "1")).rejects.toThrow("there is no connection");
    expect([engine.lines.size, engine.waits]).toEqual([0, 0]);
  });

  it("while it is away, stays so", async () => {
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

describe("a relay over an engine, closed,: its line", () => {
  /** Has the engine's lines close so. */
  function closesBy(close: (line: RelayConnection) => Promise<void>): void {
    const { open } = engine;
    engine.open = async (listener) => {
      const line = await open.call(engine, listener);
      return { ...line, close: () => close(line) };
    };
  }

  it("destroys its line five seconds later where the engine does not answer", async () => {
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

  it("destroys its line at once where that cannot be closed", async () => {
    closesBy(() => Promise.reject(new Error("secret")));
    const { relay } = await opened();
    await relay.close();
    expect([engine.destroyed, engine.lines.size, engine.waits]).toEqual([1, 0, 0]);
  });

  it("neither tells nor sends nor connects while the engine takes its time", async () => {
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
