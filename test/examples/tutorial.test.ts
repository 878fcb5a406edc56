/** The tutorial: a reader who types what a page shows has its program, and gets its answers. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { diffLines } from "diff";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProgram } from "../package/start-example.ts";
import { root } from "../package/packed.ts";
import { runtimes } from "../support/runtimes.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { commandsOf, filesOf, logLinesOf, pages, programs, untimed } from "./tutorial-pages.ts";
import type { Page } from "./tutorial-pages.ts";

const run = promisify(execFile);
const node = runtimes["node-24"]();
const path = `${dirname(node)}${delimiter}${process.env["PATH"]}`;

const server = await startPostgres();
const sql = observer(server);

const rows = pages.map((page, i) => [page.name, page, pages[i - 1]] as const);

describe("the pages of the tutorial", () => {
  it("are ten, each with a program of its name", () => {
    expect(pages).toHaveLength(10);
    expect(pages.map(({ name }) => [...filesOf(name).keys()].includes("main.ts"))).toEqual(pages.map(() => true));
  });

  it.each(rows)("%s shows its files unchanged", (name, { blocks }, before) => {
    const files = filesOf(name);
    const shown = blocks.flatMap((block) => (block.file === undefined ? [] : [{ ...block, file: block.file }]));
    // The settings of the compiler are in the reader's folder alone.
    const ofStep = shown.filter(({ file }) => file !== "tsconfig.json");
    for (const { file, language, text } of ofStep.filter(({ language }) => language !== "diff")) {
      expect(files.get(file), `${file}, a block of ${language}`).toBe(`${text}\n`);
    }
    for (const { file, text } of ofStep.filter(({ language }) => language === "diff")) {
      const marked = text.split("\n").filter((line) => /^[+-]./.test(line));
      expect(marked, file).toEqual(changedLines(filesOf(before?.name).get(file) ?? "", files.get(file) ?? ""));
    }
  });

  it.each(rows)("%s shows every file that is new or has changed", (name, { blocks }, before) => {
    const old = filesOf(before?.name);
    const changed = [...filesOf(name)].filter(([file, text]) => old.get(file) !== text).map(([file]) => file);
    const shown = new Set(blocks.map(({ file }) => file));
    expect(changed.filter((file) => !shown.has(file))).toEqual([]);
  });
});

/** The lines that a diff marks, without blank ones: where those belong is not certain. */
function changedLines(old: string, now: string): readonly string[] {
  return diffLines(old, now).flatMap(({ added, removed, value }) => {
    const sign = added ? "+" : "-";
    const lines = added || removed ? value.split("\n") : [];
    return lines.filter((line) => line !== "").map((line) => `${sign}${line}`);
  });
}

describe("the programs of the tutorial", () => {
  let folder: string;
  beforeAll(() => {
    folder = readersFolder();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A database of a step's own, as a reader's is empty at first. */
  async function databaseOf(name: string): Promise<string> {
    const database = `step_${name.replaceAll("-", "_")}_${databases++}`;
    await sql.unsafe(`create database ${database}`);
    return server.url(database);
  }
  let databases = 0;

  it.each(rows)("%s answers as its page says, and ends cleanly", async (name, page) => {
    const cwd = join(folder, name);
    const program = await startProgram([node, "main.ts"], { DATABASE_URL: await databaseOf(name) }, cwd);
    try {
      await ask(page, new URL(program.url).port, cwd);
      for (const line of logLinesOf(page)) {
        await expect.poll(() => program.lines.map(untimed)).toContain(untimed(line));
      }
    } finally {
      expect(await program.stop()).toBe(0);
    }
    expect(program.lines.at(-1)).toContain('"message":"stopped"');
  });

  // Those that share a process share a database: it has the same tables.
  it.each([
    [["02-test", "03-validation", "04-json-body", "05-errors"], 7],
    [["06-postgresql"], 2],
    [["07-sign-in"], 3],
    [["08-live-page", "09-openapi-client", "10-production"], 15],
  ] as const)("%j pass their tests", async (names, count) => {
    const files = names.flatMap((name) =>
      [...filesOf(name).keys()].filter((file) => file.endsWith(".test.ts")).map((file) => join(folder, name, file)),
    );
    const cwd = join(folder, names.at(-1) ?? "");
    const env = { ...process.env, TEST_DATABASE_URL: await databaseOf(names[0]) };
    const { stdout } = await run(node, ["--test", "--test-isolation=none", "--test-reporter=tap", ...files], {
      cwd,
      env,
    });
    expect(/^# pass (\d+)$/m.exec(stdout)?.[1]).toBe(String(count));
  });

  it("compile with the settings of the first page, which find an undeclared refusal", async () => {
    const orders = readFileSync(join(folder, "05-errors/orders.ts"), "utf8");
    writeFileSync(join(folder, "05-errors/undeclared.ts"), orders.replace(", refuses: [soldOut]", ""));
    const [message] = pages.flatMap(({ blocks }) => blocks.filter(({ text }) => /^The code \w+ is not/.test(text)));
    // More threads would each look at the types of the package: that takes half as much again of processor time.
    const options = ["--pretty", "false", "--singleThreaded"];
    const tsc = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options], { cwd: folder });
    const { stdout } = (await tsc.catch((error: unknown) => error)) as { readonly stdout: string };
    expect(stdout.match(/^\S.*error TS\d+/gm)).toEqual([expect.stringMatching(/^05-errors\/undeclared.ts/)]);
    expect(stdout).toContain(message?.text ?? "no message");
  });
});

/** Runs a page's commands in their order. One that follows a stream runs until the page's other commands are done. */
async function ask(page: Page, port: string, cwd: string): Promise<void> {
  writeFileSync(join(cwd, "client.ts"), clientFor(page, port));
  const ended: (() => Promise<void>)[] = [];
  for (const { command, answer } of commandsOf(page)) {
    const there = command.replaceAll("localhost:8080", `localhost:${port}`).replace("curl ", "curl -s ");
    if (command.startsWith("curl -sN")) ended.push(await follow(`exec ${there}`, answer));
    else {
      const { stdout } = await run("sh", ["-c", there], {
        cwd,
        env: { ...process.env, PATH: path },
      });
      expect(untimed(stdout.trim()), command).toBe(untimed(answer));
    }
  }
  for (const end of ended) await end();
}

function clientFor({ name }: Page, port: string): string {
  return filesOf(name).get("client.ts")?.replace("localhost:8080", `localhost:${port}`) ?? "";
}

/** Starts a command that prints events, and waits for the first. @returns Waits for all of the answer and ends it. */
async function follow(command: string, answer: string): Promise<() => Promise<void>> {
  const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (printed += part));
  await expect.poll(() => printed).toContain("\n\n");
  return async () => {
    await expect.poll(() => untimed(printed.trim())).toBe(untimed(answer));
    child.kill();
    await once(child, "close");
  };
}

/** A folder as the first page has its reader make it, with every step in it. The servers listen on free ports. */
function readersFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "usher-tutorial-"));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(root, join(modules, "usher-http"));
  for (const name of ["valibot", "postgres", "@types"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const settings = pages[0]?.blocks.find(({ file }) => file === "tsconfig.json")?.text ?? "";
  writeFileSync(join(folder, "tsconfig.json"), settings);
  cpSync(programs, folder, { recursive: true });
  for (const { name } of pages) {
    const main = join(folder, name, "main.ts");
    writeFileSync(main, readFileSync(main, "utf8").replace("port: 8080", "port: 0"));
  }
  return folder;
}
