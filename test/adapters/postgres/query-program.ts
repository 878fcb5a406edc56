/** Plays every act of `query-acts.ts` on a database, and prints what they gave as JSON, the only line that is printed. */
import process from "node:process";
import * as Log from "../../../src/logging/log.ts";
import { acts, play } from "./query-acts.ts";

Log.setup({ level: undefined });
const given: { [name: string]: string } = {};
for (const name of Object.keys(acts)) given[name] = await play(name, process.argv[2] as string);
process.stdout.write(`${JSON.stringify(given)}\n`, () => process.exit(0));
