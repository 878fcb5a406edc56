/** Servers with a mounted handler, and servers that pass on what another one answers. `start` resolves with the port. */
import http from "node:http";
import { once } from "node:events";

const host = "127.0.0.1";
/** The bytes of what is passed on. */
const passedBytes = 10_000;

/** The handler that every server mounts. @param {Request} request */
const handler = (request) =>
  new Response(`Hello from ${new URL(request.url).pathname}`, { headers: { "x-kind": "mounted" } });

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {(upstream: string) => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const mounted = {
  srvx: {
    name: "srvx",
    async start() {
      const { serve } = await import("srvx/node");
      const server = serve({ port: 0, hostname: host, fetch: handler, silent: true });
      await server.ready();
      return Number(new URL(/** @type {string} */ (server.url)).port);
    },
  },
  usher: { name: "usher, `Route.mount`", start: () => usher(({ Path, Route }) => [Route.mount(Path.root, handler)]) },
  response: {
    name: "usher, `Returns.response`",
    start: () =>
      usher(({ Path, Returns, get, request }) => [
        get(Path.of("hello", Path.str("name")), { inputs: { request }, returns: Returns.response }, ({ request }) =>
          handler({ url: `http://localhost${request.target}` }),
        ),
      ]),
  },
};

/** @type {Readonly<Record<string, Candidate>>} */
export const passed = {
  hand: { name: "`node:http` piped by hand", start: byHand },
  pass: {
    name: "usher, `Answer.pass(await fetch(…))`",
    start: (upstream) =>
      usher(({ Answer, Path, Returns, get }) => [
        get(Path.of("hello", Path.str("name")), { returns: Returns.response }, async () =>
          Answer.pass(await fetch(`${upstream}/hello`)),
        ),
      ]),
  },
  undici: {
    name: "usher, `Answer.pass` of `request` of `undici`",
    async start(upstream) {
      const { request } = await import("undici");
      return usher(({ Answer, Path, Returns, get }) => [
        get(Path.of("hello", Path.str("name")), { returns: Returns.response }, async () =>
          Answer.pass(await request(`${upstream}/hello`)),
        ),
      ]);
    },
  },
  proxy: {
    name: "usher, a mount as proxy",
    start: (upstream) =>
      usher(({ Path, Route }) => [
        Route.mount(Path.root, (request) => fetch(new Request(upstream + new URL(request.url).pathname, request))),
      ]),
  },
  stream: {
    name: "usher, `node:http` and `Answer.stream`",
    start: (upstream) => {
      const agent = new http.Agent({ keepAlive: true });
      return usher(({ Answer, Path, Returns, get }) => [
        get(Path.of("hello", Path.str("name")), { returns: Returns.response }, () => streamed(Answer, upstream, agent)),
      ]);
    },
  },
  fetch: {
    name: "`fetch` and `node:http` by hand",
    start: (upstream) =>
      listening(
        http.createServer(async (asked, response) => {
          const got = await fetch(`${upstream}${asked.url}`);
          const body = new Uint8Array(await got.arrayBuffer());
          response.writeHead(got.status, { "content-length": body.length });
          response.end(body);
        }),
      ),
  },
};

/** What is passed on comes from it. @type {Candidate} */
export const upstream = {
  name: "the server behind",
  start() {
    const body = Buffer.alloc(passedBytes, "a line of text\n");
    return listening(
      http.createServer((_, response) => {
        response.writeHead(200, { "content-type": "text/plain", "content-length": body.length });
        response.end(body);
      }),
    );
  },
};

async function usher(routesOf) {
  const usher = await import("usher-http");
  const { serve } = await import("usher-http/node");
  usher.Log.setup({ level: undefined, out: () => {} });
  return (await serve(routesOf(usher), { host, port: 0, signals: false })).port;
}

/** What another server answers, without `fetch`. */
function streamed(Answer, upstream, agent) {
  return new Promise((resolve, reject) => {
    const asking = http.get(`${upstream}/hello`, { agent }, (got) => {
      const { "content-type": contentType, "content-length": length } = got.headers;
      resolve(Answer.stream(got, { status: got.statusCode, contentType, length: Number(length) }));
    });
    asking.on("error", reject);
  });
}

function byHand(upstream) {
  const { hostname, port } = new URL(upstream);
  const agent = new http.Agent({ keepAlive: true });
  return listening(
    http.createServer((asked, response) => {
      const { url: path, method, headers } = asked;
      const asking = http.request({ host: hostname, port, path, method, headers, agent }, (got) => {
        response.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(response);
      });
      asked.pipe(asking);
    }),
  );
}

async function listening(server) {
  await once(server.listen(0, host), "listening");
  return server.address().port;
}
