/**
 * Runs a command with no network but loopback, and with empty caches of npm, Deno and Bun: what a test asks a registry for then
 * fails at once, on any day. It takes a network namespace of Linux; where the machine gives none, `why` says so, and the command
 * still has the empty caches.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// An ordinary user gets a namespace of users, too, in which it keeps its id and may set up the interface. The program gets no such right.
const asRoot = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
const asUser = [
  "unshare",
  "--user",
  "--map-current-user",
  "--keep-caps",
  "--net",
  "sh",
  "-c",
  'ip link set lo up && exec setpriv --ambient-caps=-all --inh-caps=-all "$@"',
  "sh",
];

const [command = "", ...args] = process.getuid?.() === 0 ? asRoot : asUser;
const way = spawnSync(command, [...args, "true"]).status === 0 ? [command, ...args] : undefined;

/** Why the network is not taken away; undefined where it is. */
export const why =
  way === undefined ? "this machine gives no network namespace (unshare, and ip of iproute2)" : undefined;

/** The command as it is to be run. @param {readonly string[]} command */
export function offline(command) {
  return [...(way ?? []), ...command];
}

/** The environment with empty caches, and a function that removes them. */
export function emptyCaches() {
  const folder = mkdtempSync(join(tmpdir(), "usher-caches-"));
  const env = {
    ...process.env,
    DENO_DIR: join(folder, "deno"),
    BUN_INSTALL_CACHE_DIR: join(folder, "bun"),
    npm_config_cache: join(folder, "npm"),
    ...(way === undefined ? {} : { USHER_OFFLINE: "1" }),
  };
  return { env, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
