#!/usr/bin/env node
/** The command `create-usher`, which `npm create usher` runs. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { run } from "./run.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};
const { stdin, stdout, stderr } = process;

// The reader of a pipe may close it: `create-usher --help | head`.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") stderr.write(`create-usher: ${error.message}\n`);
  process.exit(1);
});

process.exitCode = await run(process.argv.slice(2), {
  folder: process.cwd(),
  userAgent: process.env["npm_config_user_agent"] ?? "",
  version,
  terminal: stdin.isTTY && stdout.isTTY ? { input: stdin, output: stdout } : undefined,
  out: (text) => stdout.write(text),
  error: (text) => stderr.write(text),
});
