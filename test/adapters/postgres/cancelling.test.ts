import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startPostgres } from "../../support/postgres/database.ts";
import { commands } from "./commands.ts";

const server = await startPostgres();
const run = promisify(execFile);

it.each(commands)("on %s a statement that is abandoned cancels no other statement", async (_, command) => {
  const [file = "", ...rest] = command();
  const { stdout } = await run(file, [...rest, join(import.meta.dirname, "cancelling.ts"), server.url()]);
  const told = JSON.parse(stdout) as { readonly left: number; readonly others: readonly string[] };
  // Its connection is kept, whenever it was abandoned.
  expect(told).toMatchObject({ innocent: 0, others: [], connections: 1 });
  expect(told.left).toBeGreaterThan(0);
});
