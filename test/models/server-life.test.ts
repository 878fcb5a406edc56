/** A server from its start to its stop, with connections of every kind on it: what each sees is the model's. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { serve } from "usher-http/node";
import { eventually } from "../support/eventually.ts";
import { logWith } from "../support/logs.ts";
import { active } from "../support/memory.ts";
import { played } from "./seeds.ts";
import { script } from "./server-life.ts";
import { Played } from "./server-played.ts";

describe("a server from start to stop behaves like its model", () => {
  it("on usher-http/node", async () => {
    // What the first server of a process leaves with it.
    await (await serve([], { port: 0, host: "127.0.0.1" })).stop();
    const listeners = () => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
    const before = listeners();
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
        try {
          logWith({});
          const life = new Played();
          await life.begin();
          for (const step of steps) await life.take(step);
          await life.end();
        } finally {
          vi.useRealTimers();
        }
      }),
      played(300),
    );
    expect(listeners()).toBe(before);
    for (const kind of ["TCPSocketWrap", "TCPServerWrap"]) await eventually(() => expect(active(kind)).toBe(0));
  });
});
