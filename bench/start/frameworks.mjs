/** The steps from importing a framework to its first response. */
/** @typedef {{ import: number, list?: number, make: number, first: number }} Steps In milliseconds. */

const target = "/r57/1234";

// Node loads fetch at its first use, which must not count against the first framework that uses it.
await new Response(new Request("http://localhost").url).text();

/** @type {Readonly<Record<string, (count: number) => Promise<Steps>>>} */
export const frameworks = {
  async usher(count) {
    const clock = stopwatch();
    const { tableRoutes, logTo } = await import("../apps/usher.mjs");
    const { App } = await import("usher-http");
    const imported = clock();
    logTo("off");
    const list = tableRoutes(count);
    const listed = clock();
    const { fetch } = App.make(list);
    const made = clock();
    await checked(await fetch(new Request(`http://localhost${target}`)));
    return { import: imported, list: listed, make: made, first: clock() };
  },
  hono: (count) => peer("../apps/hono.mjs", count, (app) => app.fetch(new Request(`http://localhost${target}`))),
  h3: (count) => peer("../apps/h3.mjs", count, (app) => app.fetch(new Request(`http://localhost${target}`))),
  fastify: (count) =>
    peer("../apps/fastify.mjs", count, async (app) => {
      const { statusCode: status, body } = await app.inject(target);
      return new Response(body, { status });
    }),
};

async function peer(module, count, call) {
  const clock = stopwatch();
  const { tableApp } = await import(module);
  const imported = clock();
  const app = tableApp(count);
  const made = clock();
  await checked(await call(app));
  return { import: imported, make: made, first: clock() };
}

/** Returns the milliseconds since its last call. */
function stopwatch() {
  let at = performance.now();
  return () => {
    const since = at;
    at = performance.now();
    return at - since;
  };
}

async function checked(response) {
  const text = await response.text();
  if (response.status !== 200 || text !== "1234") throw new Error(`${target} was answered ${response.status} ${text}`);
}
