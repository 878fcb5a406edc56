import type { Conninfo } from "./conninfo.ts";
import type { PoolOptions } from "./options.ts";

/** The framework's parameters, the connection string's over them, and the application's over both, whatever their case. */
export function parametersOf(target: Conninfo, options: PoolOptions): { readonly [name: string]: string } {
  const own = {
    application_name: "usher",
    statement_timeout: bound(options.statementTimeoutMs ?? 10_000),
    idle_in_transaction_session_timeout: bound(options.idleInTransactionTimeoutMs ?? 30_000),
    DateStyle: "ISO",
    IntervalStyle: "postgres",
  };
  const byName = new Map<string, readonly [string, string]>();
  for (const set of [own, target.parameters, options.parameters ?? {}])
    for (const [name, value] of Object.entries(set)) byName.set(name.toLowerCase(), [name, value]);
  return Object.fromEntries(byName.values());
}

// Whole milliseconds, rounded up; 0 is sent, as the server's own settings may hold a bound.
function bound(ms: number): string {
  return String(Math.ceil(ms));
}
