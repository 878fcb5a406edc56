import { parseArgs } from "node:util";
import process from "node:process";
import { MissingPackageError } from "../src/packages.ts";
import { CommandFailure, UsageError } from "./command.ts";
import type { Command } from "./command.ts";

const help = `usher migrate <folder> [options]

Applies each new .sql file of the folder to a PostgreSQL database, in the order of the numbers that begin their names
(0001_orders.sql), each in its own transaction, and prints their names. Needs the package postgres.

  --database URL   the database; by default DATABASE_URL of the environment, which other users cannot see in the arguments
  --wait SECONDS   how long to wait for another process that migrates the same database; 60 by default`;

/** `usher migrate`: applies migrations. */
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
    if (directory === undefined) throw new UsageError("the folder is missing");
    if (more.length > 0) throw new UsageError(`give one folder, not ${more.length + 1}`);
    const { database = process.env["DATABASE_URL"], wait = "60" } = values;
    if (database === undefined) throw new UsageError("the database is missing: set --database or DATABASE_URL");
    if (!/^\d{1,6}$/.test(wait)) throw new UsageError("--wait must be a number of seconds");
    const { applied } = await migrated(database, { directory, waitMs: Number(wait) * 1000 });
    for (const name of applied) terminal.out(`${name}\n`);
    if (applied.length === 0) terminal.error("nothing to apply\n");
    return 0;
  },
};

async function migrated(database: string, options: { readonly directory: string; readonly waitMs: number }) {
  // Imported on demand: only this command needs it.
  const { Conninfo, DatabaseError, MigrationError, migrate } = await import("../adapters/postgres/index.ts");
  const target = read(database, Conninfo.parse);
  try {
    return await migrate(target, options);
  } catch (thrown) {
    const expected = [MigrationError, DatabaseError, MissingPackageError];
    throw expected.some((kind) => thrown instanceof kind) ? new CommandFailure((thrown as Error).message) : thrown;
  }
}

/** The error of a connection string names the wrong part of it. */
function read<Target>(connectionString: string, parse: (text: string) => Target): Target {
  try {
    return parse(connectionString);
  } catch (thrown) {
    throw new CommandFailure((thrown as Error).message);
  }
}
