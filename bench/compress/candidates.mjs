/** The servers: `/list` is 100 KiB of JSON, `/feed` an event stream that says one event and then waits. */
import { createServer } from "node:http";
import { createGzip, gzipSync } from "node:zlib";

/** All compress by gzip at this level. */
const level = 6;
const items = Array.from({ length: 1000 }, (_, id) => {
  const at = new Date(1.7e12 + id * 1e6).toISOString();
  return { id, name: `item number ${id}`, price: ((id * 7919) % 1000) / 10, tags: ["a", "b", `${id % 17}`], at };
});
const said = "event: tick\ndata: hello\n\n";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {boolean} [gzips] Whether its client takes gzip.
 * @property {() => Promise<number>} start Resolves with the port.
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  gzip: { name: "`node:http` and `gzipSync` by hand", gzips: true, start: () => byHand(true) },
  usher: { name: "usher, `Compress`", gzips: true, start: () => usher(true) },
  express: { name: "Express, `compression`", gzips: true, start: express },
  fastify: { name: "Fastify, `@fastify/compress`", gzips: true, start: fastify },
  hono: { name: "Hono, `compress`", gzips: true, start: hono },
  plain: { name: "`node:http` by hand, plain", start: () => byHand(false) },
  usherPlain: { name: "usher without it, plain", start: () => usher(false) },
  usherIdle: { name: "usher, `Compress`, to a client that takes none", start: () => usher(true) },
};

/** The servers that are asked for idle streams. */
export const feeds = ["plain", "gzip", "usherPlain", "usher"];

/** @param {boolean} gzips */
async function byHand(gzips) {
  const server = createServer((request, response) => {
    const coding = gzips ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {};
    if (request.url === "/feed") {
      response.writeHead(200, { "content-type": "text/event-stream", ...coding });
      if (!gzips) return response.write(said);
      const gzip = createGzip({ level });
      gzip.pipe(response);
      gzip.write(said);
      return gzip.flush();
    }
    const text = JSON.stringify(items);
    const body = gzips ? gzipSync(text, { level }) : Buffer.from(text);
    response.writeHead(200, { "content-type": "application/json", ...coding, "content-length": body.length });
    return response.end(body);
  });
  await new Promise((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 511 }, resolve));
  return server.address().port;
}

/** @param {boolean} gzips */
async function usher(gzips) {
  const { Answer, Event, Log, Path, Returns, clientGone, get } = await import("usher-http");
  const { Compress } = await import("usher-http/compress");
  const { serve } = await import("usher-http/node");
  Log.setup({ level: undefined });
  const tick = Event.text("tick");
  const list = get(Path.of("list"), { returns: Returns.response }, () =>
    Answer.make(JSON.stringify(items), { contentType: "application/json" }),
  );
  const feed = get(Path.of("feed"), { inputs: { clientGone }, returns: Returns.events([tick]) }, ({ clientGone }) => {
    return async (send) => {
      await send(Event.make(tick, "hello"));
      await new Promise((resolve) => clientGone.addEventListener("abort", resolve, { once: true }));
    };
  });
  const middleware = gzips ? [Compress.make({ level })] : [];
  return (await serve([list, feed], { host: "127.0.0.1", port: 0, maxConnections: 20_000, middleware })).port;
}

async function express() {
  const [{ default: make }, { default: compression }] = await Promise.all([import("express"), import("compression")]);
  const app = make();
  app.use(compression({ level }));
  app.get("/list", (_request, response) => response.json(items));
  return new Promise((resolve) => {
    const server = app.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}

async function fastify() {
  const [{ default: make }, { default: compress }] = await Promise.all([
    import("fastify"),
    import("@fastify/compress"),
  ]);
  const app = make();
  await app.register(compress, { zlibOptions: { level }, encodings: ["gzip"] });
  app.get("/list", (_request, reply) => reply.type("application/json").send(JSON.stringify(items)));
  await app.listen({ port: 0, host: "127.0.0.1" });
  return app.server.address().port;
}

async function hono() {
  const { Hono } = await import("hono");
  const { compress } = await import("hono/compress");
  const { serve } = await import("@hono/node-server");
  const app = new Hono();
  app.use(compress({ encoding: "gzip" }));
  app.get("/list", (c) => c.json(items));
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => resolve(port));
  });
}
