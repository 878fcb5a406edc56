/** Random sequences of all operations on hubs over a broker in memory, with a fake clock. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { held } from "../support/eventually.ts";
import { relayOver } from "../../src/events/relay.ts";
import type { RelayListener } from "../../src/events/relay.ts";
import type { OpenRelay } from "usher-http/postgres";
import "../support/logs.ts";
import { HeldEngine } from "../support/relays/held-engine.ts";
import { HubModel, acts } from "../support/relays/hub-model.ts";
import type { World } from "../support/relays/hub-model.ts";
import { rounds } from "../support/wide.ts";
import { waitMs } from "../support/patience.ts";

/** The number of sequences and the seed: set `USHER_MODEL_ROUNDS` and `USHER_MODEL_SEED` for others. */
const count = Number(process.env["USHER_MODEL_ROUNDS"] ?? rounds(40));
const seed = Number(process.env["USHER_MODEL_SEED"] ?? 20_261_122);

/** A broker inside this process. */
class MemoryWorld implements World {
  readonly patience = 20;
  readonly #engine = new HeldEngine();
  readonly #listeners: (RelayListener | undefined)[] = [];
  readonly #away = new Set<number>();
  readonly #stalled = new Map<number, (() => void)[]>();

  open(member: number): Promise<OpenRelay> {
    return relayOver({
      source: "framework.held",
      after: (ms, act) => this.#engine.after(ms, act),
      open: async (listener) => {
        if (this.#away.has(member)) throw new Error("away");
        const line = await this.#engine.open(listener);
        this.#listeners[member] = listener;
        return {
          ...line,
          send: async (message) => {
            const stalled = this.#stalled.get(member);
            if (stalled !== undefined) await new Promise<void>((resolve) => stalled.push(resolve));
            await line.send(message);
          },
        };
      },
    });
  }

  cut(member: number): void {
    this.#away.add(member);
    const listener = this.#listeners[member];
    this.#goOn(member);
    if (listener !== undefined && this.#engine.lines.delete(listener)) listener.lost(new Error("cut"));
  }

  mend(member: number): void {
    this.#away.delete(member);
  }

  stall(member: number): void {
    if (!this.#stalled.has(member)) this.#stalled.set(member, []);
  }

  #goOn(member: number): void {
    const stalled = this.#stalled.get(member);
    this.#stalled.delete(member);
    for (const go of stalled ?? []) go();
  }

  async pass(): Promise<void> {
    for (const member of this.#stalled.keys()) this.#goOn(member);
    await new Promise(setImmediate);
    await this.#engine.pass(3000);
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    for (let i = 0; !isSo(); i++) {
      if (i === 100) throw new Error(`it never was: ${what}`);
      await this.pass();
    }
  }

  async isEmpty(): Promise<boolean> {
    return this.#engine.lines.size + this.#engine.waits === 0;
  }
}

describe("hubs over a broker in memory", () => {
  it(`no subscription has a gap, and nothing leaks, in ${count} sequences`, { timeout: waitMs() + count * 1000 }, () =>
    held(
      fc.assert(
        fc.asyncProperty(acts(4), async (acts) => {
          const model = await HubModel.open(new MemoryWorld());
          for (const act of acts) await model.act(act);
          await model.ends();
        }),
        { seed, numRuns: count },
      ),
    ),
  );
});
