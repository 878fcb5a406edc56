/** `node measure.mjs <requests>`: sends the processor time of a request, of the same by a tool, and of a list of 1,000 tools, in microseconds. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Log, Meta, Path, Returns, get, json, post } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import * as v from "valibot";

const [, , requests = "1000"] = process.argv;
Log.setup({ level: undefined });

const NewOrder = v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.pipe(v.number(), v.integer()) });
const Order = v.object({ id: v.number(), ...NewOrder.entries });
const place = post(
  Path.of("orders"),
  { meta: Meta.tool({ name: "place_order" }), inputs: { order: json(NewOrder) }, returns: Returns.json(Order) },
  ({ order }) => ({ id: 1, ...order }),
);
const many = Array.from({ length: 1000 }, (_, i) =>
  get(
    Path.of(`orders-${i}`),
    { meta: Meta.tool(), summary: `List ${i}`, returns: Returns.json(v.array(Order)) },
    () => [],
  ),
);
const about = { name: "orders", version: "1" };
const lists = Mcp.routes(many, { ...about, path: "/many", pageSize: 1000 });
const server = await serve([place, ...many, ...Mcp.routes([place], about), ...lists], { port: 0 });
const client = fork(new URL("client.mjs", import.meta.url));

/** Has the client send requests. Resolves with the last answer. */
async function send(path, body, count) {
  const { method, params } = body;
  const named = params?.name === undefined ? {} : { "mcp-name": params.name };
  const headers = method === undefined ? {} : { "mcp-protocol-version": version, "mcp-method": method, ...named };
  client.send({ url: `http://127.0.0.1:${server.port}${path}`, headers, body: JSON.stringify(body), count });
  return (await once(client, "message"))[0];
}

const order = { item: "pen", quantity: 2 };
const version = "2026-07-28";
const prefix = "io.modelcontextprotocol";
const meta = { [`${prefix}/protocolVersion`]: version, [`${prefix}/clientCapabilities`]: {} };
const message = (method, params) => ({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
const candidates = {
  request: (count) => send("/orders", order, count),
  call: (count) => send("/mcp", message("tools/call", { name: "place_order", arguments: order }), count),
  list: (count) => send("/many", message("tools/list", {}), count),
};
if (JSON.parse(await candidates.request(1)).id !== 1) throw new Error("the answer is wrong");
if (JSON.parse(await candidates.call(1)).result.structuredContent?.id !== 1) throw new Error("the result is wrong");
if (JSON.parse(await candidates.list(1)).result.tools.length !== 1000) throw new Error("the list is not whole");

/** Processor time of one answer of the server; the client is another process. */
async function time(ask, count) {
  const before = process.cpuUsage();
  await ask(count);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const count = Number(requests);
const times = { request: [], call: [], list: [] };
const countOf = (what) => (what === "list" ? Math.ceil(count / 400) : count / 8);
for (const [what, ask] of Object.entries(candidates)) await time(ask, 2 * countOf(what));
for (let round = 0; round < 8; round++) {
  for (const [what, ask] of Object.entries(candidates)) times[what].push(await time(ask, countOf(what)));
}
process.send?.(times);
client.kill();
await server.stop();
process.disconnect?.();
