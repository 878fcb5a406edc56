/**
 * Bytes that a client sends after the last answer of its connection are dropped, as long as it sends fast and for five seconds at most.
 * Then the connection is closed even while the client sends (RFC 9112 §9.6). The clock is fake.
 */
import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, body, get, post } from "usher-http";
import { active } from "../../support/memory.ts";
import { eventually } from "../../support/eventually.ts";
import { holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";

const most = 65_536;
const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");
const unread = post(Path.of("unread"), { returns: Returns.text }, () => "unread");

/** Requests whose answer is the last of their connection, and the status of the answer. */
const lastOnes: readonly (readonly [what: string, request: string, status: number])[] = [
  ["an answer to a body that nobody reads", "POST /unread HTTP/1.1\r\nhost: h\r\ncontent-length: 9999999\r\n\r\n", 200],
  ["an answer to a head that is none", "GET /ok HTTP/1.1\r\nhost: h\r\nhost: i\r\n\r\n", 400],
  ["an answer to what is no HTTP", "no HTTP\r\n\r\n", 400],
  ["an answer to a CONNECT", "CONNECT a:80 HTTP/1.1\r\nhost: a:80\r\n\r\n", 501],
];

describe.each(lastOnes)("after %s", (_what, request, status) => {
  const asks = async (port: number) => {
    const client = await RawClient.to(port);
    const answered = await client.send(request).answer();
    expect([answered.status, header(answered, "connection")]).toEqual([status, "close"]);
    return client;
  };

  it("the connection stays for a client that sends more than 64 KiB in each second, and for five seconds at most", async () => {
    holdClock();
    const { port } = await start([ok, unread]);
    const before = active("TCPSocketWrap");
    // Often enough that a leak of each round becomes visible.
    for (let round = 0; round < 3; round++) {
      const client = await asks(port);
      const closed = vi.fn();
      client.socket.once("close", closed);
      // A check is up to half a second late, so that a second may be longer.
      for (let second = 1; second <= 10 && !client.socket.destroyed; second++) {
        // In chunks: a side that has ended its reading notices a close only at the next write.
        for (let sent = 0; sent <= 2 * most && client.socket.writable; sent += most / 8) {
          client.send("x".repeat(most / 8));
          await turns(port);
        }
        if (second < 5) expect(closed).not.toHaveBeenCalled();
        vi.advanceTimersByTime(1000);
      }
      await eventually(() => {
        if (client.socket.writable) client.send("x");
        expect(client.socket.destroyed).toBe(true);
      });
    }
    // Neither side of any of them is open.
    await eventually(() => expect(active("TCPSocketWrap")).toBe(before));
  });

  it("the connection is closed after a second in which its client sent little", async () => {
    holdClock();
    const { port } = await start([ok, unread]);
    for (let round = 0; round < 2; round++) {
      const client = await asks(port);
      const closed = vi.fn();
      client.socket.once("close", closed);
      for (let i = 0; i < 3; i++) {
        client.send("x");
        await turns(port);
      }
      expect(closed).not.toHaveBeenCalled();
      vi.advanceTimersByTime(2500);
      // One more byte tells the sender that the connection is closed.
      await eventually(() => {
        if (client.socket.writable) client.send("x");
        expect(client.socket.destroyed).toBe(true);
      });
    }
  });
});

it.each(["content-length: 4194304", "transfer-encoding: chunked"])(
  "a client that writes 4 MiB before it reads gets the 413, with %s",
  async (framing) => {
    const upload = post(Path.of("upload"), { inputs: { body }, returns: Returns.text }, () => "read");
    const { port } = await start([upload]);
    for (let round = 0; round < 3; round++) {
      const client = await RawClient.to(port);
      client.socket.pause();
      client.send("POST /upload HTTP/1.1", "host: h", framing, "", "");
      const bytes = "x".repeat(65_536);
      const part = framing.startsWith("c") ? bytes : `10000\r\n${bytes}\r\n`;
      for (let sent = 0; sent < 64; sent++) if (!client.socket.write(part)) await once(client.socket, "drain");
      client.socket.resume();
      const answered = await client.answer();
      expect([answered.status, header(answered, "connection")]).toEqual([413, "close"]);
      client.leave();
    }
  },
);
