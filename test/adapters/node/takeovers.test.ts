/** What the handler of a takeover reads of its connection. */
import { expect, it } from "vitest";
import { Answer, Path, Returns, get } from "usher-http";
import "../../support/logs.ts";
import { clientOf, gate } from "../../support/node-server.ts";

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

it("a handler that aborts what it writes ends the connection, whatever it does next", async () => {
  const letGo = gate();
  const aborts = get(Path.of("aborts"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      await writable.abort();
      await letGo.passed;
    }),
  );
  const client = await clientOf([aborts]);
  client.ask("GET /aborts", ["connection: upgrade", "upgrade: echo"]);
  await client.closed();
  letGo.open();
  expect(client.socket.destroyed || client.socket.readableEnded).toBe(true);
});
