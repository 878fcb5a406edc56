/**
 * How often a property is tried, and from which seed: `USHER_FUZZ_ROUNDS=5000 USHER_FUZZ_SEED=7 npx vitest run test/…` tries
 * it with more, and with others.
 */
import { rounds } from "./wide.ts";

export const seed = Number(process.env["USHER_FUZZ_SEED"] ?? 20_261_122);

export function runs(usual: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: Number(process.env["USHER_FUZZ_ROUNDS"] ?? rounds(usual)), seed };
}
