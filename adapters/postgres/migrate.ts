import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { LinkFailure } from "../../src/database/connection.ts";
import type { DatabaseConnection, ConnectionError } from "../../src/database/connection.ts";
import { DatabaseError, failureOf } from "../../src/database/failure.ts";
import { parse } from "./connection-string.ts";
import type { Conninfo } from "./connection-string.ts";
import { openConnection } from "./connection.ts";
import { parametersOf } from "./dial.ts";

/** Why a database was not migrated: which file, what is wrong with it, and what was kept. */
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
  /** SHA-256 of its text, whatever its line ends are. */
  readonly hash: string;
  readonly inTransaction: boolean;
}

/** The `.sql` files of a folder, in the order of their numbers. Throws a {@link MigrationError} naming what is none. */
async function readMigrations(directory: string): Promise<readonly MigrationFile[]> {
  const names = await namesIn(directory);
  const files = await Promise.all(names.map((name) => readMigration(directory, name)));
  files.sort((a, b) => (a.number < b.number ? -1 : 1));
  for (const [i, { name, number }] of files.entries()) {
    const before = files[i - 1];
    if (before?.number === number)
      throw new MigrationError(`${[before.name, name].toSorted().join(" and ")} have one number`);
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
  if (digits === undefined) throw new MigrationError(`${name} has no number: name it as 0001_orders.sql`);
  const text = textOf(name, await readFile(join(directory, name)));
  const hash = createHash("sha256").update(text).digest("hex");
  return {
    name,
    number: BigInt(digits),
    text,
    hash,
    inTransaction: !/^--\s*migrate:\s*no transaction\s*$/m.test(firstLine(text)),
  };
}

// A byte order mark goes with the decoding. Git may change the line ends of one file from clone to clone.
function textOf(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
  } catch {
    throw new MigrationError(`${name} is not UTF-8`);
  }
}

function firstLine(text: string): string {
  return text.slice(0, text.includes("\n") ? text.indexOf("\n") : undefined);
}

export interface MigrateOptions {
  /** The folder of the `.sql` files. */
  readonly directory: string;
  /** How long another process that migrates the same database is waited for; 60 000 by default. */
  readonly waitMs?: number;
}

export interface Migrated {
  /** The names of the files that were applied now, in their order. */
  readonly applied: readonly string[];
}

const table = "usher_migrations";
/**
 * The lock is asked for again and again and not waited in: a statement that waits has a snapshot, for whose end the other
 * process's `create index concurrently` would wait in turn.
 */
const pollMs = 100;

/**
 * Brings a database up to date: applies each `.sql` file of a folder that was not applied yet, in the order of the
 * numbers their names begin with (`0001_orders.sql`), each in a transaction of its own with the record that it was. Run it
 * before the server starts; of several processes that start at once, one applies and the others wait for it.
 *
 * There is only forward. A file that was applied and was changed, renamed or removed since is refused, and so is a new one
 * whose number comes before an applied one's. A file whose first line is `-- migrate: no transaction` is one statement that
 * runs outside of any, as `create index concurrently` must; write it so that it can be run again.
 *
 * @throws MigrationError naming the file and what is wrong; nothing of a file that fails is kept, and those before it are.
 * @throws DatabaseError where the database cannot be reached.
 */
export async function migrate(target: string | Conninfo, options: MigrateOptions): Promise<Migrated> {
  const files = await readMigrations(options.directory);
  try {
    const link = await connect(typeof target === "string" ? parse(target) : target);
    try {
      return { applied: await bringUp(link, files, options.waitMs ?? 60_000) };
    } finally {
      await link.shut();
    }
  } catch (thrown) {
    throw thrown instanceof LinkFailure ? new DatabaseError(failureOf(thrown.trouble, "a migration", [])) : thrown;
  }
}

function connect(target: Conninfo): Promise<DatabaseConnection> {
  // A change of a large table takes as long as it takes.
  const unbounded = { statement_timeout: "0", idle_in_transaction_session_timeout: "0", lock_timeout: "0" };
  const parameters = { ...unbounded, application_name: "usher migrate", client_min_messages: "warning" };
  const options = { parameters: parametersOf(target, { parameters }), statementCache: 0 };
  return openConnection(target, options, { closed: () => {} });
}

async function bringUp(
  link: DatabaseConnection,
  files: readonly MigrationFile[],
  waitMs: number,
): Promise<readonly string[]> {
  await lock(link, waitMs);
  const record = await recordIn(link);
  const pending = pendingOf(files, await record.applied());
  for (const file of pending) await apply(link, file, record);
  return pending.map(({ name }) => name);
}

/** Held until the connection closes. */
async function lock(link: DatabaseConnection, waitMs: number): Promise<void> {
  for (let waited = 0; ; waited += pollMs) {
    const [row] = await link.run(`select pg_try_advisory_lock(hashtextextended('${table}', 0))`, []);
    if (row?.[0] === "t") return;
    if (waited >= waitMs) {
      throw new MigrationError(`another process migrates this database, and has not ended within ${waitMs} ms`);
    }
    await delay(Math.min(pollMs, waitMs));
  }
}

interface Applied {
  readonly name: string;
  readonly hash: string;
  readonly number: bigint;
}

/** What is known to have been applied. */
interface MigrationRecord {
  applied(): Promise<readonly Applied[]>;
  add(file: MigrationFile): Promise<unknown>;
}

async function recordIn(link: DatabaseConnection): Promise<MigrationRecord> {
  // Named with its schema: a file may set the path along which names are looked up.
  const [row] = await link.run("select quote_ident(current_schema())", []);
  const records = `${row?.[0]}.${table}`;
  await link.script(`create table if not exists ${records} (number bigint primary key, name text not null,
    hash text not null, applied_at timestamptz not null default now())`);
  return {
    async applied() {
      const rows = await link.run(`select number, name, hash from ${records} order by number`, []);
      return rows.map(([number, name, hash]) => {
        return { number: BigInt(number as string), name: name as string, hash: hash as string };
      });
    },
    add: ({ number, name, hash }) =>
      link.run(`insert into ${records} (number, name, hash) values ($1, $2, $3)`, [String(number), name, hash]),
  };
}

function pendingOf(files: readonly MigrationFile[], applied: readonly Applied[]): readonly MigrationFile[] {
  for (const { name, hash } of applied) {
    const file = files.find((file) => file.name === name);
    if (file === undefined) throw new MigrationError(`${name} was applied, and is not in the folder`);
    if (file.hash !== hash) {
      const mend = "put back what it said, and write what is new in a file of its own";
      throw new MigrationError(`${name} was applied and has changed since: ${mend}`);
    }
  }
  const last = applied.at(-1);
  const pending = files.filter(({ name }) => !applied.some((one) => one.name === name));
  const late = pending.find(({ number }) => last !== undefined && number < last.number);
  if (late !== undefined) {
    const mend = "give it a number after that";
    throw new MigrationError(`${late.name} comes before ${last?.name}, which was applied: ${mend}`);
  }
  return pending;
}

async function apply(link: DatabaseConnection, file: MigrationFile, record: MigrationRecord): Promise<void> {
  try {
    await (file.inTransaction ? applyWhole(link, file, record) : link.script(file.text));
  } catch (thrown) {
    throw thrown instanceof LinkFailure ? failed(file, thrown.trouble) : thrown;
  }
  if (!file.inTransaction) await record.add(file);
  // What a file set for its session is no business of the next one's.
  await link.script("reset all; set session authorization default");
}

/** The file and the record of it, both or neither. */
async function applyWhole(link: DatabaseConnection, file: MigrationFile, record: MigrationRecord): Promise<void> {
  await link.script("begin");
  const before = await transactionOf(link);
  await link.script(file.text);
  if ((await transactionOf(link)) !== before) {
    throw new MigrationError(
      `${file.name} ended the transaction it ran in, so that what it did was kept and not recorded`,
    );
  }
  await record.add(file);
  const { command } = await link.script("commit");
  if (command !== "COMMIT") throw new MigrationError(`${file.name} was rolled back by the server`);
}

async function transactionOf(link: DatabaseConnection): Promise<unknown> {
  const [row] = await link.run("select pg_current_xact_id()", []);
  return row?.[0];
}

function failed({ name, text, inTransaction }: MigrationFile, trouble: ConnectionError): MigrationError {
  if (trouble.kind === "unsendable") return new MigrationError(`${name}: ${trouble.why}. Nothing of it was kept.`);
  if (trouble.kind !== "refused")
    return new MigrationError(`${name}: ${trouble.why}. What of it was kept is not known.`);
  const { severity, code, message, position } = trouble;
  const line = position === undefined ? "" : `:${text.slice(0, position).split("\n").length}`;
  const kept = inTransaction ? "Nothing of it was kept." : "What of it was kept is not known.";
  return new MigrationError(`${name}${line}: ${severity} ${code}: ${message}. ${kept}`);
}
