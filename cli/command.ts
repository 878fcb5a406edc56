import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";

/** What a command prints to. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** How wide it is; undefined where what is printed goes elsewhere. */
  readonly columns?: number | undefined;
}

/** A command of `usher`. To add one, write it in a file of its own and list it in `commands.ts`. */
export interface Command {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** How it is called, what it does, its options. */
  readonly help: string;
  /** Answers the exit code. What it throws is told, and is the exit code 2 for a {@link UsageError} and 1 for any other. */
  readonly run: (args: readonly string[], terminal: Terminal) => Promise<number>;
}

/** The command line cannot be understood. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command could not do its work, and the message says why: nothing is wrong with the command itself. */
export class CommandFailure extends Error {
  override readonly name: string = "Failure";
}

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The module a command is called with, and its options. */
export function moduleAnd<const O extends Options>(
  args: readonly string[],
  options: O,
): { readonly module: string; readonly values: ReturnType<typeof parseArgs<{ options: O }>>["values"] } {
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [module, ...more] = positionals;
  if (module === undefined) throw new UsageError("no module is named");
  if (more.length > 0) throw new UsageError(`one module is read, and ${more.length + 1} are named`);
  return { module, values };
}
