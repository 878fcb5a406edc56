/** Bodies on a network socket (facts 8.2; rows SV-06, SV-10, SV-15, SV-16, WR-12, BD). */
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { Answer, Dep, Path, Returns, body, bodyStream, get, json, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { clientOf, gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import type { RawAnswer } from "../../support/raw-client.ts";
import { busy, tooLarge, unreadable } from "../../support/refusals.ts";
import { eventually } from "../../support/eventually.ts";

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const echo = post(Path.of("echo"), { inputs: { body }, returns: Returns.text }, ({ body }) =>
  new TextDecoder().decode(body),
);
const item = post(
  Path.of("item"),
  { inputs: { item: json(v.object({ name: v.string() })) }, returns: Returns.text },
  ({ item }) => item.name,
);
const routes = [
  size,
  echo,
  item,
  post(Path.of("now"), { returns: Returns.text }, () => "now"),
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
];
const chunked = "transfer-encoding: chunked";
const post1 = (path: string, ...headers: readonly string[]) => [`POST ${path} HTTP/1.1`, "host: h", ...headers, "", ""];

describe("a body that is read", () => {
  it("BD-01 has its Content-Length, however it is cut", async () => {
    const client = await clientOf(routes);
    client.send(...post1("/echo", "content-length: 7")).send("ab");
    for (const part of ["c", "de", "fg"]) {
      await new Promise((resolve) => client.socket.write(part, resolve));
    }
    expect((await client.answer()).body).toBe("abcdefg");
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("BD-06, BD-07, WR-12 is chunked; extensions and trailers are not part of it, nor of the headers", async () => {
    const client = await clientOf(routes);
    client
      .send(...post1("/echo", chunked))
      .send("3;a=b", "abc", "")
      .send("04\r\ndefg\r\n0\r\nx-trailer: 1\r\n\r\n");
    const answered = await client.answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["abcdefg", undefined]);
    expect((await client.ask("POST /item", [], '{"name":"kim"}').answer()).body).toBe("kim");
  });

  it("that arrives late, followed by another body that is incomplete and ends early", async () => {
    const { passed, open } = gate();
    const asked = gate();
    const after = (path: string, before: () => Promise<void>) => {
      const inputs = { waited: Dep.join({}, async () => (await before(), 1)), body };
      return post(Path.of(path), { inputs, returns: Returns.text }, ({ body }) => String(body.byteLength));
    };
    holdClock();
    const client = await clientOf([after("late", () => passed), after("early", async () => asked.open())]);
    client
      .ask("POST /late", [], "four")
      .send(...post1("/early", "content-length: 9"))
      .send("part");
    open();
    expect((await client.answer()).body).toBe("4");
    await asked.passed;
    client.halfClose();
    expect(await client.answer()).toMatchObject({ status: 400, body: unreadable });
  });

  it("that is pipelined belongs to its own request", async () => {
    const client = await clientOf(routes);
    client
      .ask("POST /echo", [], "one")
      .send(...post1("/echo", chunked))
      .send("3", "two", "0", "", "")
      .ask("GET /ok")
      .ask("POST /size", [], "four");
    const bodies = [];
    for (let i = 0; i < 4; i++) bodies.push((await client.answer()).body);
    expect(bodies).toEqual(["one", "two", "ok", "4"]);
  });
});

describe("a body that is too long", () => {
  it("SV-06 of 2 MiB is a 413 that the client can read", async () => {
    for (const path of ["/size", "/item"]) {
      const client = await clientOf(routes);
      const body = Buffer.alloc(2 * 1024 * 1024, 0x20);
      client.send(...post1(path, `content-length: ${body.length}`));
      client.socket.write(body);
      const answered = await client.answer();
      expect([answered.status, answered.body, header(answered, "connection")]).toEqual([413, tooLarge, "close"]);
      await client.closed();
    }
  });

  it("SV-06 that is chunked is a 413 as soon as it is too long, though it never ends", async () => {
    const client = await clientOf(routes, { maxBody: 32 });
    client.send(...post1("/size", chunked)).send("20", "x".repeat(32), "1", "y", "");
    const answered = await client.answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([413, tooLarge, "close"]);
    await client.closed();
  });

  it.each([
    ["its length", ["content-length: 33"], "x".repeat(33)],
    ["its length, and 64 KiB are left of it", ["content-length: 65536"], "x".repeat(65_536)],
    ["chunks", [chunked], `21\r\n${"x".repeat(33)}\r\n0\r\n\r\n`],
    ["chunks, and 64 KiB are left of it", [chunked], `10020\r\n${"x".repeat(65_568)}\r\n0\r\n\r\n`],
  ])("SV-06 with %s is a 413, and the connection is kept", async (_how, framing, body) => {
    const client = await clientOf(routes, { maxBody: 32 });
    const answered = await client.send(...post1("/size", ...framing).slice(0, -1), body).answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([413, tooLarge, undefined]);
    expect((await client.ask("POST /size", [], "short").answer()).body).toBe("5");
  });

  it("SV-06 that is chunked and arrives late is answered as soon as it is too long", async () => {
    holdClock();
    const { port } = await start(routes, { maxBody: 32 });
    const client = await RawClient.to(port);
    client.send(...post1("/size", chunked)).send("21", "x".repeat(33), "");
    await turns(port);
    const answered = await client.send("1", "y", "0", "", "").answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([413, tooLarge, undefined]);
    expect((await client.ask("POST /size", [], "short").answer()).body).toBe("5");
  });

  it("SV-06 with exactly the limit is read", async () => {
    const client = await clientOf(routes, { maxBody: 32 });
    expect((await client.ask("POST /size", [], "x".repeat(32)).answer()).body).toBe("32");
    expect(
      (
        await client
          .send(...post1("/size", chunked))
          .send("10", "x".repeat(16), "10", "y".repeat(16), "0", "", "")
          .answer()
      ).body,
    ).toBe("32");
  });
});

describe("a body behind a response that its client reads slowly", () => {
  const big = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(64 * 1024 * 1024)));
  const upload = bodyStream({ max: 100 });
  const parts = post(Path.of("parts"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
    let bytes = 0;
    for await (const part of upload) bytes += part.byteLength;
    return String(bytes);
  });

  // Node does not read it, until the client has taken the response.
  it.each(["/size", "/parts"])("POST %s has its time once it is read, and not before", async (path) => {
    holdClock();
    const { port } = await start([big, size, parts], { sendTimeoutMs: 2 ** 31 - 1 });
    const ask = async () => {
      const client = await RawClient.to(port);
      client.ask("GET /big");
      await client.sees("\r\n\r\n");
      client.socket.pause();
      client.send(...post1(path, "content-length: 4"));
      await turns(port);
      return client;
    };
    const [client, other] = [await ask(), await ask()];
    client.send("four");
    for (let seconds = 0; seconds < 60; seconds++) {
      vi.advanceTimersByTime(1000);
      await turns(port);
    }
    for (const each of [client, other]) {
      each.socket.resume();
      await each.answer();
    }
    expect((await client.answer()).body).toBe("4");
    let answered: RawAnswer | undefined;
    void other.answer().then((answer) => (answered = answer));
    for (; answered === undefined; await turns(port)) vi.advanceTimersByTime(1000);
    expect([answered.status, answered.body]).toEqual([400, unreadable]);
  });
});

describe("a body that does not arrive: in time", () => {
  const slow = { bodyTimeoutMs: 200, minBodyRate: 1_000_000 };

  it("SV-10 is 400 unreadable, and closed, wherever it stops", async () => {
    const server = await start(routes, slow);
    const stops = [
      ["content-length: 10", "abc"],
      ["content-length: 10", ""],
      [chunked, "3\r\nabc\r\n"],
      [chunked, "ff\r\nabc"],
    ] as const;
    await Promise.all(
      stops.map(async ([framing, sent]) => {
        const client = await RawClient.to(server.port);
        const answered = await client
          .send(...post1("/size", framing))
          .send(sent)
          .answer();
        expect([answered.status, answered.body, header(answered, "connection")]).toEqual([400, unreadable, "close"]);
        await client.closed();
      }),
    );
    expect(new Set(messages("warn"))).toEqual(new Set(["POST /size: unreadable: the body stopped arriving"]));
  });

  it("SV-10 of one byte a second is 400 after 20 s, and closed", async () => {
    holdClock();
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    client.send(...post1("/size", "content-length: 1000"));
    let answered: RawAnswer | undefined;
    void client.answer().then((answer) => (answered = answer));
    let seconds = 0;
    for (; answered === undefined; seconds++) {
      client.send("x");
      await turns(port);
      vi.advanceTimersByTime(1000);
      await turns(port);
    }
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(22);
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([400, unreadable, "close"]);
    await client.closed();
  });

  it("SV-10 at the minimum rate is read, though it takes minutes", async () => {
    holdClock();
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    client.send(...post1("/size", "content-length: 50000"));
    for (let sent = 0; sent < 50_000; sent += 500) {
      client.send("x".repeat(500));
      await turns(port);
      vi.advanceTimersByTime(1000);
    }
    expect((await client.answer()).body).toBe("50000");
  });

  it("that was fast and then stops is 400 after 20 s, however many bytes arrived", async () => {
    holdClock();
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    client.send(...post1("/size", "content-length: 100000"));
    await new Promise((resolve) => client.socket.write("x".repeat(99_999), resolve));
    for (let i = 0; i < 4; i++) await turns(port);
    let answered: RawAnswer | undefined;
    void client.answer().then((answer) => (answered = answer));
    let seconds = 0;
    for (; answered === undefined && seconds < 60; seconds++) {
      vi.advanceTimersByTime(1000);
      await turns(port);
    }
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(22);
    expect([answered?.status, answered?.body]).toEqual([400, unreadable]);
    await client.closed();
  });
});

describe("a body that does not arrive: completely", () => {
  it("BD-27, BD-28 that is cut off is a 400, and the handler never runs", async () => {
    let ran = false;
    const counted = post(Path.of("counted"), { inputs: { body }, returns: Returns.text }, () => ((ran = true), ""));
    for (const [headers, sent] of [
      ["content-length: 10", "abc"],
      [chunked, "3\r\nabc\r\n"],
    ] as const) {
      const client = await clientOf([counted]);
      client.send(...post1("/counted", headers)).send(sent);
      client.socket.end();
      expect((await client.answer()).status).toBe(400);
      await client.closed();
    }
    expect(ran).toBe(false);
  });

  it("BD-25 with invalid framing is a 400, and closed", async () => {
    for (const sent of ["zz\r\n", "3\r\nabcdef\r\n", "3\r\nabc0\r\n", "-1\r\n"]) {
      const client = await clientOf(routes);
      expect(
        (
          await client
            .send(...post1("/size", chunked))
            .send(sent)
            .answer()
        ).status,
      ).toBe(400);
      await client.closed();
    }
  });

  it("BD-25 with invalid framing holds no memory afterwards", async () => {
    const server = await start(routes, { bodyBudget: 10 });
    const client = await RawClient.to(server.port);
    client.send(...post1("/size", chunked)).send("8", "12345678", "zz", "");
    expect((await client.answer()).status).toBe(400);
    const other = await RawClient.to(server.port);
    expect((await other.ask("POST /size", [], "1234567890").answer()).body).toBe("10");
  });

  it("of a client that disconnects in the middle holds no memory, and others are answered", async () => {
    const server = await start(routes, { bodyBudget: 10 });
    const leaver = await RawClient.to(server.port);
    leaver.send(...post1("/size", "content-length: 10")).send("12345678");
    const other = await RawClient.to(server.port);
    // The bytes are held: there is no space for as many.
    await eventually(async () =>
      expect((await (await RawClient.to(server.port)).ask("POST /size", [], "123").answer()).status).toBe(503),
    );
    leaver.leave();
    await eventually(async () =>
      expect((await (await RawClient.to(server.port)).ask("POST /size", [], "1234567890").answer()).body).toBe("10"),
    );
    expect((await other.ask("GET /ok").answer()).body).toBe("ok");
    expect(messages("error")).toEqual([]);
  });
});

describe("bodyBudget over sockets", () => {
  it("SV-15, SV-16 counts the bytes that arrived, not Content-Length, and answers with Retry-After", async () => {
    const holding = gate();
    const letGo = gate();
    const held = post(
      Path.of("held"),
      { inputs: { body }, returns: Returns.text },
      async () => (holding.open(), await letGo.passed, "held"),
    );
    const server = await start([...routes, held], { bodyBudget: 100 });
    const announces = await RawClient.to(server.port);
    announces.send(...post1("/size", "content-length: 90")).send("x".repeat(10));
    const first = await RawClient.to(server.port);
    first.ask("POST /held", [], "x".repeat(80));
    await holding.passed;
    const second = await RawClient.to(server.port);
    const refused = await second.ask("POST /size", [], "x".repeat(80)).answer();
    expect([refused.status, refused.body, header(refused, "retry-after"), header(refused, "connection")]).toEqual([
      503,
      busy,
      "1",
      "close",
    ]);
    await second.closed();
    const third = await RawClient.to(server.port);
    expect((await third.ask("POST /size", [], "x".repeat(10)).answer()).body).toBe("10");
    letGo.open();
    expect((await first.answer()).body).toBe("held");
    expect((await announces.send("x".repeat(80)).answer()).body).toBe("90");
    expect((await third.ask("POST /size", [], "x".repeat(100)).answer()).body).toBe("100");
  });
});
