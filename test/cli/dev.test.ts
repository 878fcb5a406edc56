/** `usher dev` as real processes: it serves, restarts on a change, prints errors, and leaves nothing behind. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { waitMs } from "../support/patience.ts";
import { runtimes } from "../support/runtimes.ts";
import { isWide, rows } from "../support/wide.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "usher-dev-"));
afterAll(() => rmSync(folder, { recursive: true }));

const runs = [
  { runtime: "Node 20", command: runtimes["node-oldest"](), args: ["dist/cli.js"] },
  { runtime: "the newest Node", command: runtimes["node-newest"](), args: ["dist/cli.js"] },
  { runtime: "Bun", command: runtimes.bun(), args: ["dist/cli.js"] },
  { runtime: "Deno", command: runtimes.deno(), args: ["run", "-A", "dist/cli.js"] },
];
/** What differs little from one runtime to another is tried on the newest Node and on Deno, which has its own way. */
const some = isWide ? runs : runs.filter(({ runtime }) => /newest|Deno/.test(runtime));

/** Where `usher dev` restarts the server itself. */
const restarting = some.filter(({ runtime }) => runtime !== "Deno");

interface Dev {
  readonly process: ChildProcess;
  /** Everything printed, on both outputs. */
  printed(): string;
  readonly url: string;
  answer(path: string): Promise<string>;
  readonly ended: Promise<number | null>;
}

const open = new Set<Dev>();
afterEach(async () => {
  for (const { process, ended } of open) {
    process.kill("SIGTERM");
    await ended;
  }
  open.clear();
});

interface Project {
  readonly module: string;
  /** Writes the file of the word. */
  say(text: string): void;
  /** Saves as Vim and WebStorm do: another file gets the name. */
  replace(text: string): void;
  remove(): void;
}

/** A module whose word is in a file that it imports. */
function project(name: string, word: string): Project {
  const [module, words] = [join(folder, `${name}.mjs`), join(folder, `${name}-word.mjs`)];
  const say = (text: string) => writeFileSync(words, text);
  const replace = (text: string) => {
    writeFileSync(`${words}~`, text);
    renameSync(`${words}~`, words);
  };
  say(`export const word = ${JSON.stringify(word)};\n`);
  const source = JSON.stringify(pathToFileURL(join(root, "dist/index.js")).href);
  writeFileSync(
    module,
    `import { Dep, Event, Path, Returns, get } from ${source};
import { word } from "./${name}-word.mjs";
const store = Dep.ofResource("store");
const tick = Event.text("tick");
export const options = async () => ({ resources: [Dep.resource(store, "stored")] });
export const routes = [
  get(Path.of("word"), { inputs: { store }, returns: Returns.text }, ({ store }) => word + " " + store),
  get(Path.of("broken"), { returns: Returns.text }, () => { throw new Error("why it is broken"); }),
  get(Path.of("feed"), { returns: Returns.events([tick]) }, () => async (send) => {
    while ((await send(Event.make(tick, "x".repeat(1000)))).ok) await new Promise((r) => setTimeout(r, 50));
  }),
];
`,
  );
  return { module, say, replace, remove: () => rmSync(words) };
}

/** A program that serves its word by itself, as {@link project} does. */
function programOf(name: string, word: string): Project {
  const made = project(name, word);
  const [index, node] = ["index", "node"].map((file) => pathToFileURL(join(root, `dist/${file}.js`)).href);
  writeFileSync(
    made.module,
    `import { Path, Returns, get } from "${index}";
import { serve } from "${node}";
import { word } from "./${name}-word.mjs";
const { PORT, STORE = "nowhere" } = process.env;
await serve([get(Path.of("word"), { returns: Returns.text }, () => word + " " + STORE)], { port: Number(PORT) });
`,
  );
  return made;
}

type Run = (typeof runs)[number] & { readonly cwd?: string };

/** Starts `usher dev` with these options, by default `--port` alone. */
async function dev({ command, args, cwd = root }: Run, module: string, options?: readonly string[]): Promise<Dev> {
  const port = await freePort();
  const all = [...args, "dev", module, ...(options ?? ["--port", `${port}`])];
  const env = { ...global.process.env, PORT: `${port}` };
  const process = spawn(command, all, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const output of [process.stdout, process.stderr])
    output.on("data", (part: Buffer) => (printed += part.toString()));
  const ended = new Promise<number | null>((resolve) => void process.once("close", resolve));
  const url = `http://127.0.0.1:${port}`;
  const answer = async (path: string) => (await fetch(url + path)).text();
  const started = { process, printed: () => printed, url, answer, ended };
  open.add(started);
  return started;
}

/** Waits until a path answers so. */
async function answers({ answer, printed }: Dev, path: string, text: string): Promise<void> {
  const asks = async () => expect(await answer(path).catch(String), printed()).toBe(text);
  // A server takes longer to start than a few milliseconds, and each question takes one of this process.
  await vi.waitFor(asks, { timeout: waitMs(), interval: 50 });
}

/** Waits until it is printed. */
async function prints({ printed }: Dev, form: RegExp): Promise<void> {
  await eventually(() => expect(printed()).toMatch(form));
}

/**
 * Saves until the change is seen: a watcher may begin a moment after the server answers, and Deno misses a change that follows
 * the last one within some milliseconds.
 */
async function savesUntil(save: () => void, isSeen: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(async () => {
    save();
    for (let looks = 0; looks < 40; looks++) {
      if (await isSeen()) return true;
      await setTimeout(50);
    }
    return false;
  }, waitMs());
}

describe("usher dev", () => {
  it.each(runs)("serves on $runtime, restarts on a change, prints errors, and ends with Ctrl-C", async (run) => {
    const { module, say } = project(run.runtime.replaceAll(/\W/g, ""), "first");
    const running = await dev(run, module);
    await answers(running, "/word", "first stored");

    // A stream is open while it restarts.
    const stream = await fetch(`${running.url}/feed`);
    const isWord = async (word: string) => (await running.answer("/word").catch(String)) === `${word} stored`;
    await savesUntil(
      () => say('export const word = "second";\n'),
      () => isWord("second"),
    );
    await stream.text().catch(() => "");

    // The last save may restart it once more, and then nothing listens for a moment.
    await eventually(async () => expect(await running.answer("/broken").catch(String)).toContain('"internal"'));
    await prints(running, /Error: why it is broken/);

    await savesUntil(
      () => say("export const word = ;\n"),
      async () => /cannot be loaded:[^]*usher dev: waiting for a change/.test(running.printed()),
    );
    await savesUntil(
      () => say('export const word = "third";\n'),
      () => isWord("third"),
    );

    running.process.kill("SIGINT");
    expect(await running.ended).toBe(0);
    await expect(running.answer("/word")).rejects.toThrow("fetch failed");
  });

  it.each(some)("restarts on $runtime each time that an editor replaces a file by a new one", async (run) => {
    const { module, say, replace } = project(`${run.runtime.replaceAll(/\W/g, "")}-replaced`, "first");
    const running = await dev(run, module);
    await answers(running, "/word", "first stored");
    for (const word of ["second", "third", "fourth"]) {
      await savesUntil(
        () => replace(`export const word = "${word}";\n`),
        async () => (await running.answer("/word").catch(String)) === `${word} stored`,
      );
    }
    // And one that is written in place after it.
    await savesUntil(
      () => say('export const word = "last";\n'),
      async () => (await running.answer("/word").catch(String)) === "last stored",
    );
  });

  // Deno watches no file that it could not find.
  it.each(restarting)("starts on $runtime when a file exists that an import missed", async (run) => {
    const { module, say, remove } = project(`${run.runtime.replaceAll(/\W/g, "")}-missing`, "first");
    remove();
    const running = await dev(run, module);
    await prints(running, /cannot be loaded:[^]*usher dev: waiting for a change/);
    await savesUntil(
      () => say('export const word = "late";\n'),
      async () => (await running.answer("/word").catch(String)) === "late stored",
    );
  });

  it.each(restarting)("waits on $runtime for a change when the program ends itself", async (run) => {
    const { module, say } = project(`${run.runtime.replaceAll(/\W/g, "")}-ended`, "first");
    say("export const word = process.exit(7);\n");
    const running = await dev(run, module);
    await prints(running, /the server ended with code 7\nusher dev: waiting for a change/);
    await savesUntil(
      () => say('export const word = "alive";\n'),
      async () => (await running.answer("/word").catch(String)) === "alive stored",
    );
    running.process.kill("SIGINT");
    expect(await running.ended).toBe(0);
  });
});

const node24 = { runtime: "node-24", command: runtimes["node-24"](), args: ["dist/cli.js"] };
const others = (["node-oldest", "node-22", "node-newest"] as const).map((runtime) => {
  return { ...node24, runtime, command: runtimes[runtime]() };
});
const onNodes = rows<Run>([node24], others);

describe("usher dev --program", () => {
  it.each(onNodes)("restarts a program on $runtime at every save that replaces a file", async (run) => {
    const { module, replace } = programOf(`${run.runtime}-program`, "first");
    const running = await dev(run, module, ["--program"]);
    await answers(running, "/word", "first nowhere");
    // Its imports may reach the watcher a moment after it answers.
    await savesUntil(
      () => replace('export const word = "again";\n'),
      async () => (await running.answer("/word").catch(String)) === "again nowhere",
    );
    for (const word of ["second", "third", "fourth", "fifth", "sixth", "seventh"]) {
      replace(`export const word = "${word}";\n`);
      await answers(running, "/word", `${word} nowhere`);
    }
    running.process.kill("SIGINT");
    expect(await running.ended).toBe(0);
    await expect(running.answer("/word")).rejects.toThrow("fetch failed");
  });

  it.each(onNodes)("waits on $runtime for a change when the program fails", async (run) => {
    const { module, say } = programOf(`${run.runtime}-failing`, "first");
    say('export const word = failing();\nfunction failing() {\n  throw new Error("why it fails");\n}\n');
    const running = await dev(run, module, ["--program"]);
    await prints(running, /why it fails[^]*the program ended with code 1\nusher dev: waiting for a change/);
    await savesUntil(
      () => say('export const word = "alive";\n'),
      async () => (await running.answer("/word").catch(String)) === "alive nowhere",
    );
  });

  it.each(onNodes)("ends the program on $runtime when it is killed itself", async (run) => {
    const { module } = programOf(`${run.runtime}-orphan`, "first");
    const running = await dev(run, module, ["--program"]);
    await answers(running, "/word", "first nowhere");
    running.process.kill("SIGKILL");
    expect(await running.ended).toBe(null);
    await expect(running.answer("/word")).rejects.toThrow("fetch failed");
  });
});

describe("usher dev --program: children of the program", () => {
  it("ends the program with itself also when the program has closed their channel", async () => {
    const { module } = programOf("apart", "first");
    writeFileSync(module, `process.disconnect();\n${readFileSync(module, "utf8")}`);
    const running = await dev(node24, module, ["--program"]);
    await answers(running, "/word", "first nowhere");
    // Twice as long as it takes to see that usher dev is gone.
    await setTimeout(200);
    expect(await running.answer("/word")).toBe("first nowhere");
    running.process.kill("SIGKILL");
    expect(await running.ended).toBe(null);
  });

  it("does not affect the program's own children and threads", async () => {
    const { module } = programOf("forking", "first");
    const child = join(folder, "forked.mjs");
    writeFileSync(child, "process.send('left'); setTimeout(() => console.log('it goes on'), 300);\n");
    writeFileSync(
      module,
      `import { fork } from "node:child_process";
import { Worker } from "node:worker_threads";
const child = fork(${JSON.stringify(child)});
child.once("exit", (code, signal) => console.log("the child ended by", signal ?? code));
child.on("message", (message) => message === "left" && child.disconnect());
new Worker("console.log('it works')", { eval: true });
`,
    );
    const running = await dev(node24, module, ["--program"]);
    await prints(running, /it goes on\nthe child ended by 0\n/);
    await prints(running, /it works\n/);
  });

  it("is printed when a module exports no routes, as a program", async () => {
    const { module } = programOf("untold", "first");
    const running = await dev(node24, module);
    await prints(running, /exports no list named routes: .*\nA program that calls serve itself: usher dev --program /);
  });

  it.each(runs.slice(2))("is refused on $runtime, with a hint to the runtime's own option", async (run) => {
    const running = await dev(run, programOf(run.runtime, "first").module, ["--program"]);
    expect(await running.ended).toBe(2);
    expect(running.printed()).toMatch(/--program is for Node: run (?:bun|deno run) --watch /);
  });

  it("lets a program end that has no more work", async () => {
    const { module } = programOf("done", "first");
    writeFileSync(module, 'console.log("done");\n');
    const running = await dev(node24, module, ["--program"]);
    await prints(running, /done\nusher dev: the program ended with code 0\nusher dev: waiting for a change/);
  });
});

describe("usher dev --env", () => {
  it("gives a program the variables of a file, and restarts it when the file is created, changed or removed", async () => {
    const { module } = programOf("settings", "first");
    const file = join(folder, "settings.env");
    const running = await dev(node24, module, ["--program", "--env", file]);
    await answers(running, "/word", "first nowhere");
    // The environment's own PORT wins.
    writeFileSync(file, 'PORT=1\nSTORE="a store" # of orders\n');
    await answers(running, "/word", "first a store");
    writeFileSync(`${file}~`, "STORE=another\n");
    renameSync(`${file}~`, file);
    await answers(running, "/word", "first another");
    rmSync(file);
    await answers(running, "/word", "first nowhere");
  });

  it.each(some)("gives the routes on $runtime the variables of a file", async (run) => {
    const { module } = project(`${run.runtime.replaceAll(/\W/g, "")}-env`, "first");
    const file = join(folder, "routes.env");
    writeFileSync(file, "DEV_STORE=from a file\n");
    const text = readFileSync(module, "utf8").replace('"stored"', "process.env.DEV_STORE");
    writeFileSync(module, `import process from "node:process";\n${text}`);
    const port = await freePort();
    const running = await dev(run, module, ["--env", file, "--port", `${port}`]);
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/word`);
      expect(await answer.text(), running.printed()).toBe("first from a file");
    });
  });
});

// Bun sets the variables of this file by itself, also for `usher dev`.
it("usher dev --env on Bun gives the routes later values of .env", async () => {
  const { module } = project("bun-later", "first");
  writeFileSync(module, readFileSync(module, "utf8").replace('"stored"', "process.env.DEV_STORE"));
  const cwd = mkdtempSync(join(folder, "bun-"));
  const save = (store: string) => writeFileSync(join(cwd, ".env"), `DEV_STORE=${store}\n`);
  save("one");
  const run = { runtime: "Bun", command: runtimes.bun(), args: [join(root, "dist/cli.js")], cwd };
  const port = `${await freePort()}`;
  const running = await dev(run, module, ["--env", ".env", "--port", port]);
  const at = { ...running, answer: async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text() };
  await answers(at, "/word", "first one");
  save("two");
  await answers(at, "/word", "first two");
});

describe("usher dev, its end", () => {
  it.each(runs)("ends its server on $runtime when it is killed itself", async (run) => {
    const { module } = project(`${run.runtime.replaceAll(/\W/g, "")}-killed`, "first");
    const running = await dev(run, module);
    await answers(running, "/word", "first stored");
    running.process.kill("SIGKILL");
    // Its outputs close once no process has them.
    expect(await running.ended).toBe(null);
    await expect(running.answer("/word")).rejects.toThrow("fetch failed");
  });

  it("ends also a server that never returns to its event loop", async () => {
    const { module, say } = project("spinning", "first");
    const running = await dev(runs[1] as (typeof runs)[number], module);
    await answers(running, "/word", "first stored");
    // A loop would take a core until it is killed.
    const waiting = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
    await savesUntil(
      () => say(`console.log("it waits");\nexport const word = ${waiting};\n`),
      async () => running.printed().includes("it waits"),
    );
    running.process.kill("SIGINT");
    running.process.kill("SIGINT");
    expect(await running.ended).toBe(0);
  });
});
