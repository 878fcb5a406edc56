/** `ApiKeyTable`: stores the digests of API keys in a table. */
import * as Statement from "../../src/database/statement.ts";
import type { Database } from "../../src/doors/database.ts";
import * as Type from "../../src/database/types.ts";
import type { ApiKeyEntry, ApiKeyStore } from "../../src/doors/security.ts";
import { indexOf, needsPool, sweepAll, sweeping, tableOf } from "./tables.ts";

/** The options of the table. */
export interface ApiKeyTableOptions {
  /** The table's name: up to 63 lower-case letters, digits and `_`, not starting with a digit. */
  readonly table: string;
}

/** The SQL that creates the table and its indexes, for a migration. */
export function schema(options: ApiKeyTableOptions): string {
  const name = tableOf("ApiKeyTable", options);
  const index = (column: string): string => indexOf(options.table, column);
  return `create table ${name} (
  digest text primary key,
  id text not null unique,
  owner text not null,
  name text not null,
  scopes text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  used_at timestamptz
);
create index ${index("owner")} on ${name} (owner);
create index ${index("expires_at")} on ${name} (expires_at) where expires_at is not null;
comment on table ${name} is 'API keys.';
comment on column ${name}.digest is 'SHA-256 of the key, which only its owner has.';
comment on column ${name}.scopes is 'What it allows, with spaces between.';
comment on column ${name}.used_at is 'When it was last used, to a minute.';
`;
}

/** A store for `ApiKeys.make`, over a table that `ApiKeyTable.schema` created. Each call borrows a connection. */
export function store(pool: Database, options: ApiKeyTableOptions): ApiKeyStore {
  needsPool("ApiKeyTable", pool);
  const { add, find, get, list, expire, used, sweep } = statementsOver(options);
  return {
    async add({ digest, id, owner, name, scopes, createdAt, expiresAt }) {
      await pool.exec(add, digest, id, owner, name, scopes.join(" "), createdAt, expiresAt);
    },
    async find(digest) {
      const row = await pool.exec(find, digest);
      return row && entryOf(row);
    },
    async get(id) {
      const row = await pool.exec(get, id);
      return row && entryOf(row);
    },
    list: async (owner) => (await pool.exec(list, owner)).map(entryOf),
    expire: async (id, at) => (await pool.exec(expire, id, at)) > 0,
    async used(id, at) {
      await pool.exec(used, id, at);
    },
    sweep: (before) => sweepAll(() => pool.exec(sweep, before)),
  };
}

/** The store's statements, for `Statement.verify`. */
export function statements(options: ApiKeyTableOptions): readonly Statement.Statement<never, unknown>[] {
  return Object.values(statementsOver(options));
}

function statementsOver(options: ApiKeyTableOptions) {
  const table = tableOf("ApiKeyTable", options);
  const { text, instant, optional } = Type;
  const row = {
    digest: text,
    id: text,
    owner: text,
    name: text,
    scopes: text,
    created_at: instant,
    expires_at: optional(instant),
    used_at: optional(instant),
  };
  const columns = Object.keys(row).join(", ");
  return {
    add: Statement.exec(
      `insert into ${table} (digest, id, owner, name, scopes, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
      { params: [text, text, text, text, text, instant, optional(instant)] },
    ),
    find: Statement.findOptional(`select ${columns} from ${table} where digest = $1`, { params: [text], row }),
    get: Statement.findOptional(`select ${columns} from ${table} where id = $1`, { params: [text], row }),
    list: Statement.list(`select ${columns} from ${table} where owner = $1 order by created_at desc, id`, {
      params: [text],
      row,
    }),
    // `least` leaves out what is null: a key without an end gets one, and no key gets a later one.
    expire: Statement.count(`update ${table} set expires_at = least(expires_at, $2) where id = $1`, {
      params: [text, instant],
    }),
    used: Statement.exec(`update ${table} set used_at = greatest(used_at, $2) where id = $1`, {
      params: [text, instant],
    }),
    sweep: Statement.count(sweeping(table, "expires_at <= $1"), { params: [instant] }),
  };
}

interface ApiKeyRow {
  readonly digest: string;
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly scopes: string;
  readonly created_at: Date;
  readonly expires_at: Date | undefined;
  readonly used_at: Date | undefined;
}

function entryOf({ digest, id, owner, name, scopes, ...times }: ApiKeyRow): ApiKeyEntry {
  const { created_at: createdAt, expires_at: expiresAt, used_at: usedAt } = times;
  return { digest, id, owner, name, scopes: scopes === "" ? [] : scopes.split(" "), createdAt, expiresAt, usedAt };
}
