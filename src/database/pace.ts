/* Which statements may wait for another one on its connection: those that only read, and were quick each time. */

/** How many runs in a row must be quick before a statement shares a connection. */
const provenRuns = 100;
/** A busy machine takes 10 ms for a row by its id; each statement behind a slow one waits for all of it. */
const quickMs = 100;

// A statement that writes is sent alone: when a connection is lost, the outcome of every statement that was sent is unknown.
const reads = /^\s*select\b(?!.*\b(?:into|for\s+(?:no\s+key\s+)?update|for\s+(?:key\s+)?share)\b)/is;

/** How quickly one statement has run in one pool while callers waited. */
export class Pace {
  readonly sql: string;
  #quickRuns = 0;

  constructor(sql: string) {
    this.sql = sql;
  }

  get isQuick(): boolean {
    return this.#quickRuns >= provenRuns;
  }

  ran(ms: number): void {
    this.#quickRuns = ms < quickMs ? this.#quickRuns + 1 : 0;
  }
}

/** The statements of one pool that only read. Each is a value that a program makes once. */
export class Paces {
  readonly #of = new WeakMap<object, Pace | "writes">();

  /** Undefined for one that may write. */
  of(statement: { readonly sql: string }): Pace | undefined {
    const known = this.#of.get(statement);
    if (known !== undefined) return known === "writes" ? undefined : known;
    const pace = reads.test(statement.sql) ? new Pace(statement.sql) : undefined;
    this.#of.set(statement, pace ?? "writes");
    return pace;
  }
}
