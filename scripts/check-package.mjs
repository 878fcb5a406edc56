/** Checks what npm would publish of both packages, each packed once: publint their manifests, and attw the types of each entry. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "usher-pack-"));
try {
  const [usher, create] = [packed(root), packed(join(root, "create-usher"))];
  const checks = [
    ["publint", "run", usher, "--strict"],
    ["publint", "run", create, "--strict"],
    ["attw", usher, "--profile", "esm-only"],
  ];
  for (const [tool = "", ...args] of checks) {
    const [status] = await once(spawn(join(root, "node_modules/.bin", tool), args, { stdio: "inherit" }), "close");
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** @param {string} cwd @returns {string} The path of the tarball. */
function packed(cwd) {
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  return join(folder, execFileSync("npm", args, { cwd, encoding: "utf8" }).trim());
}
