/**
 * What a client sends behind the last answer of its connection is dropped, as long as it sends fast and for five seconds at most. Then
 * the connection is closed even while the client sends (RFC 9112 §9.6). The clock is held.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { App, Path, Returns, post } from "usher-http";
import { header, turns } from "../../support/raw-client.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { clientTo, servingApp } from "./adapted.ts";

const most = 65_536;
let handled = 0;
const app = App.make([
  post(Path.of("unread"), { returns: Returns.text }, () => "unread"),
  post(Path.of("handled"), { returns: Returns.text }, () => String(handled++)),
]);

/** A server for which no time passes, except by `vi.advanceTimersByTime`. */
async function timeless() {
  const server = await servingApp(app);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return { server, port: (server.address() as AddressInfo).port };
}

/** A client that has sent the head of a request, and the server's side of its connection. */
async function asking(server: Server, framing: string) {
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const client = await clientTo(server);
  client.send("POST /unread HTTP/1.1", "host: h", framing, "", "");
  const [socket] = await accepted;
  const closed = vi.fn();
  socket.once("close", closed);
  return { client, socket, closed };
}

/** Waits without a timer. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

async function expectLast(client: RawClient): Promise<void> {
  const answer = await client.answer();
  expect([answer.status, header(answer, "connection")]).toEqual([200, "close"]);
}

describe("after the last answer of a connection", () => {
  it("the connection stays for a client that sends more than 64 KiB in each second, and for five seconds at most", async () => {
    const { server, port } = await timeless();
    const { client, socket, closed } = await asking(server, "content-length: 9999999");
    await expectLast(client);
    // The server has nothing more to say, and says so.
    await client.closed();
    for (let second = 1; second <= 5; second++) {
      const before = socket.bytesRead;
      client.send("x".repeat(most + most / 8));
      await until(() => socket.destroyed || socket.bytesRead - before > most);
      await turns(port);
      expect(socket.destroyed).toBe(false);
      vi.advanceTimersByTime(1000);
    }
    await until(() => closed.mock.calls.length > 0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("the connection is closed after a second in which its client sent little", async () => {
    const { server, port } = await timeless();
    const { client, socket } = await asking(server, "content-length: 9999999");
    await expectLast(client);
    client.send("x");
    await turns(port);
    expect(socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1000);
    expect(socket.destroyed).toBe(true);
  });

  it.each(["halfClose", "leave"] as const)("the connection is closed at once by the client's %s", async (how) => {
    const { server } = await timeless();
    const { client, closed } = await asking(server, "content-length: 9999999");
    await expectLast(client);
    client[how]();
    await until(() => closed.mock.calls.length > 0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a chunked body that the handler does not read", () => {
  it("is awaited before the answer, which then leaves no timer and keeps the connection", async () => {
    const { server, port } = await timeless();
    const { client } = await asking(server, "transfer-encoding: chunked");
    client.send("1\r\na\r\n");
    await turns(port);
    expect(vi.getTimerCount()).toBe(1);
    const answer = await client.send("0\r\n\r\n").answer();
    expect([answer.status, header(answer, "connection"), vi.getTimerCount()]).toEqual([200, "keep-alive", 0]);
    expect((await client.ask("POST /unread").answer()).status).toBe(200);
  });

  it("is awaited for at most a second", async () => {
    const { server, port } = await timeless();
    const { client } = await asking(server, "transfer-encoding: chunked");
    await turns(port);
    vi.advanceTimersByTime(1000);
    await expectLast(client);
  });

  it("is dropped up to 64 KiB, past which the answer closes the connection", async () => {
    const { server } = await timeless();
    const { client } = await asking(server, "transfer-encoding: chunked");
    await expectLast(client.send(`20000\r\n${"x".repeat(0x20000)}\r\n`));
  });

  it("is never read as requests, after its answer has closed the connection", async () => {
    const { server, port } = await timeless();
    const { client, socket } = await asking(server, "transfer-encoding: chunked");
    await expectLast(client.send(`10001\r\n${"x".repeat(0x10001)}\r\n`));
    client.send("0", "", "POST /handled HTTP/1.1", "host: h", "content-length: 0", "", "");
    await turns(port);
    expect([handled, socket.destroyed]).toEqual([0, false]);
  });
});
