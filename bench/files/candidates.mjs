/** The servers of files: `start` runs in a process of its own, with the folder, and resolves with the port. */
import { createReadStream, readFileSync, readdirSync, statSync } from "node:fs";
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
  raw: { name: "`node:http` by hand, from memory", start: fromMemory },
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

/**
 * What Node itself takes for the same head: an empty answer, and a file in memory with the fields of ours.
 *
 * @param {string} folder @returns {Promise<number>}
 */
function fromMemory(folder) {
  const kept = new Map();
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".txt"))) {
    const body = readFileSync(join(folder, name));
    const fields = {
      "accept-ranges": "bytes",
      "cache-control": "no-cache",
      etag: `"${body.length.toString(16)}-by-hand"`,
      "last-modified": statSync(join(folder, name)).mtime.toUTCString(),
    };
    const head = { ...fields, "content-type": "text/plain; charset=utf-8", "content-length": body.length };
    kept.set(`/${name}`, { body, fields, head });
  }
  const server = createServer((request, response) => {
    const file = kept.get(request.url);
    if (file === undefined) return response.writeHead(204).end();
    if (request.headers["if-none-match"] === file.fields.etag) return response.writeHead(304, file.fields).end();
    return response.writeHead(200, file.head).end(file.body);
  });
  return new Promise((resolve) => {
    server.listen(0, host, () => resolve(/** @type {import("node:net").AddressInfo} */ (server.address()).port));
  });
}
