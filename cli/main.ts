#!/usr/bin/env node
/** The command `usher`. */
import { Console } from "node:console";
import process from "node:process";
import { run } from "./run.ts";

// The reader of a pipe may close it: `usher openapi routes.ts | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`usher: ${error.message}\n`);
  process.exit(1);
});

// Otherwise Node prints a warning about this file's top-level await.
process.once("beforeExit", () => {
  process.stderr.write("usher: the module never finishes loading: a promise that it awaits never settles\n");
  process.exit(1);
});

// A new folder's package.json has no "type". Node then warns of the time that it takes to find out that routes.ts is a module,
// which matters to no command.
const shown = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if ((warning as NodeJS.ErrnoException).code === "MODULE_TYPELESS_PACKAGE_JSON") return;
  for (const show of shown) show.call(process, warning);
});

// Standard output has the result alone, for a pipe or a file: what a module prints besides goes to standard error. The server of
// `usher dev` has no result.
const write = process.stdout.write.bind(process.stdout);
const args = process.argv.slice(2);
if (args[0] !== "dev-server") {
  Object.assign(console, new Console(process.stderr));
  process.stdout.write = process.stderr.write.bind(process.stderr);
}
const code = await run(args, {
  out: (text) => write(text),
  error: (text) => process.stderr.write(text),
  columns: process.stdout.columns,
});
// Exit once all is written, even if the module left a pool or timer running.
write("", () => process.stderr.write("", () => process.exit(code)));
