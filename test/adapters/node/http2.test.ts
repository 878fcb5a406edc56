/** HTTP/2 on Node: negotiation, requests, and how a server stops. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, body, bodyStream, clientGone, get, json, post, request } from "usher-http";
import * as v from "valibot";
import { makeCertificate } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { secureAsk } from "../../support/secure-client.ts";

const { cert, key } = makeCertificate({ name: "localhost", hosts: ["localhost", "127.0.0.1"] });
const tls = { cert, key };

const inText = { returns: Returns.text };
const hello = get(Path.of("hello"), { inputs: { request }, returns: Returns.text }, ({ request }) => {
  return `${request.method} ${request.target} of ${request.host}, secure ${request.secure}, cookie ${request.cookie("b")}`;
});
const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.length} bytes`);
const Thing = v.object({ name: v.string() });
const thing = post(Path.of("thing"), { inputs: { thing: json(Thing) }, ...inText }, ({ thing }) => thing.name);
const parts = post(
  Path.of("parts"),
  { inputs: { bodyStream: bodyStream({ max: 1_000_000 }) }, ...inText },
  async ({ bodyStream }) => {
    let bytes = 0;
    for await (const part of bodyStream) bytes += part.byteLength;
    return `${bytes} bytes`;
  },
);
const large = get(Path.of("large"), inText, () => "x".repeat(1_000_000));
const unread = post(Path.of("unread"), inText, () => "not read");
const routes = [hello, size, thing, parts, large, unread];

describe("http2: negotiation", () => {
  it("is by TLS, unless the client supports HTTP/1.1 only", async () => {
    const { url, port } = await start(routes, { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    expect(session.alpnProtocol).toBe("h2");
    const answer = await http2Ask(session, { ":path": "/hello", cookie: ["a=1", "b=2"] });
    expect(answer.body).toBe(`GET /hello of 127.0.0.1:${port}, secure true, cookie 2`);
    expect((await secureAsk(port, "/hello", { ca: cert })).status).toBe(200);
  });

  it("is not by TLS when the option excludes it", async () => {
    const { url, port } = await start(routes, { tls, http2: false });
    await expect(http2Client(url, { ca: cert })).rejects.toThrow(/closed|ALPN|alert/);
    expect((await secureAsk(port, "/hello", { ca: cert })).status).toBe(200);
  });

  it("is without TLS when the option allows it and the client begins with it, as a proxy does", async () => {
    const { url, port } = await start(routes, { http2: true });
    const answer = await http2Ask(await http2Client(url), { ":path": "/hello" });
    expect(answer.body).toBe(`GET /hello of 127.0.0.1:${port}, secure false, cookie undefined`);
    const http1 = await RawClient.to(port);
    for (let i = 0; i < 2; i++) expect((await http1.ask("GET /hello").answer()).status).toBe(200);
  });

  it("is not without TLS unless the option allows it", async () => {
    const { url } = await start(routes);
    const session = await http2Client(url);
    await expect(http2Ask(session, { ":path": "/hello" })).rejects.toThrow(/Protocol error|reset|response/);
  });

  it("reports a wrong option", async () => {
    await expect(start(routes, { http2: "yes" as never })).rejects.toThrow("serve: http2 is a string, and not true or");
  });
});

it("http2: cookies that a client splits are one header, as in HTTP/1.1", async () => {
  const listed = get(Path.of("listed"), { inputs: { request }, ...inText }, ({ request }) => {
    return `${Object.fromEntries(request.headers)["cookie"]}, ${request.header("cookie")}`;
  });
  const session = await http2Client((await start([listed], { http2: true })).url);
  const answer = await http2Ask(session, { ":path": "/listed", cookie: ["a=1", "b=2"] });
  expect(answer.body).toBe("a=1; b=2, a=1; b=2");
});

describe("http2: bodies", () => {
  it.each([
    ["POST", "/size", "x".repeat(300_000), "300000 bytes"],
    ["POST", "/parts", "x".repeat(300_000), "300000 bytes"],
    ["POST", "/thing", '{"name":"a"}', "a"],
    ["POST", "/size", "", "0 bytes"],
    ["POST", "/unread", "x".repeat(300_000), "not read"],
  ])("%s %s", async (method, path, body, expected) => {
    const { url } = await start(routes, { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    const ask = { ":method": method, ":path": path, "content-type": "application/json" };
    for (let i = 0; i < 2; i++) expect((await http2Ask(session, ask, body)).body).toBe(expected);
  });

  it("that are too long are refused, and the connection stays open", async () => {
    const { url } = await start(routes, { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    const ask = { ":method": "POST", ":path": "/size" };
    expect((await http2Ask(session, { ...ask, "content-length": 10_000_000 }, "x".repeat(100_000))).status).toBe(413);
    expect((await http2Ask(session, { ":path": "/hello" })).status).toBe(200);
  });

  it("of responses are sent whole, many at once", async () => {
    const { url } = await start(routes, { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    const answers = await Promise.all(Array.from({ length: 20 }, () => http2Ask(session, { ":path": "/large" })));
    expect(answers.map(({ body }) => body.length)).toEqual(Array.from({ length: 20 }, () => 1_000_000));
  });

  it("that stop arriving are 400 after bodyTimeoutMs", async () => {
    const { url } = await start(routes, { tls, http2: true, bodyTimeoutMs: 50 });
    const session = await http2Client(url, { ca: cert });
    const stream = session.request({ ":method": "POST", ":path": "/size" });
    stream.write("a part");
    const [headers] = (await once(stream, "response")) as [{ readonly ":status": number }];
    expect(headers[":status"]).toBe(400);
  });
});

describe("http2: heads that are refused", () => {
  it.each([
    [{ ":authority": "a@b", ":path": "/hello" }, 400],
    [{ ":authority": "a", host: "b", ":path": "/hello" }, 400],
    [{ ":authority": "a:443", host: "a:80", ":path": "/hello" }, 400],
    [{ ":authority": "a:80", host: "a", ":path": "/hello" }, 400],
    [{ ":method": "CONNECT", ":authority": "a" }, 400],
    [{ ":method": "CONNECT", ":authority": "a:1" }, 501],
    [{ ":method": "OPTIONS", ":path": "*" }, 204],
    [{ ":method": "FOO", ":path": "/hello" }, 501],
    [{ ":path": "/none" }, 404],
    [{ ":path": "/caf\u00e9" }, 400],
    [{ ":path": "/caf\u00e9/" }, 400],
    [{ ":path": "/hello?\u00e9" }, 400],
  ])("%o: %i", async (head, status) => {
    const { url } = await start(routes, { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    expect((await http2Ask(session, head)).status).toBe(status);
    expect((await http2Ask(session, { ":path": "/hello" })).status).toBe(200);
  });
});

describe("http2: an authority and a Host that are the same one (RFC 9113 §8.3.1)", () => {
  it.each([
    ["a", "a"],
    ["SHOP.example", "shop.example"],
    ["shop.example", "Shop.example:443"],
    ["shop.example:443", "shop.example"],
    ["[::1]:", "[::1]"],
    ["shop.example:8443", "SHOP.example:8443"],
  ])("%s, %s: answered", async (authority, host) => {
    const { url } = await start(routes, { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    expect((await http2Ask(session, { ":authority": authority, host, ":path": "/hello" })).status).toBe(200);
  });
});

describe("http2: streams", () => {
  it("are cut off with an error when their producer throws, and the connection stays open", async () => {
    async function* raising(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode("some");
      throw new Error("a secret");
    }
    const failing = get(Path.of("fails"), { returns: Returns.response }, () => Answer.stream(raising()));
    const { url } = await start([...routes, failing], { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    await expect(http2Ask(session, { ":path": "/fails" })).rejects.toThrow(/INTERNAL_ERROR|reset with 2/);
    expect((await http2Ask(session, { ":path": "/hello" })).status).toBe(200);
  });

  it("end their producer when the client resets them, or its connection ends", async () => {
    let open = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      open++;
      try {
        for (;;) {
          yield new Uint8Array(1000);
          await new Promise<void>((resolve) => {
            setTimeout(resolve, 5);
          });
        }
      } finally {
        open--;
      }
    }
    const route = get(Path.of("endless"), { returns: Returns.response }, () => Answer.stream(endless()));
    const { url } = await start([route], { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    const first = session.request({ ":path": "/endless" }).on("error", () => {});
    const second = session.request({ ":path": "/endless" }).on("error", () => {});
    await Promise.all([once(first, "response"), once(second, "response")]);
    await eventually(() => expect(open).toBe(2));
    first.close(8);
    await eventually(() => expect(open).toBe(1));
    session.destroy();
    await eventually(() => expect(open).toBe(0));
  });

  it("abort clientGone when the client resets a stream that is not answered yet", async () => {
    const reached = gate();
    const gone = gate();
    const route = get(Path.of("waits"), { inputs: { clientGone }, ...inText }, async ({ clientGone }) => {
      reached.open();
      clientGone.addEventListener("abort", () => gone.open());
      await gone.passed;
      return "late";
    });
    const { url } = await start([route], { tls, http2: true });
    const session = await http2Client(url, { ca: cert });
    const stream = session.request({ ":path": "/waits" }).on("error", () => {});
    await reached.passed;
    stream.close(8);
    await expect(gone.passed).resolves.toBeUndefined();
  });
});

describe("http2: a server that stops", () => {
  it("sends the pending answers, accepts no new stream, and ends", async () => {
    const reached = gate();
    const held = gate();
    const route = get(Path.of("held"), inText, async () => {
      reached.open();
      await held.passed;
      return "held";
    });
    const server = await start([route, hello], { tls, http2: true, drainMs: 60_000 });
    const idle = await http2Client(server.url, { ca: cert });
    const session = await http2Client(server.url, { ca: cert });
    const answer = http2Ask(session, { ":path": "/held" });
    await reached.passed;
    const goaway = once(session, "goaway");
    const stopped = server.stop();
    await goaway;
    await once(idle, "close");
    held.open();
    expect((await answer).body).toBe("held");
    expect(await stopped).toBe(0);
  });

  it("cuts off the rest after drainMs, and counts it", async () => {
    const reached = gate();
    const route = get(Path.of("held"), inText, () => {
      reached.open();
      return new Promise<string>(() => {});
    });
    const server = await start([route, hello], { tls, http2: true, drainMs: 20 });
    const session = await http2Client(server.url, { ca: cert });
    // Streams that were answered before are not counted.
    for (let i = 0; i < 3; i++) expect((await http2Ask(session, { ":path": "/hello" })).status).toBe(200);
    const answer = http2Ask(session, { ":path": "/held" });
    const failure = answer.catch((error: unknown) => String(error));
    await reached.passed;
    expect(await server.stop()).toBe(1);
    expect(await failure).toMatch(/response|reset|closed/i);
    expect(messages("warn")).toContain("stopped with 1 request unanswered after 0.02s");
  });
});
