/** One connection with many requests, byte by byte (facts 4.4, 8.3; rows AN-09, AN-18, AN-19, RT-36, WR). */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { Answer, Codec, Cookie, Path, Returns, body, clientGone, get, param, post, setCookie } from "usher-http";
import { sockets } from "../../support/memory.ts";
import { clientOf, gate, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import { internal, notAllowed, notImplemented } from "../../support/refusals.ts";
import { eventually } from "../../support/eventually.ts";

const name = Path.str("name");
const hello = get(
  Path.of("hello", name),
  { inputs: { name: param(name) }, returns: Returns.text },
  ({ name }) => `hi ${name}`,
);
const later = get(
  Path.of("later", name),
  { inputs: { name: param(name) }, returns: Returns.text },
  async ({ name }) => `later ${name}`,
);
const framed = get(Path.of("framed"), { returns: Returns.response }, () =>
  Answer.make("x", { headers: [["Content-Length", "9"]] }),
);
const empty = get(Path.of("empty"), { returns: Returns.empty() }, () => undefined);
const close = get(Path.of("close"), { returns: Returns.response }, () => Answer.closeConnection(Answer.make("bye")));
const routes = [hello, later, framed, empty, close, post(Path.of("post"), { returns: Returns.text }, () => "posted")];

describe("a kept connection: pipelining", () => {
  it("WR-13 answers one request after the other, without a Connection header", async () => {
    const client = await clientOf(routes);
    for (const who of ["kim", "lee"]) {
      const answered = await client.ask(`GET /hello/${who}`).answer();
      expect([answered.version, answered.status, answered.phrase, answered.body]).toEqual([
        "HTTP/1.1",
        200,
        "OK",
        `hi ${who}`,
      ]);
      expect([header(answered, "connection"), header(answered, "keep-alive")]).toEqual([undefined, undefined]);
    }
  });

  it("WR-01 answers pipelined requests in order, also asynchronous ones, and closes when the client asks for it", async () => {
    const first = gate();
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (await first.passed, "slow"));
    const client = await clientOf([...routes, slow]);
    client
      .ask("GET /slow")
      .ask("GET /hello/a")
      .ask("POST /post")
      .ask("HEAD /hello/b")
      .ask("GET /later/c")
      .ask("GET /hello/d", ["connection: close"]);
    first.open();
    const bodies = [];
    for (const toHead of [false, false, false, true, false, false]) bodies.push((await client.answer({ toHead })).body);
    expect(bodies).toEqual(["slow", "hi a", "posted", "", "later c", "hi d"]);
    expect(await client.rest()).toBe("");
  });

  it.each([
    ["whole", "x".repeat(10 * 65_536)],
    ["that fails", undefined],
  ])("WR-01 a stream, %s, waits for its turn like any answer", async (_how, whole) => {
    const first = gate();
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (await first.passed, "slow"));
    async function* parts() {
      for (let i = 0; i < 10; i++) yield Buffer.alloc(65_536, "x");
      if (whole === undefined) throw new Error("failed");
    }
    const streams = get(Path.of("streams"), { returns: Returns.response }, () => Answer.stream(parts()));
    const { port } = await start([...routes, slow, streams]);
    const client = await RawClient.to(port);
    client.ask("GET /slow").ask("GET /streams");
    await turns(port);
    first.open();
    expect((await client.answer()).body).toBe("slow");
    if (whole !== undefined) {
      expect((await client.answer()).body).toBe(whole);
      expect((await client.ask("GET /hello/kim").answer()).body).toBe("hi kim");
    } else {
      expect(await client.rest()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*x\r\n$/);
    }
  });
});

describe("a kept connection: many requests at once", () => {
  const one = "GET /slow HTTP/1.1\r\nhost: h\r\n\r\n";
  const last = "GET /slow HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
  const upload = "POST /size HTTP/1.1\r\nhost: h\r\ncontent-length: 500000\r\nconnection: close\r\n\r\n";
  /** Sends them, and lets them be answered after the server had the time to read them. */
  async function asks(text: string) {
    const letGo = gate();
    let ran = 0;
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (ran++, await letGo.passed, "slow"));
    const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) =>
      String(body.byteLength),
    );
    const server = await start([...routes, slow, size]);
    const client = await RawClient.to(server.port);
    client.send(text);
    for (let i = 0; i < 50; i++) await turns(server.port);
    return { client, ran: () => ran, letGo: letGo.open };
  }

  it("are handled one at a time, and each is answered", async () => {
    const { client, ran, letGo } = await asks(one.repeat(19_999) + last);
    expect(ran()).toBe(1);
    letGo();
    expect((await client.rest()).match(/slow/g)).toHaveLength(20_000);
  });

  it("are not read while a hundred wait for their handlers", async () => {
    // More than the system holds of what the server does not read.
    const { client, ran } = await asks(one.repeat(600_000));
    expect([ran(), client.socket.writableLength > 0]).toEqual([1, true]);
  });

  it("get clientGone where their client has left, which nothing tells while the connection is not read", async () => {
    const [asked, left] = [gate(), gate()];
    let ran = 0;
    const wait = get(Path.of("wait"), { inputs: { clientGone }, returns: Returns.text }, async ({ clientGone }) => {
      ran++;
      asked.open();
      await once(clientGone, "abort");
      left.open();
      return "unsent";
    });
    const { port } = await start([...routes, wait], { sendTimeoutMs: 500 });
    const client = await RawClient.to(port);
    client.send("GET /wait HTTP/1.1\r\nhost: h\r\n\r\n".repeat(20_000));
    await asked.passed;
    for (let i = 0; i < 20; i++) await turns(port);
    client.leave();
    await left.passed;
    await turns(port);
    expect(ran).toBe(1);
  });

  it("are read with the body of the last", async () => {
    const { client, letGo } = await asks(one.repeat(150) + upload + "x".repeat(500_000));
    letGo();
    expect(await client.rest()).toMatch(/\r\n500000$/);
  });
});

describe("a kept connection: after other answers", () => {
  it("AN-09 stays open after a refused header: a 500 is framed once, and the next request is answered", async () => {
    const client = await clientOf(routes);
    const stopped = await client.ask("GET /framed").answer();
    expect([stopped.status, stopped.body, header(stopped, "content-length")]).toEqual([500, internal, "83"]);
    expect([header(stopped, "transfer-encoding"), header(stopped, "date"), header(stopped, "connection")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect((await client.ask("GET /hello/kim").answer()).body).toBe("hi kim");
  });

  it.each([
    ["RT-36", "PROPFIND /anywhere", 501, notImplemented],
    ["RT-36", "TRACE /hello/kim", 501, notImplemented],
    ["WR-16", "POST /hello/kim", 405, notAllowed],
    ["RT-39", "OPTIONS *", 204, ""],
    ["RT-39", "OPTIONS /hello/kim", 204, ""],
  ])("%s stays open after %s", async (_id, line, status, body) => {
    const client = await clientOf(routes);
    const answered = await client.ask(line).answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, body, undefined]);
    expect((await client.ask("GET /hello/kim").answer()).body).toBe("hi kim");
  });

  it("a 204 has no length and a HEAD has the length of the GET; neither has a body that could be taken for the next answer", async () => {
    const client = await clientOf(routes);
    expect(header(await client.ask("GET /empty").answer(), "content-length")).toBeUndefined();
    expect(header(await client.ask("HEAD /hello/kim").answer({ toHead: true }), "content-length")).toBe("6");
    expect(header(await client.ask("HEAD /nowhere").answer({ toHead: true }), "content-length")).toBe("56");
    expect((await client.ask("GET /hello/kim").answer()).body).toBe("hi kim");
  });

  it("an Upgrade that no route accepts is an ordinary request", async () => {
    const client = await clientOf(routes);
    const upgrade = [
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    expect((await client.ask("GET /hello/kim", upgrade).answer()).status).toBe(200);
  });

  it("an Upgrade that no route accepts, after a pending answer, is one request", async () => {
    const [asked, letGo] = [gate(), gate()];
    const seen: string[] = [];
    const inputs = { name: param(name) };
    const named = get(Path.of("named", name), { inputs, returns: Returns.text }, async ({ name }) => {
      seen.push(name);
      if (name === "first") {
        asked.open();
        await letGo.passed;
      }
      return name;
    });
    // A server without a route that takes connections over gets none from Node.
    const client = await clientOf([named, framed]);
    client.ask("GET /named/first").ask("GET /named/upgrades", ["connection: upgrade", "upgrade: h2c"]);
    await asked.passed;
    await turns(client.socket.remotePort as number);
    letGo.open();
    for (const name of ["first", "upgrades"]) expect((await client.answer()).body).toBe(name);
    for (const name of ["third", "fourth"]) expect((await client.ask(`GET /named/${name}`).answer()).body).toBe(name);
    expect(seen).toEqual(["first", "upgrades", "third", "fourth"]);
  });
});

describe("the head of a response", () => {
  it("AN-18 has its header names in lower case and in a fixed order", async () => {
    const both = get(Path.of("both"), { inputs: { setCookie }, returns: Returns.response }, ({ setCookie }) => {
      setCookie(Cookie.make(Cookie.named("a", Codec.int), 1));
      setCookie(Cookie.make(Cookie.named("b", Codec.int), 2));
      return Answer.make("x", {
        headers: [
          ["X-Mine", "1"],
          ["X-Mine", "2"],
        ],
      });
    });
    const client = await clientOf([both]);
    const { head } = await client.ask("GET /both", ["connection: close"]).answer();
    expect(head.map(([name]) => name)).toEqual([
      "content-type",
      "x-mine",
      "x-mine",
      "x-request-id",
      "set-cookie",
      "set-cookie",
      "date",
      "content-length",
      "connection",
    ]);
    expect(head.filter(([name]) => name === "x-mine").map(([, value]) => value)).toEqual(["1", "2"]);
  });

  it.each([
    [413, "Content Too Large"],
    [422, "Unprocessable Content"],
    [404, "Not Found"],
    [299, ""],
    [503, "Service Unavailable"],
  ])("has the reason phrase of RFC 9110: %i %s", async (status, phrase) => {
    const client = await clientOf([get(Path.root, { returns: Returns.response }, () => Answer.make("", { status }))]);
    expect(await client.ask("GET /").answer()).toMatchObject({ status, phrase });
  });

  it("CK-06 a request without Host is treated as secure", async () => {
    const sets = get(
      Path.root,
      { inputs: { setCookie }, returns: Returns.text },
      ({ setCookie }) => (setCookie(Cookie.make(Cookie.named("k", Codec.int), 1)), ""),
    );
    const client = await clientOf([sets]);
    const answered = await client.send("GET / HTTP/1.0", "", "").answer();
    expect(header(answered, "set-cookie")).toBe("k=1; Path=/; HttpOnly; Secure; SameSite=Lax");
  });
});

describe("a connection that is closed", () => {
  it("AN-19 after an answer that closes has one Connection: close", async () => {
    const client = await clientOf(routes);
    const answered = await client.ask("GET /close").ask("GET /hello/kim").answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["bye", "close"]);
    expect(await client.rest()).toBe("");
  });

  it("WR-06 by HTTP/1.0 is closed after its answer", async () => {
    const client = await clientOf(routes);
    const answered = await client.send("GET /hello/kim HTTP/1.0", "", "").answer();
    expect([answered.version, answered.body, header(answered, "connection")]).toEqual(["HTTP/1.1", "hi kim", "close"]);
    expect(await client.rest()).toBe("");
  });

  it("WR-06 by HTTP/1.0 is kept if the client asks for it, and the answer has Connection: keep-alive", async () => {
    const client = await clientOf(routes);
    const answered = await client.send("GET /hello/kim HTTP/1.0", "connection: keep-alive", "", "").answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["hi kim", "keep-alive"]);
    expect((await client.send("GET /hello/lee HTTP/1.0", "", "").answer()).body).toBe("hi lee");
    expect(await client.rest()).toBe("");
  });

  it.each([
    ["it asks for the other, too", ["connection: keep-alive, close"], ""],
    ["in two lines", ["connection: keep-alive", "connection: Close"], ""],
    ["its body is in chunks", ["connection: keep-alive", "transfer-encoding: chunked"], "1\r\nx\r\n0\r\n\r\n"],
  ])("WR-06 by HTTP/1.0 with keep-alive is closed when %s", async (_why, headers, body) => {
    const client = await clientOf(routes);
    const answered = await client.send("POST /post HTTP/1.0", ...headers, "", body).answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["posted", "close"]);
    expect(await client.rest()).toBe("");
  });

  it("by its client leaves nothing: the server has no connection any more", async () => {
    await eventually(() => expect(sockets()).toBe(0));
    const server = await start([
      ...routes,
      get(Path.of("never"), { returns: Returns.text }, () => new Promise<string>(() => {})),
    ]);
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.to(server.port)));
    for (const [i, client] of clients.entries()) {
      if (i % 4 === 0) client.ask("GET /never");
      else if (i % 4 === 1) await client.ask("GET /hello/kim").answer();
      else if (i % 4 === 2) client.send("POST /post HTTP/1.1", "content-le");
    }
    expect(sockets()).toBeGreaterThanOrEqual(20);
    for (const client of clients) client.leave();
    await eventually(() => expect(sockets()).toBe(0));
  });
});

describe("requests of different clients", () => {
  it("a handler that never answers blocks no other client or connection", async () => {
    const never = get(Path.of("never"), { returns: Returns.text }, () => new Promise<string>(() => {}));
    const server = await start([...routes, never]);
    const stuck = await RawClient.to(server.port);
    stuck.ask("GET /never");
    const other = await RawClient.to(server.port);
    for (let i = 0; i < 3; i++) expect((await other.ask("GET /later/kim").answer()).body).toBe("later kim");
  });

  it("an invalid request after a pending one does not overtake its answer", async () => {
    const asked = gate();
    const waits = gate();
    const slow = get(
      Path.of("slow"),
      { returns: Returns.text },
      async () => (asked.open(), await waits.passed, "slow"),
    );
    const { port } = await start([...routes, slow]);
    const client = await RawClient.to(port);
    client.ask("GET /slow");
    await asked.passed;
    client.send("no request", "", "");
    await turns(port);
    waits.open();
    expect(await client.rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)+\r\nslow(?:HTTP\/1\.1 400 |$)/);
  });

  it("an invalid request after a stream is not part of it", async () => {
    const waits = gate();
    async function* parts() {
      yield Buffer.from("one");
      await waits.passed;
      yield Buffer.from("two");
    }
    const { port } = await start([
      ...routes,
      get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts())),
    ]);
    const client = await RawClient.to(port);
    client.ask("GET /stream");
    await client.sees("one");
    client.send("no request", "", "");
    await turns(port);
    waits.open();
    expect(await client.rest()).toMatch(/\r\n\r\n3\r\none\r\n(?:3\r\ntwo\r\n0\r\n\r\n|$)/);
  });

  it("CONNECT is answered and closed, though the client keeps its side open; and it does not delay a stop", async () => {
    const server = await start(routes);
    const client = await RawClient.to(server.port);
    const answered = await client.send("CONNECT h:443 HTTP/1.1", "host: h:443", "", "").answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([501, notImplemented, "close"]);
    await client.closed();
    expect(await server.stop()).toBe(0);
  });
});
