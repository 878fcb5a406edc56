/** Random clients against a real server of one target. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Target } from "../conformance/targets/target.ts";
import { Server } from "./round.ts";
import { script } from "./script.ts";
import { rounds } from "../support/wide.ts";
import { waitMs } from "../support/patience.ts";

/**
 * How many scripts are played, and from which seed. `USHER_FUZZ_ROUNDS=5000 USHER_FUZZ_SEED=7 npx vitest run test/fuzz`
 * plays more of them, and others.
 */
const count = Number(process.env["USHER_FUZZ_ROUNDS"] ?? rounds(60));
const seed = Number(process.env["USHER_FUZZ_SEED"] ?? 20_261_122);

const mostFailures = 12;

/** No script ends the process, keeps another client from its answer, or leaves a descriptor open. */
export function survives(target: Target): void {
  describe(`${target.name} under random clients`, { timeout: waitMs() + count * 10_000 }, () => {
    it(`lives through ${count} scripts`, async () => {
      let server: Server | undefined;
      let failures = 0;
      const fresh = async (): Promise<Server> =>
        Server.of(
          target.name,
          await target.start(target.unlimited === undefined ? { on: "impatient", drainMs: 0 } : undefined),
        );
      try {
        await fc.assert(
          fc.asyncProperty(script, async (script) => {
            // Shrunk enough: each smaller script that fails may take half a minute to do so.
            if (failures >= mostFailures) return;
            server ??= await fresh();
            try {
              await server.survives(script);
            } catch (error) {
              // The next script, which is often a smaller one of this, has a server of its own.
              failures++;
              const failed = server;
              server = undefined;
              await failed.end();
              throw new Error(`${(error as Error).message}\n${failed.running.lastWords()}`, { cause: error });
            }
          }),
          { seed, numRuns: count },
        );
        expect(failures).toBe(0);
      } finally {
        await server?.end();
      }
    });
  });
}
