import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Failure, UsageError } from "./command.ts";
import type { Terminal } from "./command.ts";

/** Where what a command made goes: to standard output, to a file, or beside the file that should hold it. */
export interface Destination {
  readonly output: string | undefined;
  readonly check: string | undefined;
}

/** Writes what was made, or compares it. Answers the exit code: 1 where the file is not what is made. */
export function deliver(
  text: string,
  { output, check }: Destination,
  terminal: Terminal,
  difference: (before: string, after: string) => readonly string[],
): number {
  if (output !== undefined && check !== undefined) throw new UsageError("either --output or --check, and not both");
  if (check !== undefined) return compare(text, check, terminal, difference);
  if (output === undefined) terminal.out(text);
  else {
    orFail(`${output} cannot be written`, () => writeFileSync(output, text));
    terminal.out(`${output}\n`);
  }
  return 0;
}

function compare(
  text: string,
  file: string,
  terminal: Terminal,
  difference: (before: string, after: string) => readonly string[],
): number {
  if (!existsSync(file)) throw new Failure(`${file} is missing: generate it`);
  const before = orFail(`${file} cannot be read`, () => readFileSync(file, "utf8"));
  const lines = difference(before, text);
  if (lines.length === 0) return 0;
  for (const line of lines) terminal.out(`${line}\n`);
  throw new Failure(`${file} is not what the routes make: generate it again`);
}

/** The system's own word for why says enough. */
function orFail<A>(what: string, act: () => A): A {
  try {
    return act();
  } catch (thrown) {
    throw new Failure(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
