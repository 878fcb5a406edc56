/** Projects that the packed `create-usher` makes, each with the packed `usher-http` and the other packages that it names. */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Choices } from "../../create-usher/src/choices.ts";
import { runtimes } from "../support/runtimes.ts";
import { pack, root } from "../package/packed.ts";
import { unpack } from "../package/tarball.ts";
import { startProgram } from "../package/start-example.ts";
import type { RunningExample } from "../package/start-example.ts";

const run = promisify(execFile);

/** A project as it was made. */
export interface Project {
  readonly folder: string;
  readonly manifest: {
    readonly name: string;
    readonly scripts: { readonly [name: string]: string };
    readonly dependencies: { readonly [name: string]: string };
    readonly devDependencies: { readonly [name: string]: string };
  };
  read(path: string): string;
  /** Runs a script of its package.json, as a package manager does. Rejects with what it printed if it fails. */
  script(name: string, env?: NodeJS.ProcessEnv): Promise<string>;
  /** The command of a script, to be started. */
  command(name: string): readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface Projects {
  /** Where `npm create` would run. */
  readonly folder: string;
  /** The script of the packed `create-usher`. */
  readonly command: string;
  /** The `PATH` with every runtime. */
  readonly path: string;
  make(name: string, choices: Choices): Promise<Project>;
  remove(): void;
}

/** Packs both packages, and installs one of each. */
export function packProjects(): Projects {
  const { folder, remove } = pack();
  const modules = join(folder, "node_modules");
  for (const name of ["postgres", "typescript", "bun-types", "@types/bun", "@electric-sql"]) {
    if (!existsSync(join(modules, name))) symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  const create = packCreate(folder);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const programs = { node: runtimes["node-24"](), bun: runtimes.bun(), deno: runtimes.deno() };
  for (const [name, file] of Object.entries(programs)) symlinkSync(file, join(bin, name));
  symlinkSync(join(root, "node_modules/typescript/bin/tsc"), join(bin, "tsc"));
  // As a package manager does.
  const usher = join(modules, "usher-http/dist/cli.js");
  chmodSync(usher, 0o755);
  symlinkSync(usher, join(bin, "usher"));
  const env = { PATH: `${bin}:${process.env["PATH"]}`, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  return {
    folder,
    command: create,
    path: env.PATH,
    async make(name, choices) {
      const flags = Object.entries(choices).flatMap(([flag, value]) => [`--${flag}`, value as string]);
      await run(process.execPath, [create, name, ...flags], { cwd: folder });
      const project = join(folder, name);
      symlinkSync(modules, join(project, "node_modules"));
      return projectIn(project, env);
    },
    remove,
  };
}

function packCreate(folder: string): string {
  const unpacked = join(folder, "create-usher");
  unpack(join(root, "create-usher"), unpacked);
  return join(unpacked, "dist/main.js");
}

function projectIn(folder: string, env: NodeJS.ProcessEnv): Project {
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  const manifest = JSON.parse(read("package.json")) as Project["manifest"];
  return {
    folder,
    manifest,
    read,
    env,
    // With `exec` where the script has none, so that the process is the server's.
    command: (name) => ["sh", "-c", `exec ${manifest.scripts[name]?.replace(/^exec /, "")}`],
    async script(name, more = {}) {
      const options = { cwd: folder, env: { ...process.env, ...env, ...more } };
      try {
        const { stdout, stderr } = await run("sh", ["-c", manifest.scripts[name] ?? "false"], options);
        return stdout + stderr;
      } catch (error) {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        throw new Error(`${name} failed:\n${stdout}${stderr}`, { cause: error });
      }
    },
  };
}

/** What a Dockerfile says, of the instructions that the projects' use. */
export interface Image {
  /** The sources of each COPY, without the lock file, which an installation writes. */
  readonly copied: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly user: string | undefined;
  readonly healthCheck: readonly string[];
  readonly command: readonly string[];
}

export function imageOf(dockerfile: string): Image {
  const all = (instruction: string) => {
    return [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, "gm"))].map(([, rest = ""]) => rest);
  };
  return {
    copied: all("COPY")
      .flatMap((sources) => sources.split(" ").slice(0, -1))
      .filter((path) => !/lock/.test(path)),
    env: Object.fromEntries(
      all("ENV").flatMap((pairs) => pairs.split(" ").map((pair) => pair.split("="))),
    ) as NodeJS.ProcessEnv,
    user: all("USER").at(-1),
    healthCheck: JSON.parse(
      all("HEALTHCHECK")
        .at(-1)
        ?.replace(/^.* CMD /, "") ?? "[]",
    ) as readonly string[],
    command: JSON.parse(all("CMD").at(-1) ?? "[]") as readonly string[],
  };
}

/** Starts a project as its image does: in a folder that has what the Dockerfile copies, and nothing else. */
export async function startImage({ folder, read, env }: Project, more: NodeJS.ProcessEnv): Promise<RunningExample> {
  const image = imageOf(read("Dockerfile"));
  const app = `${folder}-image`;
  mkdirSync(app);
  for (const path of image.copied) cpSync(join(folder, path), join(app, path), { recursive: true });
  symlinkSync(join(folder, "node_modules"), join(app, "node_modules"));
  return startProgram(image.command, { ...env, ...image.env, PORT: "0", ...more }, app);
}
