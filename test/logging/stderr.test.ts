/** Standard error: no log line is lost and no code waits for its reader, as far as each runtime allows (contract 2.12). */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { builtProgram } from "../support/built-program.ts";
import { eventually } from "../support/eventually.ts";
import { need } from "../support/needs.ts";
import { runtimes } from "../support/runtimes.ts";

const commands = {
  node: () => [runtimes["node-newest"]()],
  bun: () => [runtimes.bun()],
  deno: () => [
    runtimes.deno(),
    "run",
    "--no-lock",
    "--node-modules-dir=manual",
    "--cached-only",
    "--no-prompt",
    "--allow-all",
  ],
};
type Runtime = keyof typeof commands;

const running: ChildProcess[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "usher-"));
  folders.push(made);
  return made;
}

/** A named pipe, as Node gives a child a socket. It is not read until the test asks for it. */
function pipe(): { readonly path: string; readonly reader: () => Socket } {
  const path = join(folder(), "pipe");
  spawnSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { path, reader: () => new Socket({ fd, readable: true, writable: false }) };
}

/** A server, and the target of its standard error: a path, or a socket to this process. */
async function start(runtime: Runtime, stderr?: string) {
  const program = await builtProgram(join(import.meta.dirname, "stderr-program.ts"));
  const command = [...commands[runtime](), program, runtime];
  const [binary = "", ...args] = stderr === undefined ? command : ["sh", "-c", 'exec "$@" 2> "$0"', stderr, ...command];
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  const ended = once(child, "exit").then(([code]: unknown[]) => code);
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    child,
    ended,
    asks: async (what: string) => (await fetch(`http://127.0.0.1:${port}/${what}`)).text(),
    tells: (what: string) => void fetch(`http://127.0.0.1:${port}/${what}`).catch(() => {}),
  };
}

function canMount(): boolean {
  const disk = mkdtempSync(join(tmpdir(), "usher-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "none", disk]).status === 0;
  if (isMounted) spawnSync("umount", [disk]);
  rmSync(disk, { recursive: true });
  return isMounted;
}

/** The numbers of the lines, and the reported number of dropped ones. A runtime's own last output may be inside a line. */
function read(text: string) {
  const numbersIn = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, number]) => Number(number));
  return { numbers: numbersIn(/"n":(\d+)\}\n/g), dropped: numbersIn(/"message":"dropped (\d+) lines: /g) };
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const part of stream) text += String(part);
  return text;
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
// Some 3 MiB, which do not fit into a pipe.
const many = 3000;

const ends = [
  ["process.exit", "exit", 3],
  ["SIGTERM", "end", 0],
  ["an exception nobody catches", "raise", 1],
] as const;

describe.each(["node", "bun", "deno"] as const)("on %s", (runtime) => {
  describe.each(["a pipe", "a socket"])("%s", (kind) => {
    it.each(ends)("no line is lost at %s, however slow the reader is", async (_what, how, code) => {
      const { path, reader } = pipe();
      const server = await start(runtime, kind === "a pipe" ? path : undefined);
      const stream: Readable = kind === "a pipe" ? reader() : server.child.stderr;
      server.tells(`${how}?lines=${many}`);
      // The program has ended, and waits for its reader.
      await once(stream, "readable");
      expect(read(await textOf(stream)).numbers).toEqual(upTo(many));
      expect(await server.ended).toBe(code);
    });

    it("a reader that has gone loses lines, and no request fails", async () => {
      const { path, reader } = pipe();
      const server = await start(runtime, kind === "a pipe" ? path : undefined);
      (kind === "a pipe" ? reader() : server.child.stderr)?.destroy();
      for (let i = 1; i <= 3; i++) expect(await server.asks("say?lines=100")).toBe(String(100 * i));
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    });
  });

  it("two processes share a pipe, and no line is inside another, however slow the reader is", async () => {
    const { path, reader } = pipe();
    const servers = await Promise.all([start(runtime, path), start(runtime, path)]);
    for (const server of servers) server.tells(`end?lines=${many}`);
    const stream = reader();
    await once(stream, "readable");
    const lines = (await textOf(stream)).split("\n").slice(0, -1);
    expect(lines.filter((line) => !/^\{[^{}]*"n":\d+\}$/.test(line))).toEqual([]);
    expect(lines).toHaveLength(2 * many);
    expect(await Promise.all(servers.map(({ ended }) => ended))).toEqual([0, 0]);
  });

  it("a file has every line", async () => {
    const file = join(folder(), "log");
    const server = await start(runtime, file);
    server.tells(`exit?lines=${many}`);
    await server.ended;
    expect(read(readFileSync(file, "utf8")).numbers).toEqual(upTo(many));
  });
});

// Only root can mount a disk that is soon full.
const disks = need("right to mount a disk, which root has", process.platform === "linux" && canMount());
describe.skipIf(disks.isSkipped)(`a disk that is full${disks.why}`, () => {
  it.each(["node", "bun", "deno"] as const)(
    "on %s a full disk fails no request, and every line is written when there is space",
    async (runtime) => {
      const disk = folder();
      spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", disk]);
      try {
        const file = join(disk, "log");
        const server = await start(runtime, file);
        expect(await server.asks(`say?lines=${many}`)).toBe(String(many));
        await eventually(() => expect(statSync(file).size).toBe(65_536));
        expect(await server.asks("say?lines=1")).toBe(String(many + 1));
        spawnSync("mount", ["-o", "remount,size=64m", disk]);
        server.child.kill("SIGTERM");
        expect(await server.ended).toBe(0);
        expect(read(readFileSync(file, "utf8")).numbers).toEqual(upTo(many + 1));
      } finally {
        spawnSync("umount", ["-l", disk]);
      }
    },
  );
});

// Deno has no asynchronous write, and Bun none to a socket.
describe.runIf(process.platform === "linux")("output that is not read", () => {
  it.each([
    ["node", "a pipe"],
    ["node", "a socket"],
    ["bun", "a pipe"],
  ] as const)("on %s, %s, delays no request, and is read to its end later", async (runtime, kind) => {
    const { path, reader } = pipe();
    const server = await start(runtime, kind === "a pipe" ? path : undefined);
    for (let i = 1; i <= 3; i++) expect(await server.asks(`say?lines=${many}`)).toBe(String(many * i));
    server.child.kill("SIGTERM");
    const stream: Readable = kind === "a pipe" ? reader() : server.child.stderr;
    expect(read(await textOf(stream)).numbers).toEqual(upTo(many * 3));
    expect(await server.ended).toBe(0);
  });

  it.each(["node", "bun"] as const)(
    "on %s, uses a limited amount of memory; then lines are dropped, and counted",
    async (runtime) => {
      const { path, reader } = pipe();
      const server = await start(runtime, path);
      const said = 30_000;
      for (let i = 0; i < 3; i++) await server.asks(`say?lines=${said / 3}`);
      const stream = reader();
      const mark = '"message":"dropped';
      let [text, end, isSaid] = ["", "", false];
      stream.on("data", (part) => {
        text += String(part);
        // A search through 15 MB at each chunk took 8 s of processor time.
        end = end.slice(-mark.length) + String(part);
        isSaid ||= end.includes(mark);
      });
      while (!isSaid) await once(stream, "data");
      server.child.kill("SIGTERM");
      await once(stream, "close");
      const { numbers, dropped } = read(text);
      expect(numbers).toEqual(upTo(numbers.length));
      expect(numbers.length).toBeGreaterThan(14_000);
      expect(dropped).toEqual([said - numbers.length]);
      expect(await server.ended).toBe(0);
    },
  );
});
