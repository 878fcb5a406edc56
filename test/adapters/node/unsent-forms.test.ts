/**
 * A `Response` of a `FormData` that is not sent. Node from 24.21 on throws where no code can catch it if the stream of such a
 * body is cancelled (nodejs/undici#5835): one `HEAD` ended the process.
 */
import { describe, expect, it } from "vitest";
import { nodes, programOf } from "./nodes.ts";

const start = programOf(new URL("unsent-forms-program.ts", import.meta.url));

describe.each(nodes)("a FormData answer that is not sent does not end the process: on %s", (node) => {
  it("when the method is HEAD", async () => {
    const client = await (await start(node, {})).client();
    expect((await client.ask("HEAD /form").answer({ toHead: true })).status).toBe(200);
    const { status, body } = await client.ask("GET /form").answer();
    expect([status, body.match(/filename="a\.txt"/g)?.length]).toEqual([200, 20]);
  });

  it("when the client disconnects before it is made", async () => {
    const server = await start(node, {});
    const client = await server.client();
    client.ask("GET /late");
    await server.tells("asked");
    client.leave();
    await server.tells("gone");
    expect((await (await server.client()).ask("HEAD /form").answer({ toHead: true })).status).toBe(200);
    expect((await (await server.client()).ask("GET /form").answer()).status).toBe(200);
  });
});
