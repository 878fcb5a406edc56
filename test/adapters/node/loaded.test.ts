/** The parts of Node that a server loads: an `import` of `node:http` can load `fetch`, which takes longer than everything else. */
import { expect, it } from "vitest";
import { nodes, programOf } from "./nodes.ts";

const start = programOf(new URL("loaded-program.ts", import.meta.url));

it.each(nodes)("a server that has answered has not loaded fetch: on %s", async (node) => {
  const server = await start(node, {});
  const headers = { "content-type": "application/json" };
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> =>
    (await fetch(server.url + path, init)).json();
  expect(await ask("/n?n=1")).toBe(1);
  expect(await ask("/n?n=x")).toMatchObject({ error: "invalid" });
  expect(await ask("/pets", { method: "POST", headers, body: '{"name":"Rex"}' })).toEqual({ name: "Rex" });
  const loaded = (await ask("/loaded")) as readonly string[];
  expect(loaded.filter((name) => name.includes("_http_server"))).not.toEqual([]);
  expect(loaded.filter((name) => name.includes("undici"))).toEqual([]);
});
