/** Compiles the package and the examples into `dist`, and deletes outputs whose source is gone. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

for (const project of ["tsconfig.build.json", "examples"]) {
  const { status } = spawnSync(process.execPath, [tsc, "-p", project], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

// Emptying dist first would break a program that runs from it.
for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  const source = name.replace(/(\.d\.ts|\.js)$/, ".ts");
  if (source !== name && !existsSync(join(root, source))) rmSync(join(dist, name));
}
