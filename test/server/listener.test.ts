/** The life of a server on any runtime, without one: whether signals reach it, and what it leaves when it has stopped. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { App, Path, Returns, get } from "usher-http";
import type { InFlightCounts } from "../../src/app/failures.ts";
import { Listener } from "../../src/server/listener.ts";
import type { ListenAddress } from "../../src/server/listener.ts";
import { limitsOf } from "../../src/server/options.ts";
import type { ListenOptions } from "../../src/server/options.ts";
import { gate } from "../support/gate.ts";
import { lines, messages } from "../support/logs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

/** A server without sockets: its drain ends when the test says so. */
class HeldListener extends Listener {
  readonly drained = gate();
  /** What a signal of the process calls. */
  readonly signals: Set<() => void>;
  isTaken = false;
  counts: InFlightCounts = { requests: 0, sockets: 0 };

  constructor(options: ListenOptions, flush: () => Promise<void>) {
    const signals = new Set<() => void>();
    const stopSignals = {
      listen: (act: () => void) => signals.add(act),
      forget: (act: () => void) => signals.delete(act),
    };
    super(Object.assign(App.make([hello]), { flush }), limitsOf(options), stopSignals);
    this.signals = signals;
  }

  get hadSignal(): boolean {
    return this.isSignalled;
  }

  protected get inFlight(): InFlightCounts {
    return this.counts;
  }

  protected async listen(): Promise<ListenAddress> {
    if (this.isTaken) throw Object.assign(new Error("secret"), { code: "EADDRINUSE" });
    return { port: 1, url: "http://h:1", bound: "h:1" };
  }

  protected async drain(): Promise<number> {
    await this.drained.passed;
    return 0;
  }

  replaceCertificates(): void {}
}

async function started(options: ListenOptions = {}, flush = async (): Promise<void> => {}): Promise<HeldListener> {
  const listener = new HeldListener(options, flush);
  await listener.start();
  return listener;
}

/** What a process with these listeners does at a signal. */
function signal({ signals }: HeldListener): "ends" | undefined {
  if (signals.size === 0) return "ends";
  for (const act of signals) act();
  return undefined;
}

describe("a signal of the process", () => {
  it("stops a server, and a second one ends the process while it drains", async () => {
    const listener = await started();
    expect([signal(listener), signal(listener)]).toEqual([undefined, "ends"]);
    expect([listener.stopping, listener.hadSignal]).toEqual([true, true]);
    listener.drained.open();
    expect(await listener.stopped).toBe(0);
    expect(signal(listener)).toBe("ends");
  });

  it("is the first one while a server stops by its program, and ends the process once that has stopped", async () => {
    const flushing = gate();
    const flushed = gate();
    const listener = await started({}, async () => (flushing.open(), flushed.passed));
    const stopped = listener.stop();
    listener.drained.open();
    await flushing.passed;
    expect([listener.signals.size, listener.hadSignal]).toEqual([1, false]);
    flushed.open();
    await stopped;
    expect(signal(listener)).toBe("ends");
  });

  it("does not end the process that a server stops by its program, and a second one does", async () => {
    const listener = await started();
    const stopped = listener.stop();
    expect([signal(listener), listener.hadSignal, signal(listener)]).toEqual([undefined, true, "ends"]);
    listener.drained.open();
    expect(await stopped).toBe(0);
    expect(messages("info").filter((message) => String(message).startsWith("stopping"))).toHaveLength(1);
  });

  it.each([
    ["that leaves signals alone", { signals: false }, false],
    ["whose port is taken", {}, true],
  ])("ends the process of a server %s", async (_what, options, isTaken) => {
    const listener = new HeldListener(options, async () => {});
    listener.isTaken = isTaken;
    await listener.start().catch(() => {});
    expect([signal(listener), listener.stopping]).toEqual(["ends", false]);
  });
});

describe("a server that has stopped", () => {
  it("has no timer, and has logged whom it disconnected since the last minute", async () => {
    const listener = await started();
    for (let i = 0; i < 3; i++) listener.unsent.slow();
    listener.drained.open();
    await listener.stop();
    expect(vi.getTimerCount()).toBe(0);
    const counts = messages("warn").map((message) => String(message).replace(/^.*: /, ""));
    expect(counts).toEqual(["1", "2"]);
  });

  it("has logged that an exporter could not be flushed, and leaves the signals all the same", async () => {
    const listener = await started({}, () => Promise.reject(new RangeError("secret")));
    listener.drained.open();
    expect(await listener.stop()).toBe(0);
    expect(lines().map((line) => [line["level"], line["message"], line["error.kind"]])).toContainEqual([
      "error",
      "the flush of the exporter raised",
      "RangeError",
    ]);
    expect([signal(listener), vi.getTimerCount()]).toEqual(["ends", 0]);
  });
});

describe("the first line of a server that stops", () => {
  it.each([
    [0, 0, "0 requests"],
    [1, 0, "1 request"],
    [2, 0, "2 requests"],
    [0, 1, "0 requests and 1 socket"],
    [1, 2, "1 request and 2 sockets"],
  ])("counts %i requests and %i sockets", async (requests, sockets, said) => {
    const listener = await started();
    listener.counts = { requests, sockets };
    listener.drained.open();
    await listener.stop();
    expect(messages("info")).toContain(`stopping, with ${said} in flight`);
  });
});
