/**
 * The packages of the benchmarks. `bench/package.json` pins the peers, and `npm ci --prefix bench` installs them. Valibot, `postgres`,
 * `ws`, `jose` and the tools come from the repository's own `node_modules`, one folder above.
 */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ownFolder = fileURLToPath(new URL("..", import.meta.url));

/**
 * Links what `usher-http` is to `bench/node_modules`. A package finds itself by its own name, but `bench` is another package, and
 * `npm ci` removes the links. A link to the whole repository would make a loop for whatever reads folders.
 *
 * @param {string} [bench] The folder of the benchmarks.
 */
export function linkOwn(bench = ownFolder) {
  const folder = join(bench, "node_modules/usher-http");
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "dist"]) link(join("../../..", name), join(folder, name));
}

/** @param {string} to @param {string} from */
function link(to, from) {
  try {
    symlinkSync(to, from);
  } catch (thrown) {
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== "EEXIST") throw thrown;
  }
}

/** The pinned version of each peer, by its name. @param {string} [bench] @returns {Readonly<Record<string, string>>} */
export function pinned(bench = ownFolder) {
  return JSON.parse(readFileSync(join(bench, "package.json"), "utf8")).dependencies;
}

/** What to do where a peer is not installed at its pinned version; undefined where all are. @param {string} [bench] */
export function notInstalled(bench = ownFolder) {
  const peers = Object.entries(pinned(bench)).map(([name, version]) => ({
    name,
    version,
    found: installed(bench, name),
  }));
  const wrong = peers.filter(({ version, found }) => found !== version);
  if (wrong.length === 0) return undefined;
  const todo = "The benchmarks compare with packages that are not installed: run `npm ci --prefix bench`.";
  if (peers.every(({ found }) => found === undefined)) return todo;
  const brought = wrong.map(({ name, version, found }) => `${name} ${version} (${found ?? "nothing"} is there)`);
  return `${todo} It brings ${brought.join(", ")}.`;
}

/** @param {string} bench @param {string} name */
function installed(bench, name) {
  try {
    return JSON.parse(readFileSync(join(bench, "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return undefined;
  }
}
