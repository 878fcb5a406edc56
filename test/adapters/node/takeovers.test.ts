/** What the handler of a takeover reads of its connection. */
import { expect, it } from "vitest";
import { Answer, Path, Returns, get } from "usher-http";
import "../../support/logs.ts";
import { clientOf } from "../../support/node-server.ts";

const echo = get(Path.of("taken"), { returns: Returns.response }, () =>
  Answer.takeover("echo", async ({ readable, writable }) => {
    const writer = writable.getWriter();
    for await (const part of readable) await writer.write(part);
  }),
);

it("what a client sent behind its head comes first, and once", async () => {
  const client = await clientOf([echo]);
  client.send("GET /taken HTTP/1.1", "host: h", "connection: upgrade", "upgrade: echo", "", "abc");
  expect((await client.answer()).status).toBe(101);
  expect(await client.bytes(3)).toBe("abc");
  client.send("def");
  expect(await client.bytes(3)).toBe("def");
});
