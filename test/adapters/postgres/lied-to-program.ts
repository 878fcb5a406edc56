/** Plays every lie of the table, and prints the results as JSON, the only line that is printed. */
import process from "node:process";
import * as Log from "../../../src/logging/log.ts";
import { play, table } from "./lied-to.ts";

Log.setup({ level: undefined });
const results: (readonly string[])[] = [];
const next = table.keys();
async function playRest(): Promise<void> {
  for (const at of next)
    results[at] = await play([table[at]!]).catch((error: unknown) => [`PLAYED WRONG: ${String(error)}`]);
}
await Promise.all(Array.from({ length: 8 }, playRest));
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
