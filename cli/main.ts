#!/usr/bin/env node
/** The command `usher`. */
import process from "node:process";
import { run } from "./run.ts";

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
