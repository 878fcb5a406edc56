/** `npm run dev` of a made project: it restarts on a change, and shows what failed. And `npm create usher`, as it is typed. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { startRegistry } from "../package/registry.ts";
import { root } from "../package/packed.ts";
import { eventually } from "../support/eventually.ts";
import { rounds } from "../support/wide.ts";
import { packProjects } from "./projects.ts";
import type { Project } from "./projects.ts";
import { waitMs } from "../support/patience.ts";

const run = promisify(execFile);
const projects = packProjects();
afterAll(() => projects.remove());

interface Development {
  /** Whether the output since the last `shows` has a text. */
  has(text: RegExp): boolean;
  /** Waits until the output since the last call has a text, and gives the part of it that matched. */
  shows(text: RegExp): Promise<string>;
  /** Gives SIGTERM to the command alone. */
  terminate(): void;
  /** Kills it, and all that it started. */
  stop(): Promise<void>;
}

function develop({ command, folder, env }: Project): Development {
  const [binary = "", ...args] = command("dev");
  // A group of its own, as the runtimes' watchers start the server in another process.
  const child = spawn(binary, args, {
    cwd: folder,
    env: { ...process.env, ...env, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const ended = once(child, "close");
  let unread = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (unread += part.toString()));
  return {
    has: (text) => text.test(unread),
    async shows(text) {
      await expect.poll(() => unread).toMatch(text);
      const found = text.exec(unread);
      unread = unread.slice((found?.index ?? 0) + (found?.[0].length ?? 0));
      return found?.[1] ?? "";
    },
    terminate() {
      child.kill("SIGTERM");
    },
    async stop() {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // All have ended.
      }
      await ended;
    },
  };
}

/** Saves as Vim and WebStorm do: another file gets the name. A watcher of the old one sees nothing more, as node --watch on Linux. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}~`, text);
  renameSync(`${file}~`, file);
}

/**
 * Saves until the server restarts: a watcher may begin a moment after the server answers. The new file may be two changes to a
 * watcher, and so two restarts.
 */
async function answersAfterRestart(
  server: Development,
  save: () => void,
  status: number,
  text?: string,
): Promise<void> {
  for (;;) {
    await expect
      .poll(
        () => {
          const hasRestarted = server.has(listening);
          if (!hasRestarted) save();
          return hasRestarted;
        },
        { interval: 3000, timeout: waitMs() },
      )
      .toBe(true);
    const url = await server.shows(listening);
    const answer = await fetch(`${url}/hello/Ada`).catch(() => undefined);
    const body = await answer?.text().catch(() => undefined);
    if (answer?.status === status && (text === undefined || body === text)) return;
  }
}

const listening = /listening on (http:\/\/[^\s"]+)/;

describe.each(["node", "bun", "deno"] as const)("the development server on %s", (runtime) => {
  it("restarts when a file changes, and shows the message of an error", async () => {
    const project = await projects.make(`dev-${runtime}`, { runtime, database: "none", sample: "hello", tests: "url" });
    const server = develop(project);
    try {
      const url = await server.shows(listening);
      expect(await (await fetch(`${url}/hello/Ada`)).text()).toBe("Hello, Ada.");
      const file = join(project.folder, "src/routes.ts");
      const text = readFileSync(file, "utf8");
      await answersAfterRestart(server, () => replace(file, text.replace("Hello", "Good day")), 200, "Good day, Ada.");
      // The watchers of Bun and Deno may miss a save. In test/cli/dev.test.ts `usher dev --program` sees more of them in each run.
      const greetings = ["Hi", "Good evening", "Good morning", "Welcome", "Good night"];
      for (const greeting of runtime === "node" ? greetings.slice(0, rounds(greetings.length)) : []) {
        replace(file, text.replace("Hello", greeting));
        const restarted = await server.shows(listening);
        expect(await (await fetch(`${restarted}/hello/Ada`)).text()).toBe(`${greeting}, Ada.`);
      }
      const failing = text.replace("`${greeting}, ${name}.`", "fail(greeting + name)");
      const raising = "function fail(of: string): string {\n  throw new Error(`no words: ${of}`);\n}\n";
      await answersAfterRestart(server, () => replace(file, `${failing}\n${raising}`), 500);
      await server.shows(/no words: HelloAda/);
    } finally {
      await server.stop();
    }
  });
});

it("serves the current version of a file of public, without a restart", async () => {
  const project = await projects.make("dev-live", { runtime: "node", database: "none", sample: "live", tests: "url" });
  const server = develop(project);
  try {
    const url = await server.shows(listening);
    const style = async () => (await fetch(`${url}/page.css`)).text();
    expect(await style()).not.toContain("rebeccapurple");
    replace(join(project.folder, "public/page.css"), "main { color: rebeccapurple }");
    await expect.poll(style).toContain("rebeccapurple");
    expect(server.has(listening)).toBe(false);
  } finally {
    await server.stop();
  }
});

describe("a script of a project", () => {
  // Of npm: the npm that runs these tests, or the machine's.
  it.each([
    ["node", "npm run start"],
    ["node", "npm run dev"],
    ["bun", "npm run start"],
    ["bun", "bun run start"],
    ["deno", "deno task start"],
  ] as const)("on %s ends its server when `%s` gets SIGTERM", async (runtime, line) => {
    const name = `ended-${runtime}-${line.replaceAll(" ", "-")}`;
    const project = await projects.make(name, { runtime, database: "none", sample: "hello", tests: "url" });
    const server = develop({ ...project, command: () => ["sh", "-c", `exec ${line}`] });
    try {
      const url = await server.shows(listening);
      expect((await fetch(`${url}/hello/Ada`)).status).toBe(200);
      server.terminate();
      await eventually(() => expect(fetch(url)).rejects.toMatchObject({ message: "fetch failed" }));
    } finally {
      await server.stop();
    }
  });
});

it("ends quietly when the reader of a pipe closes it", async () => {
  const command = `"$0" "${projects.command}" --help | true`;
  const { stderr } = await run("sh", ["-c", command, process.execPath]);
  expect(stderr).toBe("");
});

describe("create-usher, from a registry", () => {
  const options = ["--sample", "live"];
  it.each([
    {
      by: "npm",
      line: ["npm", "create", "usher@latest", "my-shop", "--", ...options],
      steps: ["npm install", "npm run dev"],
    },
    { by: "Bun", line: ["bun", "create", "usher", "my-shop", ...options], steps: ["bun install", "bun run dev"] },
    {
      by: "Deno",
      line: ["deno", "run", "--allow-all", "npm:create-usher", "my-shop", ...options],
      steps: ["deno install", "deno task dev"],
    },
  ])("is run by $by", async ({ by, line: [program = "", ...args], steps }) => {
    const registry = await startRegistry(join(root, "create-usher"));
    const cwd = join(projects.folder, `by-${by}`);
    mkdirSync(cwd);
    const env = {
      ...process.env,
      // Bun would run the `create-usher` of this repository's own `node_modules/.bin`.
      PATH: projects.path
        .split(":")
        .filter((folder) => !folder.includes("node_modules"))
        .join(":"),
      HOME: cwd,
      DENO_DIR: join(cwd, "deno"),
      npm_config_user_agent: undefined,
      npm_config_registry: registry,
      NPM_CONFIG_REGISTRY: registry,
      npm_config_cache: join(cwd, "npm"),
      npm_config_yes: "true",
      npm_config_update_notifier: "false",
    };
    const { stdout } = await run(program, args, { cwd, env });
    expect([...stdout.matchAll(/^ {2}(.*)$/gm)].map(([, step]) => step)).toEqual(["cd my-shop", ...steps]);
    const runtime = by === "npm" ? "node" : by.toLowerCase();
    expect(readFileSync(join(cwd, "my-shop/src/main.ts"), "utf8")).toContain(`from "usher-http/${runtime}"`);
  });
});
