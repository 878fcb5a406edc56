/**
 * What a client sends behind the last answer of its connection: dropped up to 64 KiB, for a second at most, and then the
 * connection is closed even while the client sends (RFC 9112 §9.6). The clock is held, so that only the count of bytes closes it.
 */
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, get, post } from "usher-http";
import { active } from "../../support/memory.ts";
import { eventually } from "../../support/eventually.ts";
import { holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";

const most = 65_536;
const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");
const unread = post(Path.of("unread"), { returns: Returns.text }, () => "unread");

/** What has an answer be the last, and the answer's status. */
const lastOnes: readonly (readonly [what: string, request: string, status: number])[] = [
  ["an answer to a body that nobody reads", "POST /unread HTTP/1.1\r\nhost: h\r\ncontent-length: 9999999\r\n\r\n", 200],
  ["an answer to a head that is none", "GET /ok HTTP/1.1\r\nhost: h\r\nhost: i\r\n\r\n", 400],
  ["an answer to what is no HTTP", "no HTTP\r\n\r\n", 400],
  ["an answer to a CONNECT", "CONNECT a:80 HTTP/1.1\r\nhost: a:80\r\n\r\n", 501],
];

describe.each(lastOnes)("behind %s", (_what, request, status) => {
  const asks = async (port: number) => {
    const client = await RawClient.to(port);
    const answered = await client.send(request).answer();
    expect([answered.status, header(answered, "connection")]).toEqual([status, "close"]);
    return client;
  };

  it("64 KiB are dropped and the connection waits, and it is closed past that: again and again", async () => {
    holdClock();
    const { port } = await start([ok, unread]);
    const before = active("TCPSocketWrap");
    // As often as it takes for what is left behind by each to be seen.
    for (let round = 0; round < 3; round++) {
      const client = await asks(port);
      const closed = vi.fn();
      client.socket.once("close", closed);
      // In pieces: who has ended its reading hears of a close at the next write alone.
      for (let sent = 0; sent < most; sent += most / 8) {
        client.send("x".repeat(most / 8));
        await turns(port);
      }
      expect(closed).not.toHaveBeenCalled();
      // As much again, for as long as it is taken: what was under way is the system's to say.
      while (!client.socket.destroyed) {
        if (client.socket.writable) client.send("x".repeat(most));
        await turns(port);
      }
    }
    // Neither side of any of them is open.
    await eventually(() => expect(active("TCPSocketWrap")).toBe(before));
  });

  it("the connection is closed when a second is over, whatever was sent", async () => {
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
      // A byte more tells who sends it that nobody is there.
      await eventually(() => {
        if (client.socket.writable) client.send("x");
        expect(client.socket.destroyed).toBe(true);
      });
    }
  });
});
