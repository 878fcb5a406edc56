/**
 * How many sequences a model plays, and from which seed. `USHER_MODEL_ROUNDS=5000 USHER_MODEL_SEED=7 npx vitest run test/models`
 * plays more of them, and others; a failure prints the seed and the shrunk sequence.
 */
import { rounds } from "../support/wide.ts";

const seed = Number(process.env["USHER_MODEL_SEED"] ?? 20_261_122);

export function played(usual: number): { readonly seed: number; readonly numRuns: number } {
  return { seed, numRuns: Number(process.env["USHER_MODEL_ROUNDS"] ?? rounds(usual)) };
}
