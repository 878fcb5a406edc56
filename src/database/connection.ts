/** One connection to the database: the port that `adapters/postgres` implements. */
export interface DatabaseConnection {
  /** Whether it can still run a statement. */
  readonly isOpen: boolean;
  /** Whether a statement runs on it. */
  readonly isRunning: boolean;
  /**
   * Runs one statement; its parameters and rows are text. The caller runs one at a time, or several for which
   * `isPrepared` holds.
   *
   * Rejects only with a {@link ConnectionFailure}.
   */
  run(sql: string, values: readonly (string | null)[]): Promise<StatementResult>;
  /** Whether the server has prepared this statement, so that it can be sent while others run. */
  isPrepared(sql: string): boolean;
  /** Sends the statements that are run before the next turn of the event loop by one write. */
  gather(): void;
  /** Runs statements without parameters, separated by semicolons, as one message. Resolves with the last result. */
  script(sql: string): Promise<StatementResult>;
  /** Describes a statement without running it. */
  describe(sql: string): Promise<StatementColumns>;
  /** Asks the server to cancel the running statement. Settles when the request can no longer hit a later statement. */
  cancel(): Promise<void>;
  /** Sends Terminate and closes. Settles when the connection is closed. */
  shut(): Promise<void>;
  /** Closes at once, even while a statement runs. */
  cut(): void;
}

/** The events of an open connection. */
export interface ConnectionEvents {
  /** Called once when either side closes it, before the running statement rejects. */
  readonly closed: () => void;
  /** A `NOTIFY` on a channel that the connection listens to. */
  readonly notified?: (channel: string, payload: string) => void;
}

/** Opens a connection. Rejects with a {@link ConnectionFailure}. */
export type OpenConnection = (events: ConnectionEvents) => Promise<DatabaseConnection>;

/** A column of a result. */
export interface Column {
  /** Its name, as the statement gives it. */
  readonly name: string;
  /** The OID of its type in `pg_type`. */
  readonly type: number;
}

export type StatementValues = readonly (string | null)[];

/** The rows of a statement, every column as text, and the server's command tag. */
export type StatementResult = readonly StatementValues[] & {
  readonly columns: readonly Column[];
  /** The command that the server ran, as `SELECT`. It answers a `COMMIT` of a failed transaction with `ROLLBACK`. */
  readonly command: string;
  readonly count: number | null;
};

export interface StatementColumns {
  /** The OIDs of the parameters' types. */
  readonly params: readonly number[];
  readonly columns: readonly Column[];
}

/** Why a connection did not run a statement. */
export type ConnectionError =
  /** The server sent an error. The connection stays open. */
  | {
      readonly kind: "refused";
      /** SQLSTATE, as `23505`. */
      readonly code: string;
      readonly severity: string;
      /** May quote a parameter's value. */
      readonly message: string;
      readonly constraint: string | undefined;
      /** The table, column and constraint that the server names in fields of their own. */
      readonly names?: readonly string[];
      /** The place in the statement's text, in characters. */
      readonly position?: number;
    }
  /** The connection closed. If the statement was sent, its outcome is unknown. */
  | {
      readonly kind: "gone";
      readonly isSent: boolean;
      readonly why: string;
      /** The SQLSTATE with which the server closed it, as `57P01`. */
      readonly code?: string;
    }
  /** No connection can send this statement. Nothing was sent. */
  | { readonly kind: "unsendable"; readonly why: string }
  /** The connection could not be opened. */
  | { readonly kind: "unreachable"; readonly why: string };

export class ConnectionFailure extends Error {
  readonly reason: ConnectionError;

  constructor(reason: ConnectionError) {
    super(reason.kind);
    this.name = "ConnectionFailure";
    this.reason = reason;
  }
}
