/**
 * A stop with a handler that never ends, whose client has gone. Nothing else keeps the process alive then: it ended before
 * `stopped` resolved, with code 13, and the application's code after it never ran.
 */
import { expect, it } from "vitest";
import { nodes, programOf } from "./nodes.ts";

const start = programOf(new URL("forgotten-request-program.ts", import.meta.url));

it.each(nodes)("resolves `stopped` after drainMs, and the process ends with 0: on %s", async (node) => {
  const server = await start(node, { drainMs: 1 });
  const client = await server.client();
  client.send("GET /never HTTP/1.1", "host: h", "", "");
  await server.tells("asked");
  client.leave();
  await server.tells("gone");
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(server.told).toEqual(["asked", "gone", "stopped: 1"]);
  expect(server.logged.at(-1)).toBe("stopped with 1 request unanswered after 0.001s");
});
