/** What a session is set to, and when: at its start, once it is open, or in each transaction. */
import type { Reset } from "../../src/database/pool.ts";
import type { Conninfo } from "./connection-string.ts";

/** The options of a pool. Times are in milliseconds. */
export interface PoolOptions {
  /** Number of connections, all opened at start-up; 8 by default. */
  readonly size?: number;
  /** How long a borrower waits for a connection; 5000 by default. */
  readonly waitMs?: number;
  /** The server's `statement_timeout`; 10 000 by default. With 0 the pool sets none: one of the role or the database holds. */
  readonly statementTimeoutMs?: number;
  /** The server's `idle_in_transaction_session_timeout`; 30 000 by default, and with 0 as above. */
  readonly idleInTransactionTimeoutMs?: number;
  /**
   * When those two are set. Poolers refuse them where a connection starts, which is the default, `"startup"`. Behind a pooler in session
   * mode write `"session"`: they are set once the connection is open. Behind one in transaction mode write `"transaction"`: they are set
   * in each transaction, and the pool itself cancels a statement outside of one. There 0 lifts a limit of the role too.
   */
  readonly bounds?: PoolBounds;
  /** Settings of every connection, as `search_path`. They override the framework's. */
  readonly parameters?: { readonly [name: string]: string };
  /** Prepared statements per connection; 256 by default, and 0 where `bounds` is `"transaction"`. */
  readonly statementCache?: number;
  /**
   * The most bytes of a statement's result, as the server sends it as text: 134 217 728 (128 MiB) by default, 0 for no limit. A longer one
   * fails with `lost`, and its connection is replaced. Read a long result in parts.
   */
  readonly maxResultBytes?: number;
  /** The age at which a connection is replaced, plus or minus a tenth; 1 800 000 by default, 0 for none. */
  readonly maxLifetimeMs?: number;
  /** How long a connection is idle before the pool checks it, while another is idle; 60 000 by default, 0 for no checks. */
  readonly idleCheckMs?: number;
  /**
   * When a released connection's session is reset: by default after `use`, and after a transaction that changed it; never where `bounds`
   * is `"transaction"`.
   */
  readonly reset?: Reset;
}

/** When the pool sets its limits. */
export type PoolBounds = "startup" | "session" | "transaction";

export interface ConnectionSettings {
  /** The start-up parameters: the application's override the connection string's, which override ours. Case is ignored. */
  readonly parameters: { readonly [name: string]: string };
  /** A script for the session, once it is open and after each reset; or empty. */
  readonly session: string;
  /** What follows the `begin` of a transaction; or empty. */
  readonly local: string;
  /** Whether the limit of a statement is the pool's own, and not one of the application's. */
  readonly isBounded: boolean;
}

// `-c name=value` or `--name=value`, with `_` or `-` in a name.
const switches = /(?:^|\s)(?:-c\s*|--)([\w.-]+)=/g;

/** The server reads `options` before the other start-up parameters: ours would override it. */
export function settingsOf(target: Conninfo, options: PoolOptions): ConnectionSettings {
  const { statementTimeoutMs = 10_000, idleInTransactionTimeoutMs = 30_000, bounds = "startup" } = options;
  const given = [target.parameters, options.parameters ?? {}];
  const switched = options.parameters?.["options"] ?? target.parameters["options"] ?? "";
  const names = new Set([
    ...[...switched.matchAll(switches)].map(([, name = ""]) => name.toLowerCase().replaceAll("-", "_")),
    ...given.flatMap((set) => Object.keys(set)).map((name) => name.toLowerCase()),
  ]);
  const limits = [
    ["statement_timeout", statementTimeoutMs],
    ["idle_in_transaction_session_timeout", idleInTransactionTimeoutMs],
  ] as const;
  const late: readonly Setting[] = [
    // At the start a limit of 0 is not sent: a pooler is asked for no more than needed.
    ...limits.flatMap(([name, ms]) =>
      bounds === "startup" && ms === 0 ? [] : [[name, String(Math.ceil(ms))] as const],
    ),
    // PgBouncer before 1.20 refuses it at the start.
    ["IntervalStyle", "postgres"],
  ];
  const isOurs = ([name]: Setting): boolean => !names.has(name.toLowerCase());
  const own: readonly Setting[] = [
    ["application_name", "usher"],
    ...(bounds === "startup" ? late : []),
    ["DateStyle", "ISO"],
  ];
  const byName = new Map<string, Setting>();
  for (const set of [Object.fromEntries(own.filter(isOurs)), ...given])
    for (const [name, value] of Object.entries(set)) byName.set(name.toLowerCase(), [name, value]);
  const sets = (how: string) => late.filter(isOurs).map(([name, value]) => `${how} ${name} = ${value}`);
  return {
    parameters: Object.fromEntries(byName.values()),
    session: bounds === "session" ? sets("set").join("; ") : "",
    local:
      bounds === "transaction"
        ? sets("set local")
            .map((set) => `; ${set}`)
            .join("")
        : "",
    isBounded: statementTimeoutMs > 0 && !names.has("statement_timeout"),
  };
}

type Setting = readonly [name: string, value: string];
