// Run on the packed package, as a user's program is.
import { Log, Path, Returns, get, json, post } from "usher-http";
import { serve } from "usher-http/node";
import * as v from "valibot";

Log.setup({ level: undefined });
const Order = v.object({ item: v.string() });
const server = await serve(
  [
    get(Path.root, { returns: Returns.text }, () => "hi"),
    post(Path.of("orders"), { inputs: { order: json(Order) }, returns: Returns.json(Order) }, ({ order }) => order),
  ],
  { port: 0 },
);
const root = await fetch(server.url);
const order = await fetch(`${server.url}/orders`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"item":"pen","price":1}',
});
console.log(JSON.stringify([root.status, await root.text(), order.status, await order.text(), await server.stop()]));
