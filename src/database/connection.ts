/** One connection to the database, as a driver gives it: the port that `adapters/postgres` implements. */
export interface DatabaseConnection {
  /** Whether it can take a statement still. */
  readonly isOpen: boolean;
  /** Whether something runs on it. */
  readonly isRunning: boolean;
  /**
   * Runs one statement, its parameters and its rows as text; one at a time.
   *
   * Rejects with a {@link LinkFailure}, and with nothing else.
   */
  run(sql: string, values: readonly (string | null)[]): Promise<StatementResult>;
  /** Runs statements without parameters, separated by semicolons, as one message; answers the last one's. */
  script(sql: string): Promise<StatementResult>;
  /** What the database makes of a statement that it does not run. */
  describe(sql: string): Promise<StatementColumns>;
  /** Asks the server to end the statement that runs. Settles when the server has been told, and no later statement can be meant. */
  cancel(): Promise<void>;
  /** Says goodbye and closes; settles when it is closed. */
  shut(): Promise<void>;
  /** Closes at once, whatever runs. */
  cut(): void;
}

/** What a driver tells of a connection that is open. */
export interface ConnectionEvents {
  /** It closed, whoever did it. Called once, before what ran on it rejects. */
  readonly closed: () => void;
  /** A `NOTIFY` on a channel it listens to. */
  readonly notified?: (channel: string, payload: string) => void;
}

/** Opens a connection; rejects with a {@link LinkFailure} that says why there is none. */
export type OpenConnection = (events: ConnectionEvents) => Promise<DatabaseConnection>;

/** A column of an answer: its name, and its type's number in `pg_type`. */
export interface Column {
  readonly name: string;
  readonly type: number;
}

export type StatementValues = readonly (string | null)[];

/** The rows of a statement, each the texts of its columns, and what the server said of it. */
export type StatementResult = readonly StatementValues[] & {
  readonly columns: readonly Column[];
  /** The command's word, as `SELECT` or `COMMIT`: what was done, which need not be what was asked. */
  readonly command: string;
  readonly count: number | null;
};

export interface StatementColumns {
  /** The types of its parameters, by number. */
  readonly params: readonly number[];
  readonly columns: readonly Column[];
}

/** Why a link did not do what it was asked. */
export type ConnectionError =
  /** The server's own word; the link goes on. */
  | {
      readonly kind: "refused";
      /** Five characters, as `23505`. */
      readonly code: string;
      readonly severity: string;
      /** May quote a value. */
      readonly message: string;
      readonly constraint: string | undefined;
      /** The names of what it is about, as of a table, a column or a constraint, that the server gives beside the message. */
      readonly names?: readonly string[];
      /** Where in the statement's text, by characters. */
      readonly position?: number;
    }
  /** The link is closed. Where nothing was sent, nothing happened; otherwise nobody knows. */
  | {
      readonly kind: "gone";
      readonly isSent: boolean;
      readonly why: string;
      /** What the server said as it closed it, as `57P01`. */
      readonly code?: string;
    }
  /** The statement is one that cannot be sent, on any link: nothing was. */
  | { readonly kind: "unsendable"; readonly why: string }
  /** There is none. */
  | { readonly kind: "unreachable"; readonly why: string };

export class LinkFailure extends Error {
  readonly trouble: ConnectionError;

  constructor(trouble: ConnectionError) {
    super(trouble.kind);
    this.name = "LinkFailure";
    this.trouble = trouble;
  }
}
