/** `node measure.mjs <framework> <problems> <milliseconds>`: sends the CPU of a 400 that lists that many problems. */
import { H3, HTTPError, readBody } from "h3";
import { Hono } from "hono";
import { validator } from "hono/validator";
import { App, Log, Path, Returns, json, post } from "usher-http";
import * as v from "valibot";
import { NewOrder } from "../../apps/order.mjs";
import { median } from "../../harness/figures.mjs";

const [, , who = "usher", problems, ms] = process.argv;
const count = Number(problems);
const Orders = v.array(NewOrder);
const issuesOf = (issues) => issues.map((issue) => ({ path: v.getDotPath(issue), message: issue.message }));

const apps = {
  usher() {
    Log.setup({ level: undefined });
    const place = post(Path.of("orders"), { inputs: { orders: json(Orders) }, returns: Returns.text }, () => "placed");
    return App.make([place], { maxProblems: 1000 }).fetch;
  },
  hono() {
    const checked = validator("json", (value, c) => {
      const read = v.safeParse(Orders, value);
      return read.success ? read.output : c.json({ problems: issuesOf(read.issues) }, 400);
    });
    return new Hono().post("/orders", checked, (c) => c.text("placed")).fetch;
  },
  h3() {
    const app = new H3().post("/orders", async (event) => {
      const read = v.safeParse(Orders, await readBody(event));
      if (read.success) return "placed";
      throw new HTTPError({ status: 400, data: { problems: issuesOf(read.issues) } });
    });
    return (request) => app.fetch(request);
  },
};

const fetch = apps[who]();
const body = JSON.stringify(Array.from({ length: count }, (_, i) => ({ item: `pen ${i}`, quantity: 0 })));
const headers = { "content-type": "application/json", "content-length": String(body.length) };
const call = async () => {
  const response = await fetch(new Request("http://localhost/orders", { method: "POST", headers, body }));
  return { status: response.status, text: await response.text() };
};

const { status, text } = await call();
const listed = text.match(/quantity/g)?.length ?? 0;
if (status !== 400 || listed < count) throw new Error(`${who} answered ${status} with ${listed} of ${count} problems`);
await microsOf(Number(ms));
const all = median(await microsOf(Number(ms)));
process.send?.({ all, each: all / count, length: text.length / 1024 });

async function microsOf(ms) {
  const figures = [];
  for (const until = performance.now() + ms; performance.now() < until || figures.length < 3;) {
    const before = process.cpuUsage();
    const calls = Math.max(1, Math.floor(400 / count));
    for (let i = 0; i < calls; i++) await call();
    const { user, system } = process.cpuUsage(before);
    figures.push((user + system) / calls);
    await new Promise(setImmediate);
  }
  return figures;
}
