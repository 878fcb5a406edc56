/** The binaries of Node 24, Bun and Deno, from their npm packages, and how Bun and Deno run a program. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const folder = (name) => dirname(require.resolve(`${name}/package.json`));
const platform = `${process.platform}-${process.arch}`;

/** The first existing path: the install script, which may not have run, moves the binary. */
function first(...paths) {
  const path = paths.find((path) => existsSync(path));
  if (path === undefined) throw new Error(`none of ${paths.join(", ")} is there: npm ci brings one`);
  return path;
}

export const binaries = {
  node: () => join(folder(`node-24-${platform}`), "bin/node"),
  bun: () => {
    const modules = dirname(folder("bun"));
    return {
      path: first(join(modules, "@oven", `bun-${platform}`, "bin/bun"), join(folder("bun"), "bin/bun.exe")),
      args: [],
    };
  },
  deno: () => {
    const modules = dirname(folder("deno"));
    const own = `${platform}${process.platform === "linux" ? "-glibc" : ""}`;
    return {
      path: first(join(modules, "@deno", own, "deno"), join(folder("deno"), "deno")),
      // Without deno.json, which maps the package to its source: the build is measured.
      args: [
        "run",
        "--no-config",
        "--no-lock",
        "--node-modules-dir=manual",
        "--cached-only",
        "--v8-flags=--expose-gc",
        "-A",
      ],
    };
  },
};
