import { readFileSync } from "node:fs";
import { bundle } from "./bundle.ts";
import { call } from "./call.ts";
import { client } from "./client.ts";
import { UsageError, describeFailure } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { devServer } from "./dev-server.ts";
import { dev } from "./dev.ts";
import { packageFile } from "./load-routes.ts";
import { mcp } from "./mcp.ts";
import { migrate } from "./migrate.ts";
import { openapi } from "./openapi.ts";
import { routes } from "./routes.ts";

/** The commands, in the order of the usage text. */
const commands: readonly Command[] = [dev, call, routes, openapi, client, mcp, bundle, migrate];
/** Started by another command, and in no list. */
const hidden: readonly Command[] = [devServer];

/** Runs a command line. Resolves with the exit code: 0, 1 for a failure, 2 for an invalid command line. */
export async function run([name, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    if (name !== undefined) terminal.out(usage());
    else terminal.error(usage());
    return name === undefined ? 2 : 0;
  }
  if (name === "--version") {
    terminal.out(`${version()}\n`);
    return 0;
  }
  const command = [...commands, ...hidden].find((command) => command.name === name);
  if (command === undefined) {
    terminal.error(`usher has no command ${JSON.stringify(name)}\n\n${usage()}`);
    return 2;
  }
  if (args.includes("--help") || args.includes("-h")) {
    terminal.out(`${command.help}\n`);
    return 0;
  }
  try {
    return await command.run(args, terminal);
  } catch (thrown) {
    return failed(command, thrown, terminal);
  }
}

function failed({ name }: Command, thrown: unknown, terminal: Terminal): number {
  if (isUsage(thrown)) {
    terminal.error(`usher ${name}: ${thrown.message}\nSee usher ${name} --help\n`);
    return 2;
  }
  terminal.error(`usher ${name}: ${describeFailure(thrown)}\n`);
  return 1;
}

function isUsage(thrown: unknown): thrown is Error {
  if (thrown instanceof UsageError) return true;
  return thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("ERR_PARSE_ARGS");
}

function usage(): string {
  const longest = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(longest)}  ${summary}`);
  return `usher <command>\n\n${lines.join("\n")}\n\nSee usher <command> --help for the options.\n`;
}

function version(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return version;
}
