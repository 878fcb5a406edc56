import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runtimes } from "../runtimes.ts";
import { observer, startPostgres } from "./database.ts";
import { accepts } from "./server.ts";

const server = await startPostgres();

test("a server of the test file's own answers, and starts again with what it kept", async () => {
  const before = observer(server);
  await before`create table kept (id int)`;
  await server.stop("immediate");
  expect(await accepts(server.port)).toBe(false);
  await server.start();
  expect(await observer(server)`select count(*)::int as rows from kept`).toEqual([{ rows: 0 }]);
});

test("a server goes with the program that started it, killed", async () => {
  const program = join(import.meta.dirname, "program.ts");
  const child = spawn(runtimes["node-newest"](), [program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { port, directory } = JSON.parse(line.toString()) as { port: number; directory: string };
  expect(await accepts(port)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => existsSync(directory), { timeout: 20_000 }).toBe(false);
  expect(await accepts(port)).toBe(false);
});
