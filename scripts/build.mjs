/** Bundles the package and compiles the examples into `dist`, and deletes the outputs of an older build. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleCreate, bundlePackage } from "./bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
console.error("building the package and its examples into dist");
const files = await bundlePackage(root);
await bundleCreate(root);
const written = new Set(files.flatMap((file) => [normalize(file), dirname(file)]));

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", "examples"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

// Emptying dist first would break a program that runs from it.
for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  const isExample = name.split(sep)[0] === "examples" && existsSync(join(root, name.replace(/\.js$/, ".ts")));
  if (!isExample && !written.has(name)) rmSync(join(dist, name), { recursive: true, force: true });
}
