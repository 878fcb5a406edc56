/** `103 Early Hints` (RFC 8297) as Node's listener sends it, over HTTP/1.1 and HTTP/2. What the input takes: test/inputs/early-hints.test.ts. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { App, Deadline, Event, Path, Returns, after, body, clientGone, earlyHints, get, post } from "usher-http";
import type { Middleware } from "usher-http";
import { listener } from "usher-http/node";
import { makeCertificate } from "../../support/certificates.ts";
import { endsWithTest } from "../../support/ends.ts";
import { eventually } from "../../support/eventually.ts";
import { beginning, frame, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { clientOf, gate, start } from "../../support/node-server.ts";
import { RawClient, turns } from "../../support/raw-client.ts";
import { secureSocket } from "../../support/secure-client.ts";

const style = '</style.css>; rel=preload; as=style; media="(min-width: 600px)"';
const script = "</app.js>; rel=modulepreload";
const inputs = { earlyHints };
const inText = { inputs, returns: Returns.text };

const early = (...links: readonly string[]): string =>
  `HTTP/1.1 103 Early Hints\r\n${links.map((link) => `link: ${link}\r\n`).join("")}\r\n`;

const page = get(Path.of("page"), inText, ({ earlyHints }) => {
  earlyHints([style, script]);
  return "page";
});
const twice = get(Path.of("twice"), inText, async ({ earlyHints }) => {
  earlyHints([style]);
  earlyHints([]);
  earlyHints([script]);
  return "page";
});
const none = get(Path.of("none"), inText, ({ earlyHints }) => {
  earlyHints([]);
  return "page";
});

/** Reads a 103 with these links, byte for byte. */
async function hints(client: RawClient, ...links: readonly string[]): Promise<void> {
  const head = early(...links);
  expect(await client.bytes(head.length)).toBe(head);
}

describe("early hints over HTTP/1.1", () => {
  it("are a head of its own before the answer, on a connection that stays open", async () => {
    const client = await clientOf([page, twice, none]);
    for (let i = 0; i < 2; i++) {
      client.ask("GET /page");
      await hints(client, style, script);
      expect(await client.answer()).toMatchObject({ status: 200, body: "page" });
      client.ask("GET /twice");
      await hints(client, style);
      await hints(client, script);
      expect(await client.answer()).toMatchObject({ status: 200, body: "page" });
      expect(await client.ask("GET /none").answer()).toMatchObject({ status: 200, body: "page" });
    }
  });

  it("leave the answer as it is without them", async () => {
    const plain = get(Path.of("page"), { returns: Returns.text }, () => "page");
    const [with_, without] = [await clientOf([page]), await clientOf([plain])];
    with_.ask("GET /page");
    await hints(with_, style, script);
    const names = ({ head }: Awaited<ReturnType<RawClient["answer"]>>) => head.map(([name]) => name);
    expect(names(await with_.answer())).toEqual(names(await without.ask("GET /page").answer()));
  });

  it("are there before the handler has answered", async () => {
    const seen = gate();
    const slow = get(Path.of("slow"), inText, async ({ earlyHints }) => {
      earlyHints([style]);
      await seen.passed;
      return "slow";
    });
    const client = await clientOf([slow]);
    client.ask("GET /slow");
    await hints(client, style);
    seen.open();
    expect((await client.answer()).body).toBe("slow");
  });

  it("are sent for HEAD, for a body, for a refusal, for an event stream, and where the connection ends", async () => {
    const feed = get(Path.of("feed"), { inputs, returns: Returns.events([]) }, ({ earlyHints }) => {
      earlyHints([style]);
      return async (send) => void (await send(Event.comment("x")));
    });
    const fails = get(Path.of("fails"), inText, ({ earlyHints }) => {
      earlyHints([style]);
      throw new Error("It fails.");
    });
    const size = post(Path.of("size"), { inputs: { ...inputs, body }, returns: Returns.text }, (given) => {
      given.earlyHints([style]);
      return String(given.body.byteLength);
    });
    const client = await clientOf([page, feed, fails, size]);
    client.ask("HEAD /page");
    await hints(client, style, script);
    expect(await client.answer({ toHead: true })).toMatchObject({ status: 200 });
    client.ask("POST /size", [], "four");
    await hints(client, style);
    expect((await client.answer()).body).toBe("4");
    client.ask("GET /feed");
    await hints(client, style);
    expect((await client.answer()).body).toContain(": x");
    client.ask("GET /fails");
    await hints(client, style);
    expect((await client.answer()).status).toBe(500);
    client.ask("GET /page", ["connection: close"]);
    await hints(client, style, script);
    expect((await client.answer()).body).toBe("page");
    expect(await client.rest()).toBe("");
  });

  it.each(["GET /page HTTP/1.0", "GET /twice HTTP/1.0"])("are not sent to a client of HTTP/1.0: %s", async (line) => {
    const client = await clientOf([page, twice]);
    expect(await client.send(line, "", "").answer()).toMatchObject({ status: 200, body: "page" });
    expect(await client.rest()).toBe("");
    expect(messages("warn")).toEqual([]);
  });

  it("are sent in front of their own answer where requests are pipelined, or not at all", async () => {
    const letGo = gate();
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (await letGo.passed, "slow"));
    const { port } = await start([slow, page, twice]);
    const client = await RawClient.to(port);
    client.ask("GET /slow").ask("GET /page").ask("GET /twice").ask("GET /page", ["connection: close"]);
    await turns(port);
    letGo.open();
    const heads: string[] = [];
    for (let answers = 0; answers < 4;) {
      const { status, body } = await client.answer();
      heads.push(status === 103 ? "hint" : body);
      if (status === 200) answers++;
    }
    expect(await client.rest()).toBe("");
    expect(heads.filter((head) => head !== "hint")).toEqual(["slow", "page", "page", "page"]);
    expect(heads[0]).toBe("slow");
  });

  it("are not sent after the answer: by a task, a producer, or a function that is kept", async () => {
    const done = gate();
    let kept = (_links: readonly string[]): void => {};
    const late = get(Path.of("late"), { inputs: { ...inputs, after }, returns: Returns.text }, (given) => {
      kept = given.earlyHints;
      given.after(() => {
        given.earlyHints([style]);
        done.open();
      });
      return "late";
    });
    const feed = get(Path.of("feed"), { inputs, returns: Returns.events([]) }, ({ earlyHints }) => async (send) => {
      earlyHints([style]);
      await send(Event.comment("x"));
    });
    const client = await clientOf([late, feed]);
    expect(await client.ask("GET /late").answer()).toMatchObject({ status: 200, body: "late" });
    await done.passed;
    kept([style]);
    expect(await client.ask("GET /feed").answer()).toMatchObject({ status: 200 });
    kept([style]);
    client.ask("GET /late");
    expect(await client.answer()).toMatchObject({ status: 200, body: "late" });
    await eventually(() => expect(messages("warn")).toHaveLength(5));
  });

  it("are not sent where middleware has answered itself", async () => {
    const asked = gate();
    const letGo = gate();
    const said = gate();
    const slow = get(Path.of("slow"), inText, async ({ earlyHints }) => {
      asked.open();
      await letGo.passed;
      earlyHints([style]);
      said.open();
      return "slow";
    });
    const impatient: Middleware = async (_request, next) => {
      void next();
      await asked.passed;
      return new Response("middleware");
    };
    const client = await clientOf([slow], { middleware: [impatient] });
    expect((await client.ask("GET /slow").answer()).body).toBe("middleware");
    letGo.open();
    await said.passed;
    // The next head of the connection is that of its next answer.
    expect(await client.ask("GET /other").answer()).toMatchObject({ status: 200, body: "middleware" });
  });

  it("are not sent after the deadline has answered", async () => {
    const letGo = gate();
    const said = gate();
    const slow = get(Path.of("slow"), inText, async ({ earlyHints }) => {
      await letGo.passed;
      earlyHints([style]);
      said.open();
      return "slow";
    });
    const client = await clientOf([slow], { deadline: Deadline.make(20) });
    expect((await client.ask("GET /slow").answer()).status).toBe(503);
    letGo.open();
    await said.passed;
    expect((await client.ask("GET /nothing").answer()).status).toBe(404);
  });

  it("do nothing after the client has gone", async () => {
    const gone = gate();
    const said = gate();
    let raised: unknown;
    const slow = get(Path.of("slow"), { inputs: { ...inputs, clientGone }, returns: Returns.text }, async (given) => {
      given.clientGone.addEventListener("abort", () => gone.open());
      await gone.passed;
      try {
        for (let i = 0; i < 3; i++) given.earlyHints([style]);
      } catch (thrown) {
        raised = thrown;
      }
      said.open();
      return "slow";
    });
    const { port } = await start([slow, page]);
    const client = (await RawClient.to(port)).ask("GET /slow");
    await turns(port);
    client.leave();
    await said.passed;
    expect(raised).toBeUndefined();
    expect(await (await RawClient.to(port)).ask("GET /page").answer()).toMatchObject({ status: 103 });
    expect(messages("error")).toEqual([]);
  });

  it("that are refused leave nothing on the wire", async () => {
    const split = get(Path.of("split"), inText, ({ earlyHints }) => {
      earlyHints([style, "</a>; rel=preload\r\nset-cookie: a=b"]);
      return "split";
    });
    expect((await (await clientOf([split])).ask("GET /split").answer()).status).toBe(500);
  });

  it("are sent over TLS", async () => {
    const { cert, key } = makeCertificate({ name: "localhost", hosts: ["127.0.0.1"] });
    const { port } = await start([page], { tls: { cert, key } });
    const socket = await secureSocket(port, { ca: cert });
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => (text += part));
    socket.write("GET /page HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    await eventually(() => expect(text).toMatch(/page$/));
    expect(text.startsWith(`${early(style, script)}HTTP/1.1 200 OK\r\n`)).toBe(true);
  });

  it("are sent by an app in another server, unless its own code has answered", async () => {
    const letGo = gate();
    const said = gate();
    const slow = get(Path.of("slow"), inText, async ({ earlyHints }) => {
      await letGo.passed;
      earlyHints([style]);
      said.open();
      return "slow";
    });
    const handle = listener(App.make([page, slow]));
    const server = createServer((request, response) => {
      handle(request, response);
      if (request.url !== "/slow") return;
      response.write("took too ");
      void said.passed.then(() => response.end("long"));
    });
    endsWithTest(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const client = await RawClient.to((server.address() as AddressInfo).port);
    client.ask("GET /page");
    await hints(client, style, script);
    expect((await client.answer()).body).toBe("page");
    client.ask("GET /slow");
    await client.sees("took too ");
    letGo.open();
    expect((await client.answer()).body).toBe("took too long");
  });
});

/** What arrives of a request over HTTP/2: the links of each 103, and the status. */
async function told(session: ClientHttp2Session, path: string): Promise<unknown[]> {
  const arrived: unknown[] = [];
  const stream: ClientHttp2Stream = session.request({ ":path": path });
  stream.on("headers", (headers: IncomingHttpHeaders) => arrived.push(headers[":status"], headers["link"]));
  stream.on("response", (headers: IncomingHttpHeaders) => arrived.push(headers[":status"]));
  let text = "";
  stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(stream, "close");
  return [...arrived, text];
}

describe("early hints over HTTP/2", () => {
  it("are header blocks before the answer", async () => {
    const session = await http2Client((await start([page, twice, none], { http2: true })).url);
    expect(await told(session, "/page")).toEqual([103, `${style}, ${script}`, 200, "page"]);
    expect(await told(session, "/twice")).toEqual([103, style, 103, script, 200, "page"]);
    expect(await told(session, "/none")).toEqual([200, "page"]);
  });

  it("are sent for many requests at once", async () => {
    const session = await http2Client((await start([page], { http2: true })).url);
    const all = await Promise.all(Array.from({ length: 50 }, () => told(session, "/page")));
    expect(new Set(all.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify([103, `${style}, ${script}`, 200, "page"])]),
    );
  });

  it("are not sent after the answer, nor after a reset", async () => {
    const reset = gate();
    const said = gate();
    let kept = (_links: readonly string[]): void => {};
    const late = get(Path.of("late"), inText, ({ earlyHints }) => {
      kept = earlyHints;
      return "late";
    });
    const slow = get(Path.of("slow"), { inputs: { ...inputs, clientGone }, returns: Returns.text }, async (given) => {
      given.clientGone.addEventListener("abort", () => reset.open());
      await reset.passed;
      given.earlyHints([style]);
      said.open();
      return "slow";
    });
    const session = await http2Client((await start([late, slow, page], { http2: true })).url);
    expect(await told(session, "/late")).toEqual([200, "late"]);
    kept([style]);
    const stream = session.request({ ":path": "/slow" });
    stream.on("error", () => {});
    await http2Ask(session, { ":path": "/late" });
    stream.close(8);
    await said.passed;
    expect(await told(session, "/page")).toEqual([103, `${style}, ${script}`, 200, "page"]);
    expect(messages("error")).toEqual([]);
  });
});

describe("early hints to a client that reads nothing", () => {
  const count = 4000;
  const long = [`</${"a".repeat(8000)}>; rel=preload`];
  const total = count * 8000;

  it("are dropped, and do not wait: HTTP/1.1", async () => {
    const said = gate();
    const letGo = gate();
    const many = get(Path.of("many"), inText, async ({ earlyHints }) => {
      for (let i = 0; i < count; i++) {
        earlyHints(long);
        if (i % 100 === 0) await new Promise(setImmediate);
      }
      said.open();
      await letGo.passed;
      return "many";
    });
    const client = await clientOf([many]);
    client.socket.pause();
    client.ask("GET /many");
    await said.passed;
    client.socket.resume();
    letGo.open();
    let hinted = 0;
    let answered = await client.answer();
    for (; answered.status === 103; answered = await client.answer()) hinted++;
    expect(answered.body).toBe("many");
    expect(hinted).toBeGreaterThan(0);
    expect(hinted * 8000).toBeLessThan(total / 2);
  });

  it("are dropped, and do not wait: HTTP/2", async () => {
    const said = gate();
    const many = get(Path.of("many"), inText, async ({ earlyHints }) => {
      for (let i = 0; i < count; i++) {
        earlyHints(long);
        if (i % 10 === 0) await new Promise(setImmediate);
      }
      said.open();
      return "many";
    });
    const client = await clientOf([many], { http2: true });
    client.socket.pause();
    client.socket.write(Buffer.concat([beginning(), frame("headers", 5, 1, requestBlock("/many"))]));
    await said.passed;
    let received = 0;
    client.discard();
    client.socket.on("data", (part: Buffer) => (received += part.byteLength));
    await eventually(() => expect(received).toBeGreaterThan(0));
    await turns(client.socket.remotePort as number);
    expect(received).toBeLessThan(total / 2);
  });
});
