/** A program whose start fails, in the way that its argument names, after a pool, a relay and a hub were opened. */
import process from "node:process";
import { serve } from "../../../adapters/node/index.ts";
import { Pool, Statement, Type, relay } from "../../../adapters/postgres/index.ts";
import { Background, Broadcast, Path, Returns, get } from "../../../src/index.ts";

const [url = "", way = "", port = ""] = process.argv.slice(2);
const routes = [get(Path.root, { returns: Returns.text }, () => "hello")];
const missing = Statement.list("select item from nowhere", { params: [], row: { item: Type.text } });
const one = Statement.find("select 1 as n", { params: [], row: { n: Type.int } });

/** What fails, once all else is open. */
const ways: { readonly [name: string]: (pool: Pool) => Promise<unknown> } = {
  "a taken port": () => serve(routes, { port: Number(port) }),
  "a taken port, with a connection that is borrowed for ever": async (pool) => {
    pool.use(() => new Promise<void>(() => {})).catch(() => {});
    await serve(routes, { port: Number(port) });
  },
  "a pool that cannot be opened": () => Pool.create(url.replace(/\/\w+(?=\?|$)/, "/absent")),
  "an error before serve": (pool) => {
    const background = Background.create();
    background.start("the sweep", async () => {
      for (;;) await pool.exec(one);
    });
    throw new Error("the secret is too short");
  },
  "statements that are not of the database": (pool) => Statement.verify(pool, [missing]),
  "a signal while it starts": () => {
    process.kill(process.pid, "SIGTERM");
    return new Promise((resolve) => setTimeout(resolve, 5000));
  },
};

await Pool.run(url, { size: 2 }, async (pool) => {
  const over = await relay(url, { channel: "failed_start" });
  const hub = Broadcast.create<string>({ relay: over });
  try {
    await ways[way]?.(pool);
  } finally {
    hub.close();
    await over.close();
  }
});
