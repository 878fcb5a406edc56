/** `node --expose-gc measure.mjs <framework> <routes> <milliseconds>`: sends what an app with that many routes costs. */
import { nsPerCall } from "../../harness/timing.mjs";

const [, , who, routes, ms] = process.argv;
const count = Number(routes);
const resource = `r${Math.floor(count / 20)}`;

/** Makes an app; resolves with its call. @type {Record<string, () => Promise<() => (request: Request) => any>>} */
const makers = {
  async usher() {
    const { tableRoutes, logTo } = await import("../../apps/usher.mjs");
    const { App } = await import("usher-http");
    logTo("off");
    return () => App.make(tableRoutes(count)).fetch;
  },
  hono: () => peer("hono"),
  h3: () => peer("h3"),
  async fastify() {
    const { tableApp } = await import("../../apps/fastify.mjs");
    return () => {
      const app = tableApp(count);
      return async (request) => {
        const { statusCode: status, body } = await app.inject(new URL(request.url).pathname);
        return new Response(body, { status });
      };
    };
  },
};

async function peer(name) {
  const { tableApp } = await import(`../../apps/${name}.mjs`);
  return () => {
    const app = tableApp(count);
    return (request) => app.fetch(request);
  };
}

const make = await makers[who]();
// What the first request of a process loads is not an app's.
await new Response(new Request("http://localhost").url).text();
const before = held();
const startedAt = performance.now();
const call = make();
const madeAt = performance.now();
await answered(`/${resource}/1234`, "GET", 200);
const firstAt = performance.now();
const figures = { make: madeAt - startedAt, first: firstAt - madeAt, memory: (held() - before) / 1e6 };
if (who === "fastify") process.send?.(figures);
else process.send?.({ ...figures, ...(await calls()) });

async function calls() {
  const isUsher = who === "usher";
  return {
    hit: await nsOf(`/${resource}/1234`, "GET", 200),
    miss: await nsOf(`/${resource}/1234/parts/9`, "GET", 404),
    nowhere: await nsOf("/nowhere/9", "GET", 404),
    refused: await nsOf(`/${resource}/1234`, "PUT", isUsher ? 405 : 404),
  };
}

async function nsOf(target, method, status) {
  await answered(target, method, status);
  const request = new Request(`http://localhost${target}`, { method });
  const prepare = (calls) => Array.from({ length: calls }, () => request);
  return nsPerCall({ prepare, call, batch: 32, ms: Number(ms) });
}

async function answered(target, method, status) {
  const response = await call(new Request(`http://localhost${target}`, { method }));
  await response.text();
  if (response.status !== status) throw new Error(`${who} answered ${method} ${target} with ${response.status}`);
}

function held() {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
