/** WebSockets compared with a model, on another runtime, for all actions of their clients, their handlers and the server's stop. */
import { deepStrictEqual as deepEqual } from "node:assert";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventually, held } from "../eventually.ts";
import { runs } from "../runs.ts";
import type { SpawnedServer } from "../spawned/server.ts";
import { playTo } from "./play.ts";
import type { World } from "./play.ts";
import type { Spoken } from "./routes.ts";
import { scriptOf } from "./script.ts";
import type { Step } from "./script.ts";

type Line = { readonly level: string; readonly message: unknown };

class SpawnedWorld implements World {
  readonly hasPatientClients = true;
  readonly port: number;
  readonly closesFirst: boolean;
  readonly #control: SpawnedServer;

  constructor(control: SpawnedServer, port: number, closesFirst: boolean) {
    this.#control = control;
    this.port = port;
    this.closesFirst = closesFirst;
  }

  async letIn(): Promise<void> {
    await asked(this.#control, "let-in");
  }
  async endAll(): Promise<void> {
    await asked(this.#control, "end-all");
  }
  async spoken(): Promise<readonly Spoken[]> {
    return (await asked(this.#control, "spoken")) as readonly Spoken[];
  }
  async stop(): Promise<number> {
    await asked(this.#control, "stop");
    return Number(await asked(this.#control, "stopped"));
  }
  async messages(level: "info" | "error"): Promise<readonly unknown[]> {
    const lines = (await asked(this.#control, "lines")) as readonly Line[];
    return lines.flatMap((line) => (line.level === level ? [line.message] : []));
  }
}

async function asked(control: SpawnedServer, what: string): Promise<unknown> {
  return JSON.parse(await control.asks(`POST /${what}`));
}

/** @param closesFirst Whether the runtime answers a Close before the handler has read what was sent before it. */
export function describeTakenOver(start: () => Promise<SpawnedServer>, { closesFirst = false } = {}): void {
  describe("WebSockets", { timeout: 600_000 }, () => {
    it("behave like their model, and leave nothing open", async () => {
      const control = await start();
      const play = async (script: readonly Step[]): Promise<void> => {
        await playTo(new SpawnedWorld(control, Number(await asked(control, "begin")), closesFirst), script);
        deepEqual(await control.asks("GET /alive"), "yes");
      };
      // What a runtime opens once, and keeps.
      for (const script of fc.sample(scriptOf("socket"), { seed: runs(1).seed, numRuns: 5 })) await play(script);
      const before = control.descriptors;
      await held(fc.assert(fc.asyncProperty(scriptOf("socket"), play), runs(40)));
      // The runtime keeps a few, now more and now fewer. One for each connection would be 120.
      await eventually(() => expect(control.descriptors).toBeLessThan(before + 10));
    });
  });
}
