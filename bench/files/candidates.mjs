/** The servers of files: `start` runs in a process of its own, with the folder, and resolves with the port. */
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const host = "127.0.0.1";
const { Bun } = /** @type {any} */ (globalThis);

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {(folder: string) => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const onNode = {
  usher: { name: "usher, `Files.directory`", start: (folder) => usher("usher-http/node", folder) },
  bundle: { name: "usher, `Files.bundle`", start: (folder) => usher("usher-http/node", folder, "bundle") },
  fastify: {
    name: "`@fastify/static`",
    async start(folder) {
      const { default: fastify } = await import("fastify");
      const { default: files } = await import("@fastify/static");
      const app = fastify();
      await app.register(files, { root: folder });
      await app.listen({ host, port: 0 });
      return /** @type {import("node:net").AddressInfo} */ (app.server.address()).port;
    },
  },
  hono: {
    name: "Hono, `serveStatic`",
    async start(folder) {
      const { Hono } = await import("hono");
      const { serve } = await import("@hono/node-server");
      const { serveStatic } = await import("@hono/node-server/serve-static");
      const app = new Hono().use("/*", serveStatic({ root: folder }));
      return new Promise((resolve) => {
        serve({ fetch: app.fetch, hostname: host, port: 0 }, ({ port }) => resolve(port));
      });
    },
  },
};

/** @type {Readonly<Record<string, Candidate>>} */
export const onBun = {
  usher: { name: "usher, `Files.directory`", start: (folder) => usher("usher-http/bun", folder) },
  hono: {
    name: "Hono, `Bun.file`",
    async start(folder) {
      const { Hono } = await import("hono");
      const app = new Hono().get("/:name", (c) => new Response(Bun.file(join(folder, c.req.param("name")))));
      return Bun.serve({ hostname: host, port: 0, fetch: app.fetch }).port;
    },
  },
};

/** @type {Readonly<Record<string, Candidate>>} */
export const large = {
  raw: { name: "`createReadStream().pipe()`", start: byHand },
  usher: onNode.usher,
};

export const candidates = { node: onNode, bun: onBun, large };

async function usher(entry, folder, how = "directory") {
  const { Log, Path, Returns, get } = await import("usher-http");
  const { Files } = await import("usher-http/files");
  const { serve } = await import(entry);
  Log.setup({ level: undefined });
  const empty = get(Path.of("empty"), { returns: Returns.empty() }, () => {});
  const files =
    how === "bundle" ? Files.bundle(smallOf(Files.read(folder, { maxBytes: 2 ** 30 }))) : Files.directory(folder);
  return (await serve([empty, ...files], { host, port: 0 })).port;
}

function smallOf(files) {
  return Object.fromEntries(Object.entries(files).filter(([name]) => name !== "large.bin"));
}

/** @param {string} folder @returns {Promise<number>} */
function byHand(folder) {
  const file = join(folder, "large.bin");
  const server = createServer((_request, response) => {
    response.setHeader("content-length", statSync(file).size);
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(0, host, () => resolve(/** @type {import("node:net").AddressInfo} */ (server.address()).port));
  });
}
