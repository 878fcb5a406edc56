/** Projects of users: each in an empty folder, with one runtime, and with a registry that has this package as npm would publish it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { root } from "./packed.ts";
import { dependencies, startRegistry } from "./registry.ts";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Server {
  /** Where it says that it listens. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface Project {
  readonly cwd: string;
  write(name: string, text: string): void;
  /** Runs a line in a shell whose PATH has the runtime of the project only. */
  run(line: string): Promise<Ended>;
  /** Runs a line of a server until the server says that it listens. */
  serve(line: string): Promise<Server>;
}

export interface Projects {
  /** A new project, with the commands that its shell finds. */
  open(name: string, commands: { readonly [command: string]: string }): Project;
  remove(): void;
}

export async function openProjects(): Promise<Projects> {
  const folder = mkdtempSync(join(tmpdir(), "usher-projects-"));
  const registry = await startRegistry(root, dependencies);
  return {
    open: (name, commands) => open(folder, registry, name, commands),
    remove() {
      rmSync(folder, { recursive: true });
    },
  };
}

function open(
  folder: string,
  registry: string,
  name: string,
  commands: { readonly [command: string]: string },
): Project {
  const bin = join(folder, `${name}-bin`);
  mkdirSync(bin);
  for (const [command, file] of Object.entries({ sh: "/bin/sh", env: "/usr/bin/env", ...commands })) {
    symlinkSync(file, join(bin, command));
  }
  const cwd = join(folder, name);
  mkdirSync(cwd);
  const env = {
    PATH: bin,
    HOME: folder,
    npm_config_registry: registry,
    NPM_CONFIG_REGISTRY: registry,
    npm_config_cache: join(folder, "npm"),
    npm_config_update_notifier: "false",
    BUN_INSTALL_CACHE_DIR: join(folder, "bun"),
    DENO_DIR: join(folder, "deno"),
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  };
  return {
    cwd,
    write(file, text) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      writeFileSync(join(cwd, file), text);
    },
    run(line) {
      return promisify(execFile)("/bin/sh", ["-c", line], { cwd, env }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error: Ended) => error,
      );
    },
    serve: (line) => serve(line, cwd, env),
  };
}

async function serve(line: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Server> {
  const child = spawn("/bin/sh", ["-c", `exec ${line}`], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "close");
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on("line", (text) => {
      lines.push(text);
      const listening = /listening on (http:\/\/[^\s"]+)/.exec(text);
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
    child.once("exit", () => reject(new Error(`${line} ended before it listened:\n${lines.join("\n")}`)));
  });
  return {
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** Where a program of this machine's Node is. */
export function onPath(name: string): string {
  return join(dirname(process.execPath), name);
}
