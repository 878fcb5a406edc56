import { parseArgs } from "node:util";
import process from "node:process";
import { CommandFailure, UsageError } from "./command.ts";
import type { Command } from "./command.ts";

const help = `usher migrate <folder> [options]

Applies to a PostgreSQL database each .sql file of the folder that was not applied yet, in the order of the numbers their
names begin with (0001_orders.sql), each in a transaction of its own, and prints their names. Needs the package postgres.

  --database URL   where the database is: DATABASE_URL of the environment unless given, as others see a command's arguments
  --wait SECONDS   how long another process that migrates the same database is waited for: 60 unless given`;

/** `usher migrate`: brings a database up to date. */
export const migrate: Command = {
  name: "migrate",
  summary: "apply the SQL files of a folder to a PostgreSQL database",
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { database: { type: "string" }, wait: { type: "string" } },
      allowPositionals: true,
    });
    const [directory, ...more] = positionals;
    if (directory === undefined) throw new UsageError("no folder is named");
    if (more.length > 0) throw new UsageError(`one folder is read, and ${more.length + 1} are named`);
    const { database = process.env["DATABASE_URL"], wait = "60" } = values;
    if (database === undefined) throw new UsageError("neither --database nor DATABASE_URL says where the database is");
    if (!/^\d{1,6}$/.test(wait)) throw new UsageError("--wait is a number of seconds");
    const { applied } = await migrated(database, { directory, waitMs: Number(wait) * 1000 });
    for (const name of applied) terminal.out(`${name}\n`);
    if (applied.length === 0) terminal.error("nothing to apply\n");
    return 0;
  },
};

async function migrated(database: string, options: { readonly directory: string; readonly waitMs: number }) {
  const { DatabaseError, MigrationError, migrate } = await postgres();
  try {
    return await migrate(database, options);
  } catch (thrown) {
    const isExpected = thrown instanceof MigrationError || thrown instanceof DatabaseError;
    throw isExpected ? new CommandFailure(thrown.message) : thrown;
  }
}

/** Only who migrates needs the driver. */
async function postgres() {
  try {
    return await import("../adapters/postgres/index.ts");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw thrown;
    throw new CommandFailure("the package postgres is not installed: npm install postgres");
  }
}
