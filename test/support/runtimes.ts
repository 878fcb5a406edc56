/** The binaries of every runtime the tests run, all from npm packages: nothing is taken from the machine but this Node. */
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { rows } from "./wide.ts";

const machine = `${process.platform}-${process.arch}`;
const executable = process.platform === "win32" ? ".exe" : "";

/** Where a package's folder is, seen from another one's; undefined where it is not installed. */
function packageFolder(name: string, from = import.meta.filename): string | undefined {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, "package.json"))) return join(folder, name);
  }
  return undefined;
}

/** The first place, a package and a path in it, that holds a binary; an install script that did not run leaves less. */
function binary(...places: readonly (readonly [folder: string | undefined, path: string])[]): string {
  for (const [folder, path] of places) {
    const file = join(folder ?? "", path);
    if (folder !== undefined && existsSync(file) && statSync(file).size > 1_000_000) return file;
  }
  throw new Error(`${places.at(-1)?.[1]} is not installed: npm ci brings it, where there is one for ${machine}`);
}

/** The binaries of the runtimes, by name. */
export const runtimes = {
  "node-oldest": (): string => binary([packageFolder(`node-oldest-${machine}`), join("bin", `node${executable}`)]),
  "node-22": (): string => binary([packageFolder(`node-22-${machine}`), join("bin", `node${executable}`)]),
  "node-24": (): string => binary([packageFolder(`node-24-${machine}`), join("bin", `node${executable}`)]),
  "node-newest": (): string => binary([packageFolder(`node-newest-${machine}`), join("bin", `node${executable}`)]),
  // An install script moves them, where it was let run.
  bun: (): string =>
    binary(
      [packageFolder(`@oven/bun-${machine.replace("win32", "windows")}`), join("bin", `bun${executable}`)],
      [packageFolder("bun"), join("bin", "bun.exe")],
    ),
  deno: (): string =>
    binary(
      [packageFolder(`@deno/${machine}${process.platform === "linux" ? "-glibc" : ""}`), `deno${executable}`],
      [packageFolder("deno"), `deno${executable}`],
    ),
  workerd: (): string => {
    const name = `@cloudflare/workerd-${machine.replace("win32", "windows").replace("x64", "64")}`;
    const of = packageFolder("workerd");
    return binary([of && packageFolder(name, join(of, "package.json")), join("bin", `workerd${executable}`)]);
  },
};

/** The runtimes that a program is tried on; the oldest Node is left to the wide run, as the newest is among them. */
export const programRuntimes = rows<"node-oldest" | "node-newest" | "bun" | "deno">(
  ["node-newest", "bun", "deno"],
  ["node-oldest"],
);
