/** Bodies that the handler does not read, and bodies that a client sends after 100 Continue (facts 8.2, 8.3; rows AT-21, WR). */
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { Answer, Path, Returns, body, clientGone, get, json, post } from "usher-http";
import type { Awaitable, Route } from "usher-http";
import { clientOf, gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import { notAllowed, notFound } from "../../support/refusals.ts";

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const item = post(
  Path.of("item"),
  { inputs: { item: json(v.object({ name: v.string() })) }, returns: Returns.text },
  ({ item }) => item.name,
);
const ignores = (path: string, handler: () => Awaitable<string>): Route =>
  post(Path.of(path), { returns: Returns.text }, handler);
const routes = [
  size,
  item,
  ignores("now", () => "now"),
  ignores("later", async () => "later"),
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
];
const chunked = "transfer-encoding: chunked";
const post1 = (path: string, ...headers: readonly string[]) => [`POST ${path} HTTP/1.1`, "host: h", ...headers, "", ""];

/** The largest number of bytes of a body that are dropped. */
const most = 65_536;
const byLength = (bytes: string) => ({ framing: `content-length: ${bytes.length}`, wire: bytes });
const inChunks = (bytes: string, most = 8192) => {
  const chunks = [];
  for (let at = 0; at < bytes.length; at += most) {
    const chunk = bytes.slice(at, at + most);
    chunks.push(chunk.length.toString(16), chunk);
  }
  return { framing: chunked, wire: [...chunks, "0", "", ""].join("\r\n") };
};
/** A request followed by its body. */
const posted = (path: string, { framing, wire }: { readonly framing: string; readonly wire: string }) =>
  [...post1(path, framing).slice(0, -1), wire].join("\r\n");

const smuggled = "GET /ok HTTP/1.1\r\nhost: h\r\n\r\n";

describe("a body that the handler does not read: short", () => {
  it.each([
    ["/now", 200, "now"],
    ["/later", 200, "later"],
    ["/nowhere", 404, notFound],
    ["/ok", 405, notAllowed],
  ])("WR-03 of %s is never read as a request, and the connection stays open", async (path, status, body) => {
    for (const sent of [
      byLength(smuggled),
      inChunks(smuggled),
      byLength(smuggled.repeat(1500)),
      inChunks(smuggled.repeat(1500)),
      byLength("x".repeat(most)),
      inChunks("x".repeat(most)),
    ]) {
      const client = await clientOf(routes);
      // A pipelined request is answered after it.
      client.send(posted(path, sent)).ask("POST /size", [], "four").ask("GET /ok", ["connection: close"]);
      const answered = await client.answer();
      expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, body, undefined]);
      expect((await client.answer()).body).toBe("4");
      expect((await client.answer()).body).toBe("ok");
      expect(await client.rest()).toBe("");
    }
  });

  it("is dropped while it arrives, after the answer, if it has Content-Length", async () => {
    const client = await clientOf(routes);
    const answered = await client.send(...post1("/now", `content-length: ${most}`)).answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["now", undefined]);
    for (let left = most; left > 0; left -= 8192) client.send("x".repeat(8192));
    expect((await client.ask("POST /size", [], "four").answer()).body).toBe("4");
  });

  it.each(["close", "halfClose"] as const)(
    "does not hide a disconnect of its client while its answer is made: %s",
    async (how) => {
      const asked = gate();
      const gone = gate();
      const waits = post(
        Path.of("waits"),
        { inputs: { clientGone }, returns: Returns.text },
        async ({ clientGone }) => {
          clientGone.addEventListener("abort", () => gone.open());
          asked.open();
          return gone.passed.then(() => "");
        },
      );
      const client = await clientOf([waits]);
      client.send(posted("/waits", byLength("x".repeat(most))));
      await asked.passed;
      client[how]();
      expect(await gone.passed).toBeUndefined();
    },
  );

  it("is dropped before the answer if it is chunked, for which a client has a second", async () => {
    holdClock();
    const { port } = await start(routes);
    const ends = await RawClient.to(port);
    const stops = await RawClient.to(port);
    for (const client of [ends, stops]) client.send(...post1("/now", chunked)).send("1", "x", "");
    await turns(port);
    ends.send("0", "", "");
    const kept = await ends.answer();
    expect([kept.body, header(kept, "connection")]).toEqual(["now", undefined]);
    vi.advanceTimersByTime(2000);
    const closed = await stops.answer();
    expect([closed.body, header(closed, "connection")]).toEqual(["now", "close"]);
    await stops.closed();
    expect((await ends.ask("GET /ok").answer()).body).toBe("ok");
  });
});

describe("a body that the handler does not read: late", () => {
  it("SV-10 whose rest does not arrive: answered at once, and closed when its time is over", async () => {
    holdClock();
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    expect((await client.send(...post1("/now", "content-length: 10")).answer()).body).toBe("now");
    client.send("x");
    await turns(port);
    vi.advanceTimersByTime(19_000);
    client.send("x");
    await turns(port);
    vi.advanceTimersByTime(3000);
    expect(await client.rest()).toBe("");
  });

  it("SV-10 whose client disconnects: the connection ends after its answer", async () => {
    for (const path of ["/now", "/later"]) {
      const client = await clientOf(routes);
      client.send(...post1(path, "content-length: 10")).send("x");
      client.socket.end();
      expect((await client.answer()).status).toBe(200);
      expect(await client.rest()).toBe("");
    }
  });

  it.each(["/now", "/later", "/nowhere"])(
    "WR-04 above 64 KiB is not read: %s is answered, and closed",
    async (path) => {
      // If the handler was asynchronous, Node itself may have read some of the body.
      const past = path === "/later" ? most * 4 : most + 1;
      for (const bytes of [past, 64 * most]) {
        for (const sent of [
          byLength("x".repeat(bytes)),
          inChunks("x".repeat(bytes)),
          inChunks("x".repeat(bytes), bytes),
        ]) {
          const client = await clientOf(routes);
          const answered = await client.send(posted(path, sent)).answer();
          expect([answered.status < 500, header(answered, "connection")]).toEqual([true, "close"]);
          await client.closed();
        }
      }
    },
  );
});

describe("a body that the handler does not read: long", () => {
  it("WR-04 with a Content-Length above 64 KiB is answered before its bytes arrive, and they are dropped", async () => {
    const { port } = await start(routes);
    const client = await RawClient.to(port);
    const answered = await client.send(...post1("/now", `content-length: ${most * 2}`)).answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["now", "close"]);
    expect(await client.rest()).toBe("");
    const reset = vi.fn();
    client.socket.on("error", reset);
    client.send("x".repeat(most / 2));
    await turns(port);
    client.socket.end("x".repeat(most / 2));
    await new Promise((resolve) => client.socket.once("close", resolve));
    expect(reset).not.toHaveBeenCalled();
  });

  it("with invalid chunks: answered, and closed", async () => {
    for (const path of ["/now", "/later", "/nowhere"]) {
      for (const wire of ["zz\r\n", `1\r\nx\r\nzz\r\n${smuggled}`]) {
        const client = await clientOf(routes);
        const answered = await client.send(posted(path, { framing: chunked, wire })).answer();
        expect([answered.status < 500, header(answered, "connection")]).toEqual([true, "close"]);
        expect(await client.rest()).toBe("");
      }
    }
  });

  it("with a stream as the answer: the stream begins when the body was dropped", async () => {
    const { port } = await start([
      ...routes,
      post(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts())),
    ]);
    async function* parts() {
      yield Buffer.from("one");
      yield Buffer.from("two");
    }
    for (const sent of [byLength("x".repeat(most)), inChunks("x".repeat(most)), byLength(""), inChunks("")]) {
      const client = await RawClient.to(port);
      const answered = await client.send(posted("/stream", sent)).answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["onetwo", undefined]);
      expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    }
    for (const sent of [byLength("x".repeat(32 * most)), inChunks("x".repeat(32 * most))]) {
      const client = await RawClient.to(port);
      const answered = await client.send(posted("/stream", sent)).answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["onetwo", "close"]);
      await client.closed();
    }
  });

  it("does not delay a stop: the answer that waits for it has Connection: close", async () => {
    const server = await start(routes, { drainMs: 600_000 });
    const client = await RawClient.to(server.port);
    client.send(...post1("/now", chunked)).send("1", "x", "");
    await turns(server.port);
    const stopped = server.stop();
    const answered = await client.send("0", "", "").answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["now", "close"]);
    expect(await stopped).toBe(0);
  });

  it("is one request of a stop that cuts off the answer behind it", async () => {
    const server = await start([ignores("big", () => "x".repeat(64 * 1024 * 1024))], { drainMs: 50 });
    const client = await RawClient.to(server.port);
    client.send(...post1("/big", chunked)).send("1", "x", "");
    await turns(server.port);
    client.send("0", "", "");
    await client.sees("\r\n\r\n");
    client.socket.pause();
    expect(await server.stop()).toBe(1);
  });
});

describe("bytes after an answer that closes", () => {
  it("are not a request: no handler runs for them", async () => {
    const ran = vi.fn();
    const counts = post(Path.of("counts"), { returns: Returns.text }, () => (ran(), "ran"));
    const closes = get(Path.of("close"), { returns: Returns.response }, () =>
      Answer.closeConnection(Answer.make("bye")),
    );
    const asks = post1("/counts").join("\r\n");
    for (const first of [
      "GET /close HTTP/1.1\r\nhost: h\r\n\r\n",
      "GET /ok HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
      "GET /ok HTTP/1.0\r\n\r\n",
      posted("/now", byLength("x".repeat(most * 2))),
      // AT-21
      `POST /now HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\nfour`,
    ]) {
      const client = await clientOf([...routes, counts, closes]);
      client.send(first + asks + asks);
      expect(header(await client.answer(), "connection")).toBe("close");
      expect(await client.rest()).toBe("");
    }
    expect(ran).not.toHaveBeenCalled();
  });
});

describe("Expect: 100-continue", () => {
  const expects = (path: string, length: number) => post1(path, "expect: 100-continue", `content-length: ${length}`);

  it("WR-07 gets 100 Continue if the body is read", async () => {
    const client = await clientOf(routes);
    expect(await client.send(...expects("/size", 4)).answer()).toMatchObject({ status: 100, head: [] });
    expect((await client.send("four").answer()).body).toBe("4");
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("WR-07 is answered and closed, without 100 Continue, if the body is not read", async () => {
    const unread = [
      ["/now", {}, 200],
      ["/nowhere", {}, 404],
      ["/size", { maxBody: 3 }, 413],
      // SV-15
      ["/size", { bodyBudget: 3 }, 503],
    ] as const;
    await Promise.all(
      unread.map(async ([path, options, status]) => {
        const client = await clientOf(routes, options);
        const answered = await client.send(...expects(path, 4)).answer();
        expect([answered.status, header(answered, "connection")]).toEqual([status, "close"]);
        await client.closed();
      }),
    );
  });

  it("WR-07 gets no 100 Continue if the content type is refused before", async () => {
    const client = await clientOf(routes);
    const answered = await client
      .send(...post1("/item", "expect: 100-continue", "content-length: 4", "content-type: text/plain"))
      .answer();
    expect([answered.status, header(answered, "connection")]).toEqual([415, "close"]);
  });
});

describe("Expect: 100-continue: its spelling", () => {
  it.each([
    ["GET", 200, "ok"],
    ["DELETE", 405, notAllowed],
  ])("WR-09 without a body is answered, and kept: %s", async (method, status, body) => {
    const client = await clientOf(routes);
    const answered = await client.ask(`${method} /ok`, ["expect: 100-continue"]).answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, body, undefined]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  const expectations: readonly (readonly [lines: readonly string[], isTold: boolean])[] = [
    [["expect: 100-CONTINUE"], true],
    [["expect: y, 100-continue"], true],
    [["expect: , 100-continue,"], true],
    [["expect: y", "expect: 100-continue"], true],
    [["expect: y 100-continue"], false],
    [["expect: 100-continue y"], false],
    [["expect: x-100-continue"], false],
    [['expect: "100-continue"'], false],
    [["expect: y=100-continue"], false],
    [["expect: 100-continue;q=1"], false],
    // Not white space of HTTP, so it is part of the list's item (RFC 9110 §5.6.3).
    [["expect: \xa0100-continue"], false],
    [["expect: 100-continue\xa0"], false],
    [["expect: \t100-continue\t"], true],
    [["expect: y"], false],
    [["expect:"], false],
  ];
  it.each(expectations)("is found in a list, whose other items are ignored: %j", async (lines, isTold) => {
    const client = await clientOf(routes);
    client.send(...post1("/size", ...lines, "content-length: 4"));
    if (isTold) expect((await client.answer()).status).toBe(100);
    const answered = await client.send("four").answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([200, "4", undefined]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("WR-10 is ignored on HTTP/1.0", async () => {
    const client = await clientOf(routes);
    const answered = await client
      .send("POST /size HTTP/1.0", "expect: 100-continue", "content-length: 4", "", "four")
      .answer();
    expect([answered.status, answered.body]).toEqual([200, "4"]);
  });
});
