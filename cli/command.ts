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
export class Failure extends Error {
  override readonly name: string = "Failure";
}
