import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";

/** Where a command prints. */
export interface Terminal {
  readonly out: (text: string | Uint8Array) => void;
  readonly error: (text: string) => void;
  /** The width of the terminal; undefined if the output is not a terminal. */
  readonly columns?: number | undefined;
}

/** A command of `usher`. To add one, write it in a file of its own and list it in `run.ts`. */
export interface Command {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Usage, description and options. */
  readonly help: string;
  /** Resolves with the exit code. A thrown error is printed; the exit code is 2 for a {@link UsageError}, otherwise 1. */
  readonly run: (args: readonly string[], terminal: Terminal) => Promise<number>;
}

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command failed for a reason that its message explains, so no stack is printed. */
export class CommandFailure extends Error {
  override readonly name: string = "Failure";
}

/** An error as a command prints it: with its stack, unless its message explains it. */
export function describeFailure(thrown: unknown): string {
  if (thrown instanceof CommandFailure) return thrown.message;
  // Its stack is the one of the command.
  if (thrown instanceof Error && thrown.name === "DeclarationError") return thrown.message + adviceOn(thrown.message);
  return (thrown instanceof Error ? thrown.stack : undefined) ?? String(thrown);
}

/** A program supplies resources where it serves; a command reads them of the module. */
function adviceOn(problems: string): string {
  return /reads the resource .*, which the option resources lacks: /m.test(problems)
    ? "\nExport `options` beside `routes`: export const options = { resources: [Dep.resource(dependency, value)] };"
    : "";
}

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Parses the module argument and the options. */
export function moduleAnd<const O extends Options>(
  args: readonly string[],
  options: O,
): { readonly module: string; readonly values: ReturnType<typeof parseArgs<{ options: O }>>["values"] } {
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [module, ...more] = positionals;
  if (module === undefined) throw new UsageError("the module is missing");
  if (more.length > 0) throw new UsageError(`give one module, not ${more.length + 1}`);
  return { module, values };
}
