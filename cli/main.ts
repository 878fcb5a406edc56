#!/usr/bin/env node
/** The command `usher`. */
import process from "node:process";
import { run } from "./run.ts";

// Whoever reads it may have had enough: `usher openapi routes.ts | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`usher: ${error.message}\n`);
  process.exit(1);
});

// Without it Node would warn of a line of this file.
process.once("beforeExit", () => {
  process.stderr.write("usher: the module never finishes loading: what it awaits never comes\n");
  process.exit(1);
});

const code = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  columns: process.stdout.columns,
});
// Once all of it is written: what the routes' module left running, a pool or a timer, keeps nobody waiting.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
