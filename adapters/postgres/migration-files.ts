import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { MigrationError } from "./migration-error.ts";

export interface MigrationFile {
  /** `0001_orders.sql` */
  readonly name: string;
  readonly number: bigint;
  readonly text: string;
  /** SHA-256 of its text, whatever its line ends are. */
  readonly hash: string;
  readonly inTransaction: boolean;
}

/** The `.sql` files of a folder, in the order of their numbers. Throws a {@link MigrationError} naming what is none. */
export async function readMigrations(directory: string): Promise<readonly MigrationFile[]> {
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
