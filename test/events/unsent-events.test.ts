/** An event that a relay could not send, and the processes that do not know about it. */
import { beforeEach, describe, expect, it } from "vitest";
import { relayOver, SequenceNumbers } from "../../src/events/relay.ts";
import type { RelayListener } from "../../src/events/relay.ts";
import "../support/logs.ts";
import { HeldEngine } from "../support/relays/held-engine.ts";

let engine: HeldEngine;
beforeEach(() => {
  engine = new HeldEngine();
});

/** A relay that can be cut off from the broker separately. */
async function apart() {
  let isAway = false;
  let line: RelayListener | undefined;
  const relay = await relayOver({
    source: engine.source,
    after: (ms, act) => engine.after(ms, act),
    open: async (listener) => {
      if (isAway) throw new TypeError("away");
      line = listener;
      return engine.open(listener);
    },
  });
  const told: string[] = [];
  await relay.subscribe(
    (topic, wire) => told.push(`${topic} ${wire}`),
    () => told.push("missed"),
  );
  return {
    relay,
    told,
    cut() {
      isAway = true;
      if (line !== undefined && engine.lines.delete(line)) line.lost(new Error("cut"));
    },
    mend() {
      isAway = false;
    },
  };
}

describe("an event that could not be sent", () => {
  it("is reported as missed to a process that connected after the publisher's last message", async () => {
    const [one, other] = [await apart(), await apart()];
    one.cut();
    other.cut();
    other.mend();
    await engine.pass(500);
    expect(other.told).toEqual(["missed"]);
    await expect(one.relay.publish("t", "1")).rejects.toThrow("there is no connection");
    one.mend();
    await engine.pass(5000);
    expect(other.told).toEqual(["missed", "missed"]);
    await one.relay.publish("t", "2");
    expect(other.told).toEqual(["missed", "missed", "t 2"]);
    // It is reported once.
    one.cut();
    one.mend();
    await engine.pass(30_000);
    expect(other.told).toEqual(["missed", "missed", "t 2"]);
  });

  it("is not reported again to a process that connected later", async () => {
    const [one, other] = [await apart(), await apart()];
    one.cut();
    other.cut();
    await expect(one.relay.publish("t", "1")).rejects.toThrow("there is no connection");
    other.mend();
    await engine.pass(500);
    one.mend();
    await engine.pass(5000);
    await one.relay.publish("t", "2");
    expect(other.told).toEqual(["missed", "t 2"]);
  });

  it("is reported as missed although the publisher loses its next connection at once", async () => {
    const [one, other] = [await apart(), await apart()];
    one.cut();
    other.cut();
    other.mend();
    await engine.pass(500);
    await expect(one.relay.publish("t", "1")).rejects.toThrow("there is no connection");
    engine.held = [];
    one.mend();
    await engine.pass(5000);
    one.cut();
    for (const go of engine.held.splice(0)) go();
    engine.held = undefined;
    expect(other.told).toEqual(["missed"]);
    one.mend();
    await engine.pass(5000);
    expect(other.told).toEqual(["missed", "missed"]);
  });

  it("is reported as missed to a process whose first message of the publisher is the next event", async () => {
    const [one, other] = [await apart(), await apart()];
    const lines = [...engine.lines];
    engine.lines.clear();
    await expect(one.relay.publish("t", "1")).rejects.toThrow("it ended");
    for (const line of lines) engine.lines.add(line);
    await one.relay.publish("t", "2");
    expect(other.told).toEqual(["t 2"]);
    await engine.pass(30_000);
    expect(other.told).toEqual(["t 2", "missed"]);
  });

  it("is not reported again by a later mark to a process that has forgotten the publisher", async () => {
    const [one, other] = [await apart(), await apart()];
    const lines = [...engine.lines];
    engine.lines.clear();
    await expect(one.relay.publish("t", "1")).rejects.toThrow("it ended");
    for (const line of lines) engine.lines.add(line);
    await engine.pass(10_000);
    expect(other.told).toEqual(["missed"]);
    // A process remembers 1000 publishers.
    for (let i = 0; i < 1000; i++) for (const line of lines) line.received(new SequenceNumbers().mark());
    await engine.pass(10_000);
    expect(other.told).toEqual(["missed"]);
  });
});
