import { createRequire } from "node:module";
import { cpus } from "node:os";

const require = createRequire(import.meta.url);

/** The versions and the machine: the first line of a report. */
export function versions() {
  const peers = ["hono", "@hono/node-server", "h3", "fastify", "elysia", "valibot", "postgres", "pg"].map(
    (name) => `${name} ${versionOf(name)}`,
  );
  const { version } = require("../../package.json");
  return `usher-http ${version}, Node ${process.versions.node}, ${peers.join(", ")}; ${cpus().length} × ${cpus()[0]?.model}`;
}

/** The version of an installed package. Some do not export their package.json. @param {string} name */
export function versionOf(name) {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return require(`${folder}/${name}/package.json`).version;
    } catch {
      // Try the parent folder.
    }
  }
  return "?";
}
