import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runtimes } from "../runtimes.ts";
import { observer, startPostgres } from "./database.ts";
import { accepts } from "../../../examples/orders/postgres-server.ts";

const server = await startPostgres();

test("a database server of the test file answers, and keeps its data when it restarts", async () => {
  const before = observer(server);
  await before`create table kept (id int)`;
  await server.stop("immediate");
  expect(await accepts(server.port)).toBe(false);
  await server.start();
  expect(await observer(server)`select count(*)::int as rows from kept`).toEqual([{ rows: 0 }]);
});

test("a database server ends when the program that started it is killed", async () => {
  await startsAndGoes({});
});

// Where the tests run as root, this one starts a server as the user `nobody`, who must be able to read these files.
const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0 && canRead(nobody);
const why = isRoot ? "" : " (skipped: takes root, and files that nobody may read)";
test.runIf(isRoot)(`an ordinary user's server does as well${why}`, async () => {
  await startsAndGoes(nobody);
});

test.runIf(isRoot)(`a folder that its user may not make holds no data${why}`, () => {
  const module = JSON.stringify(join(import.meta.dirname, "../../../examples/orders/postgres-server.ts"));
  const ask = (folder: string): string => {
    const program = `import { canKeepDataIn } from ${module}; console.log(canKeepDataIn(${JSON.stringify(folder)}))`;
    const options = { ...nobody, cwd: "/", encoding: "utf8" } as const;
    return spawnSync(runtimes["node-newest"](), ["--input-type=module", "-e", program], options).stdout.trim();
  };
  const mine = mkdtempSync(join(tmpdir(), "usher-mine-"));
  onTestFinished(() => rmSync(mine, { recursive: true }));
  expect(ask(join(mine, "data"))).toBe("false");
  chownSync(mine, nobody.uid, nobody.gid);
  expect(ask(join(mine, "data"))).toBe("true");
});

async function startsAndGoes(owner: { readonly uid?: number; readonly gid?: number }): Promise<void> {
  const program = join(import.meta.dirname, "program.ts");
  const child = spawn(runtimes["node-newest"](), [program], {
    ...owner,
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { port, directory } = JSON.parse(line.toString()) as { port: number; directory: string };
  expect(await accepts(port)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => existsSync(directory)).toBe(false);
  expect(await accepts(port)).toBe(false);
}

function canRead(owner: { readonly uid: number; readonly gid: number }): boolean {
  const read = ["-e", `require("fs").readFileSync(${JSON.stringify(import.meta.filename)})`];
  return spawnSync(runtimes["node-newest"](), read, { ...owner, cwd: "/" }).status === 0;
}
