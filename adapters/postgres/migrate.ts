import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ConnectionFailure, DatabaseError, failureOf } from "../../src/doors/database.ts";
import type { DatabaseConnection, ConnectionError } from "../../src/doors/database.ts";
import { needs, needsOptions, needsText } from "../../src/arguments.ts";
import type { Conninfo } from "./connection-string.ts";
import { openConnection } from "./connection.ts";
import { loadDriver } from "./private.ts";
import { targetOf } from "./dial.ts";
import { settingsOf } from "./settings.ts";

/** Why a migration failed: the file, the reason, and whether anything was kept. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationError";
  }
}

interface MigrationFile {
  /** `0001_orders.sql` */
  readonly name: string;
  readonly number: bigint;
  readonly text: string;
  /** SHA-256 of its text with `\n` as line end. */
  readonly hash: string;
  readonly inTransaction: boolean;
}

/** The `.sql` files of a folder, in the order of their numbers. */
async function readMigrations(directory: string): Promise<readonly MigrationFile[]> {
  const names = await namesIn(directory);
  const files = await Promise.all(names.map((name) => readMigration(directory, name)));
  files.sort((a, b) => (a.number < b.number ? -1 : 1));
  for (const [i, { name, number }] of files.entries()) {
    const before = files[i - 1];
    if (before?.number === number)
      throw new MigrationError(`${[before.name, name].toSorted().join(" and ")} have the same number`);
  }
  return files;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith(".sql"));
  } catch (error) {
    throw new MigrationError(`the folder of migrations could not be read: ${(error as Error).message}`);
  }
}

async function readMigration(directory: string, name: string): Promise<MigrationFile> {
  const digits = /^(\d{1,18})_./.exec(name)?.[1];
  if (digits === undefined) throw new MigrationError(`${name} has no number: name it like 0001_orders.sql`);
  const bytes = await readFile(join(directory, name)).catch((error: Error) => {
    throw new MigrationError(`${name} could not be read: ${error.message}`);
  });
  const text = migrationText(name, bytes);
  const hash = createHash("sha256").update(text).digest("hex");
  return {
    name,
    number: BigInt(digits),
    text,
    hash,
    inTransaction: !/^--\s*migrate:\s*no transaction\s*$/m.test(firstLine(text)),
  };
}

// TextDecoder removes a byte order mark. Git may change line ends from clone to clone, so the hash must not depend on them.
function migrationText(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
  } catch {
    throw new MigrationError(`${name} is not UTF-8`);
  }
}

function firstLine(text: string): string {
  return text.slice(0, text.includes("\n") ? text.indexOf("\n") : undefined);
}

/** The options of `migrate`. */
export interface MigrateOptions {
  /** The folder of the `.sql` files. */
  readonly directory: string;
  /** How long to wait for another process that migrates the same database; 60 000 by default. */
  readonly waitMs?: number;
}

/** The result of `migrate`. */
export interface Migrated {
  /** The names of the files that this call applied, in order. */
  readonly applied: readonly string[];
}

const table = "usher_migrations";
/**
 * The lock is polled. A statement that waits for it would hold a snapshot, and the other process's
 * `create index concurrently` waits for every older snapshot: a deadlock.
 */
const pollMs = 100;

/**
 * Applies each new `.sql` file of a folder, in the order of the numbers that begin their names (`0001_orders.sql`). Each
 * file and its record are one transaction. Run it before the server starts; if several processes start at once, one
 * applies the files and the others wait.
 *
 * Migrations go only forward. It refuses an applied file that was changed, renamed or removed, and a new file whose number
 * is lower than an applied one's. A file whose first line is `-- migrate: no transaction` is one statement that runs
 * outside a transaction, as `create index concurrently` must; write it so that it can run again.
 *
 * @throws MigrationError naming the file and the reason. A file that fails leaves nothing; the files before it stay.
 * @throws DatabaseError if the database cannot be reached.
 */
export async function migrate(target: string | Conninfo, options: MigrateOptions): Promise<Migrated> {
  needsOptions("migrate", options, "directory waitMs");
  const { directory, waitMs = 60_000 } = options;
  needsText("migrate: directory", directory);
  // With NaN it would wait for ever.
  needs(typeof waitMs === "number" && waitMs >= 0, "migrate: waitMs", waitMs, "milliseconds");
  const info = targetOf("migrate: its target", target);
  const files = await readMigrations(directory);
  try {
    const connection = await connect(info);
    try {
      return { applied: await bringUp(connection, files, waitMs) };
    } finally {
      await connection.shut();
    }
  } catch (thrown) {
    throw thrown instanceof ConnectionFailure ? new DatabaseError(failureOf(thrown.reason, "a migration", [])) : thrown;
  }
}

async function connect(target: Conninfo): Promise<DatabaseConnection> {
  const driver = await loadDriver("migrate");
  const parameters = { application_name: "usher migrate" };
  const settings = settingsOf(target, { parameters, bounds: "session" });
  return openConnection(target, { driver, parameters: settings.parameters, statementCache: 0 }, { closed: () => {} });
}

/** A change of a large table may take any time. A pooler refuses these where a connection starts; not every version has each. */
const unlimiting =
  "select set_config(name, '0', false) from pg_settings where name in " +
  "('statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout', 'transaction_timeout')";

async function bringUp(
  connection: DatabaseConnection,
  files: readonly MigrationFile[],
  waitMs: number,
): Promise<readonly string[]> {
  await connection.run(unlimiting, []);
  await lock(connection, waitMs);
  const record = await recordIn(connection);
  const pending = pendingOf(files, await record.applied());
  for (const file of pending) await apply(connection, file, record);
  return pending.map(({ name }) => name);
}

/** Held until the connection closes. */
async function lock(connection: DatabaseConnection, waitMs: number): Promise<void> {
  for (let waited = 0; ; waited += pollMs) {
    const [row] = await connection.run(`select pg_try_advisory_lock(hashtextextended('${table}', 0))`, []);
    if (row?.[0] === "t") return;
    if (waited >= waitMs) {
      throw new MigrationError(`another process is migrating this database and did not finish within ${waitMs} ms`);
    }
    await delay(Math.min(pollMs, waitMs));
  }
}

interface Applied {
  readonly name: string;
  readonly hash: string;
  readonly number: bigint;
}

/** The table of applied files. */
interface MigrationRecord {
  applied(): Promise<readonly Applied[]>;
  add(file: MigrationFile): Promise<unknown>;
}

async function recordIn(connection: DatabaseConnection): Promise<MigrationRecord> {
  let schema = await schemaOf(connection);
  if (schema === undefined) {
    throw new MigrationError("no schema of the search_path exists: create one before the first migration");
  }
  // Named with its schema: a file may change the search_path.
  const records = (): string => `${schema}.${table}`;
  // With `if not exists` a role that may not create one, and a standby, would fail although nothing is to be applied.
  const [[found] = []] = await connection.run("select to_regclass($1)", [records()]);
  if (found === null) {
    await connection.script(`create table ${records()} (number bigint primary key, name text not null,
      hash text not null, applied_at timestamptz not null default now())`);
  }
  return {
    async applied() {
      const rows = await connection.run(`select number, name, hash from ${records()} order by number`, []);
      return rows.map(([number, name, hash]) => {
        if (typeof name !== "string" || typeof hash !== "string" || !/^\d{1,19}$/.test(number ?? ""))
          throw new MigrationError(`the table ${records()} has a row that is not a migration's`);
        return { number: BigInt(number as string), name, hash };
      });
    },
    async add({ number, name, hash }) {
      // The role that a file has set need not have the right to write the record.
      await connection.script("set session authorization default; reset search_path");
      // The next run looks for the record in the first schema of the search_path, which this file may have created.
      const first = await schemaOf(connection);
      if (first !== undefined && first !== schema)
        await connection.script(`alter table ${records()} set schema ${first}`);
      schema = first ?? schema;
      const row = [String(number), name, hash];
      await connection.run(`insert into ${records()} (number, name, hash) values ($1, $2, $3)`, row);
    },
  };
}

/** The first schema of the search_path that exists, in quotes where it needs them. */
async function schemaOf(connection: DatabaseConnection): Promise<string | undefined> {
  const [row] = await connection.run("select quote_ident(current_schema())", []);
  return row?.[0] ?? undefined;
}

function pendingOf(files: readonly MigrationFile[], applied: readonly Applied[]): readonly MigrationFile[] {
  for (const { name, hash } of applied) {
    const file = files.find((file) => file.name === name);
    if (file === undefined) throw new MigrationError(`${name} was applied, but is not in the folder`);
    if (file.hash !== hash) {
      const fix =
        "restore its old text, and put the changes in a new file, or use a database that no other program migrates";
      throw new MigrationError(`${name} was applied and has changed since: ${fix}`);
    }
  }
  const last = applied.at(-1);
  const pending = files.filter(({ name }) => !applied.some((one) => one.name === name));
  const late = pending.find(({ number }) => last !== undefined && number < last.number);
  if (late !== undefined) {
    const fix = "give it a higher number";
    throw new MigrationError(`${late.name} comes before ${last?.name}, which was applied: ${fix}`);
  }
  return pending;
}

async function apply(connection: DatabaseConnection, file: MigrationFile, record: MigrationRecord): Promise<void> {
  try {
    await (file.inTransaction ? applyWhole(connection, file, record) : connection.script(file.text));
  } catch (thrown) {
    throw thrown instanceof ConnectionFailure ? migrationFailure(file, thrown.reason) : thrown;
  }
  if (!file.inTransaction) {
    await refuseInvalidIndex(connection, file);
    await record.add(file);
  }
  // A file's session settings must not affect the next file.
  await connection.script(`reset all; set session authorization default; ${unlimiting}`);
}

/** `create index concurrently` that fails leaves an invalid index. With `if not exists` its next run leaves it as it is. */
async function refuseInvalidIndex(connection: DatabaseConnection, { name, text }: MigrationFile): Promise<void> {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}_$]+/u);
  // That of a partitioned table ("I") is invalid until each partition has one.
  const invalid =
    "select relname from pg_index join pg_class on oid = indexrelid where not indisvalid and relkind = 'i'";
  for (const [index = null] of await connection.run(invalid, [])) {
    if (index === null || !words.includes(index.toLowerCase())) continue;
    throw new MigrationError(`${name}: the index ${index} is invalid, as it could not be made before: drop it first`);
  }
}

async function applyWhole(connection: DatabaseConnection, file: MigrationFile, record: MigrationRecord): Promise<void> {
  await connection.script("begin");
  const before = await transactionOf(connection);
  try {
    await connection.script(file.text);
  } catch (thrown) {
    const isPartKept = thrown instanceof ConnectionFailure && (await isCommitted(connection, before));
    throw isPartKept
      ? migrationFailure(file, thrown.reason, "It ended its transaction itself, so a part of it was kept.")
      : thrown;
  }
  if ((await transactionOf(connection)) !== before) {
    throw new MigrationError(`${file.name} ended its transaction itself, so its changes were kept but not recorded`);
  }
  await record.add(file);
  const { command } = await connection.script("commit");
  if (command !== "COMMIT") throw new MigrationError(`${file.name} was rolled back by the server`);
}

async function transactionOf(connection: DatabaseConnection): Promise<string> {
  const [row] = await connection.run("select pg_current_xact_id()", []);
  return row?.[0] as string;
}

/** Whether a file that has failed had committed the transaction before that. */
async function isCommitted(connection: DatabaseConnection, transaction: string): Promise<boolean> {
  if (!connection.isOpen) return false;
  await connection.script("rollback");
  const [row] = await connection.run("select pg_xact_status($1)", [transaction]);
  return row?.[0] === "committed";
}

const unknown = "It is not known whether anything was kept.";

function migrationFailure(
  { name, text, inTransaction }: MigrationFile,
  reason: ConnectionError,
  kept: string = inTransaction ? "Nothing was kept." : unknown,
): MigrationError {
  if (reason.kind === "unsendable") return new MigrationError(`${name}: ${reason.why}. Nothing was kept.`);
  if (reason.kind !== "refused") return new MigrationError(`${name}: ${reason.why}. ${unknown}`);
  const { severity, code, message, position } = reason;
  // The server counts code points.
  const before = position === undefined ? "" : Array.from(text).slice(0, position).join("");
  const line = position === undefined ? "" : `:${before.split("\n").length}`;
  return new MigrationError(`${name}${line}: ${severity} ${code}: ${message}. ${kept}`);
}
