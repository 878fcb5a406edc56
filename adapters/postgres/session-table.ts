/** `SessionTable`: stores sign-in sessions in a table. */
import * as Statement from "../../src/database/statement.ts";
import type { Database } from "../../src/doors/database.ts";
import * as Type from "../../src/database/types.ts";
import type { SessionEntry, SessionStore } from "../../src/doors/security.ts";
import { indexOf, needsPool, sweepAll, sweeping, tableOf } from "./tables.ts";

/** The options of the table. */
export interface SessionTableOptions {
  /** The table's name: up to 63 lower-case letters, digits and `_`, not starting with a digit. */
  readonly table: string;
}

/** The SQL that creates the table and its index, for a migration. */
export function schema(options: SessionTableOptions): string {
  const name = tableOf("SessionTable", options);
  const index = indexOf(options.table, "expires_at");
  return `create table ${name} (
  digest text primary key,
  data text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index ${index} on ${name} (expires_at);
comment on table ${name} is 'Sign-in sessions.';
comment on column ${name}.digest is 'SHA-256 of the session id, which only the browser holds.';
comment on column ${name}.seen_at is 'When the session was last used, to a tenth of its idle time-out.';
comment on column ${name}.expires_at is 'When the session expires.';
`;
}

/**
 * A session store for `Sessions.make`, over a table that `SessionTable.schema` created. Each call borrows a connection. The
 * application calls `sweep` from time to time to delete expired sessions.
 */
export function store(pool: Database, options: SessionTableOptions): SessionStore {
  needsPool("SessionTable", pool);
  const { find, start, update, see, replace, remove, sweep } = statementsOver(options);
  return {
    async find(digest) {
      const row = await pool.exec(find, digest);
      return row && { data: row.data, createdAt: row.created_at, seenAt: row.seen_at, expiresAt: row.expires_at };
    },
    async save(digest, entry, change = "started") {
      const { data, createdAt, seenAt, expiresAt }: SessionEntry = entry;
      if (change === "started") await pool.exec(start, digest, data, createdAt, seenAt, expiresAt);
      else if (change === "updated") await pool.exec(update, digest, data, seenAt, expiresAt);
      else await pool.exec(see, digest, seenAt, expiresAt);
    },
    async replace(digest, next, { createdAt, seenAt, expiresAt }) {
      return (await pool.exec(replace, digest, next, createdAt, seenAt, expiresAt)) > 0;
    },
    delete: (digest) => pool.exec(remove, digest),
    sweep: (now) => sweepAll(() => pool.exec(sweep, now)),
  };
}

/** The store's statements, for `Statement.verify`. */
export function statements(options: SessionTableOptions): readonly Statement.Statement<never, unknown>[] {
  return Object.values(statementsOver(options));
}

function statementsOver(options: SessionTableOptions) {
  const name = tableOf("SessionTable", options);
  const { text, instant } = Type;
  return {
    find: Statement.findOptional(`select data, created_at, seen_at, expires_at from ${name} where digest = $1`, {
      params: [text],
      row: { data: text, created_at: instant, seen_at: instant, expires_at: instant },
    }),
    start: Statement.exec(
      `insert into ${name} (digest, data, created_at, seen_at, expires_at) values ($1, $2, $3, $4, $5)
       on conflict (digest) do update set data = excluded.data, seen_at = excluded.seen_at, expires_at = excluded.expires_at`,
      { params: [text, text, instant, instant, instant] },
    ),
    update: Statement.exec(`update ${name} set data = $2, seen_at = $3, expires_at = $4 where digest = $1`, {
      params: [text, text, instant, instant],
    }),
    see: Statement.exec(`update ${name} set seen_at = $2, expires_at = $3 where digest = $1`, {
      params: [text, instant, instant],
    }),
    // PostgreSQL locks the row: of two concurrent calls the second finds another digest or no row.
    replace: Statement.count(
      `update ${name} set digest = $2, created_at = $3, seen_at = $4, expires_at = $5 where digest = $1`,
      { params: [text, text, instant, instant, instant] },
    ),
    remove: Statement.exec(`delete from ${name} where digest = $1`, { params: [text] }),
    sweep: Statement.count(sweeping(name, "expires_at <= $1"), { params: [instant] }),
  };
}
