import { createRequire } from "node:module";
import { cpus } from "node:os";
import { pinned } from "./packages.mjs";

const require = createRequire(import.meta.url);

/** What is measured, and what it runs on. A peer that has no name here is listed by that of its package. */
const packages = {
  Bun: "bun",
  Deno: "deno",
  Fastify: "fastify",
  Hono: "hono",
  "Hono's node-server": "@hono/node-server",
  h3: "h3",
  Elysia: "elysia",
  oRPC: "@orpc/server",
  Effect: "effect",
  Express: "express",
  pino: "pino",
  Valibot: "valibot",
  postgres: "postgres",
  pg: "pg",
  ws: "ws",
  jose: "jose",
  TypeScript: "typescript",
};

/** Versions by name. @returns {Readonly<Record<string, string>>} */
export function versions() {
  const named = Object.entries(packages).map(([name, from]) => [name, versionOf(from)]);
  const others = Object.keys(pinned()).filter((name) => !Object.values(packages).includes(name));
  const peers = others.map((name) => [name, versionOf(name)]);
  return { Usher: ownVersion(), Node: process.versions.node, ...Object.fromEntries([...named, ...peers]) };
}

export function ownVersion() {
  return require("../../package.json").version;
}

/** The versions and the machine: the first line of a report. */
export function versionLine() {
  const each = Object.entries(versions()).map((pair) => pair.join(" "));
  return `${each.join(", ")}; ${cpus().length} × ${cpus()[0]?.model}`;
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
