/** An app next to other code of its server */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import type { Express } from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { Answer, App, Event, Path, Returns, get, request } from "usher-http";
import { listener } from "usher-http/node";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { gate } from "../../support/gate.ts";
import { messages } from "../../support/logs.ts";
import { RawClient, header } from "../../support/raw-client.ts";
import { internal, notFound, tooLarge } from "../../support/refusals.ts";
import { eventually } from "../../support/eventually.ts";
import { listens, routes } from "./mounted-server.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
const app = App.make(routes);
/** A server whose own code changes each request before the app sees it. */
const behind = async (middleware: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>) => {
  const answer = listener(app);
  const server = createServer((request, response) => {
    void Promise.resolve(middleware(request, response)).then(() => answer(request, response));
  });
  return RawClient.to(await listens(server));
};
const read = async (request: IncomingMessage) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

describe("next to code that runs before the app: bodies that were read", () => {
  it.each(["rawBody", "body"])("a body that was read is taken from the bytes in %s", async (member) => {
    const client = await behind(async (request) => void Object.assign(request, { [member]: await read(request) }));
    expect((await client.ask("POST /size", [], "x".repeat(200_000)).answer()).body).toBe("200000");
    expect((await client.ask("POST /item", [], '{"name":"kim"}').answer()).body).toBe('{"name":"kim"}');
    expect((await client.ask("POST /parts", [], "x".repeat(200_000)).answer()).body).toBe("200000");
    expect((await client.ask("POST /size", [], "x".repeat(1_048_577)).answer()).body).toBe(tooLarge);
    expect((await client.ask("GET /later").answer()).body).toBe("later");
  });

  it("a body that was read without keeping its bytes is a 500 with a log line, on routes that read it only", async () => {
    const client = await behind(async (request) => {
      Object.assign(request, { body: JSON.parse((await read(request)).toString() || "null") });
    });
    for (const path of ["/size", "/item", "/parts"]) {
      const answered = await client.ask(`POST ${path}`, [], '{"name":"kim"}').answer();
      expect([answered.status, answered.body]).toEqual([500, internal]);
    }
    expect((await client.ask("POST /ignores", [], "{}").answer()).body).toBe("ignored");
    expect((await client.ask("GET /later").answer()).body).toBe("later");
    const why = "its body was read by what is mounted ahead of the app, which left no bytes of it";
    expect(messages("error")).toEqual(["/size", "/item", "/parts"].map((path) => `POST ${path}: internal: ${why}`));
  });

  it("a body with a text encoding is a 500 with a log line, and the process continues", async () => {
    const client = await behind(async (request) => void request.setEncoding("utf8"));
    for (const path of ["/size", "/item", "/parts"]) {
      const answered = await client.ask(`POST ${path}`, [], '{"name":"kim"}').answer();
      expect([answered.status, answered.body]).toEqual([500, internal]);
    }
    expect((await client.ask("POST /ignores", [], "{}").answer()).body).toBe("ignored");
  });

  it("a missing body is a 500 also behind an asynchronous input", async () => {
    const client = await behind(async (request) => void (await read(request)));
    const answered = await client.ask("POST /waits", [], "{}").answer();
    expect([answered.status, answered.body]).toEqual([500, internal]);
    expect((await client.ask("GET /later").answer()).body).toBe("later");
  });
});

describe("next to code that runs before the app: requests and answers", () => {
  it("a listener on the request receives its body and its end, though the app reads it too", async () => {
    const heard: string[] = [];
    const answer = listener(app);
    const server = createServer((request, response) => {
      const hear = (name: string) => () => void heard.push(name);
      request.on("end", hear("end")).on("close", hear("close"));
      answer(request, response);
    });
    const client = await RawClient.to(await listens(server));
    expect((await client.ask("POST /size", [], "four").answer()).body).toBe("4");
    await eventually(() => expect(heard).toEqual(["end", "close"]));
  });

  it("a body that was partly read is a 500 too, and the rest is dropped", async () => {
    const client = await behind(async (request) => {
      if (request.method === "GET") return;
      await new Promise((resolve) => request.once("data", resolve));
      request.pause();
    });
    client.send("POST /size HTTP/1.1", "host: h", "content-length: 6", "", "abc");
    expect((await client.answer()).status).toBe(500);
    client.send("def");
    expect((await client.ask("GET /later").answer()).body).toBe("later");
  });

  it("headers that were set before are sent with the app's; for the same name, the app's is sent", async () => {
    const client = await behind((_request, response) => {
      response.setHeader("X-Host", "1");
      response.setHeader("Content-Type", "text/html");
      response.setHeader("Vary", "Origin");
      response.setHeader("Set-Cookie", ["host=1", "host2=2"]);
    });
    const { head, body } = await client.ask("GET /cookies").answer();
    const named = (name: string) => head.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
    expect([body, named("x-host"), named("content-type")]).toEqual(["set", ["1"], ["text/plain; charset=utf-8"]]);
    expect(named("vary")).toEqual(["Origin"]);
    expect(named("set-cookie").map((cookie) => cookie.split(";")[0])).toEqual(["host=1", "host2=2", "a=1", "b=1"]);
    const refused = await client.send("GET /hello HTTP/1.1", "host: a b", "", "").answer();
    expect(refused.head.map(([name]) => name)).toEqual(["content-length", "connection", "date"]);
  });

  it("the app uses the original target when a prefix was removed from it", async () => {
    const client = await behind((request) => {
      Object.assign(request, { originalUrl: request.url, url: request.url?.replace("/hello", "/") });
    });
    expect((await client.ask("GET /hello?x=1").answer()).body).toBe("/hello?x=1 127.0.0.1 h");
  });

  it("a server with a checkContinue listener lets the app send 100 Continue, and only when a body is read", async () => {
    const answer = listener(app);
    const server = createServer(answer);
    server.on("checkContinue", answer);
    const port = await listens(server);
    const expects = (path: string) => [
      "POST " + path + " HTTP/1.1",
      "host: h",
      "expect: 100-continue",
      "content-length: 4",
    ];
    const client = await RawClient.to(port);
    expect((await client.send(...expects("/size"), "", "").answer()).status).toBe(100);
    expect((await client.send("four").answer()).body).toBe("4");
    const answered = await client.send(...expects("/ignores"), "", "").answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["ignored", "close"]);
    const passedOver = await RawClient.to(port);
    passedOver.send(...expects("/size").with(2, "expect: y 100-continue"), "", "four");
    expect((await passedOver.answer()).body).toBe("4");
    expect((await passedOver.ask("POST /size", [], "four").answer()).body).toBe("4");
    // Node by itself sends it at once.
    const other = await RawClient.to(await listens(createServer(answer)));
    expect((await other.send(...expects("/ignores"), "", "").answer()).status).toBe(100);
    expect((await other.answer()).body).toBe("ignored");
  });
});

describe("next to code that runs before the app: others on its server", () => {
  it("requests for other code are answered by it, on the same connection", async () => {
    const answer = listener(app);
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/theirs") === true) response.end("theirs");
      else answer(request, response);
    });
    const client = await RawClient.to(await listens(server));
    client.ask("GET /later").ask("GET /theirs").ask("POST /size", [], "four").ask("GET /theirs").ask("GET /later");
    const bodies = [];
    for (let i = 0; i < 5; i++) bodies.push((await client.answer()).body);
    expect(bodies).toEqual(["later", "theirs", "4", "theirs", "later"]);
  });

  it("each request of HTTP/2 is a 505, with a log line that names the right listener", async () => {
    const answer = listener(app);
    const server = createHttp2Server((request, response) => {
      answer(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const session = await http2Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    for (let i = 0; i < 2; i++) expect((await http2Ask(session, { ":path": "/later" })).status).toBe(505);
    expect(messages("info")).toEqual(
      Array(2).fill("refused a request head: 505 HTTP/2, which `serve` and `usher-http/whatwg` answer"),
    );
  });

  it("two apps in one server are independent", async () => {
    const one = listener(App.make([get(Path.of("one"), { returns: Returns.text }, async () => "one")]));
    const two = listener(App.make([get(Path.of("two"), { returns: Returns.text }, async () => "two")]));
    const server = createServer((request, response) => (request.url === "/one" ? one : two)(request, response));
    const client = await RawClient.to(await listens(server));
    client.ask("GET /one").ask("GET /two").ask("GET /one");
    for (const body of ["one", "two", "one"]) expect((await client.answer()).body).toBe(body);
  });

  it("a peer on a Unix socket has the path of the socket", async () => {
    const folder = mkdtempSync(join(tmpdir(), "usher-mounted-"));
    const socket = join(folder, "app.sock");
    try {
      await listens(createServer(listener(app)), socket);
      expect((await (await RawClient.to(socket)).ask("GET /hello").answer()).body).toBe(`/hello unix:${socket} h`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("a client that read its answer slowly then has the full idle time of the server", async () => {
    const big = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(16 * 1024 * 1024)));
    const server = createServer(listener(App.make([big, ...routes]), { sendTimeoutMs: 60_000 }));
    server.keepAliveTimeout = 50;
    const client = await RawClient.to(await listens(server));
    client.ask("GET /big");
    await client.answer();
    await client.closed();
    expect(messages("info")).toEqual(["GET /big 200"]);
  });

  it("an invalid option is refused with its name", () => {
    expect(() => listener(app, { sendTimeoutMs: 0 })).toThrow(/^listener: sendTimeoutMs cannot be 0: /);
  });
});

describe("next to code that ends an answer of the app", () => {
  const text = Event.text("text");
  const rest = "x".repeat(8000);

  it('a producer of events gets "gone", though its client reads nothing, and the process continues', async () => {
    const left = gate<string>();
    const responses: ServerResponse[] = [];
    const feed = get(Path.of("feed"), { returns: Returns.events([text]) }, () => async (send) => {
      const [response] = responses as [ServerResponse];
      // Some of it waits for the client, and more would be taken.
      while (response.writableLength === 0) await send(Event.make(text, rest));
      response.end();
      const sent = await send(Event.make(text, rest));
      left.open(sent.ok ? "sent" : sent.error);
    });
    const answer = listener(App.make([feed]));
    const port = await listens(
      createServer((request, response) => {
        responses.push(response);
        answer(request, response);
      }),
    );
    const client = await RawClient.to(port);
    client.ask("GET /feed");
    client.socket.pause();
    expect(await left.passed).toBe("gone");
    client.socket.resume();
    expect((await client.answer()).body).toMatch(/x\n\n$/);
  });

  it("before the app has made it: the app's is dropped, and the connection stays open", async () => {
    const letGo = gate();
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (await letGo.passed, "slow"));
    const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");
    const answer = listener(App.make([slow, ok]));
    const port = await listens(
      createServer((request, response) => {
        answer(request, response);
        // As a time limit of the server's own: its answer waits for its client.
        if (request.url === "/slow") response.writeHead(503).end(Buffer.alloc(16 * 1024 * 1024));
        setImmediate(letGo.open);
      }),
    );
    const client = await RawClient.to(port);
    client.ask("GET /slow").ask("GET /ok");
    const refused = await client.answer();
    expect([refused.status, refused.body.length]).toEqual([503, 16 * 1024 * 1024]);
    expect((await client.answer()).body).toBe("ok");
    expect(messages("error")).toEqual([]);
  });
});

describe("in Express, as its users write it", () => {
  const opened = async (setUp: (server: Express, app: Listener) => void, app = App.make(routes)) => {
    const server = express();
    setUp(server, listener(app));
    return RawClient.to(await listens(createServer(server)));
  };

  it("under a prefix, routes have whole paths, and Express answers all other paths", async () => {
    const hello = get(Path.of("api", "hello"), { inputs: { request }, returns: Returns.text }, ({ request }) => {
      return request.target;
    });
    const client = await opened((server, app) => server.use("/api", app), App.make([hello]));
    expect((await client.ask("GET /api/hello?x").answer()).body).toBe("/api/hello?x");
    expect((await client.ask("GET /api/nowhere").answer()).body).toBe(notFound);
    expect((await client.ask("GET /other").answer()).body).toContain("Cannot GET /other");
  });

  it("after its JSON parser a body is a 500, and after its raw parser it is read", async () => {
    const parsed = await opened((server, app) => {
      server.use(express.json());
      server.use(app);
    });
    const type = ["content-type: application/json"];
    expect((await parsed.ask("POST /item", type, '{"name":"kim"}').answer()).body).toBe(internal);
    expect((await parsed.ask("GET /later").answer()).body).toBe("later");
    const raw = await opened((server, app) => {
      server.use(express.raw({ type: "*/*" }));
      server.use(app);
    });
    expect((await raw.ask("POST /item", type, '{"name":"kim"}').answer()).body).toBe('{"name":"kim"}');
  });

  it("its own header is sent with the app's", async () => {
    const { head } = await (await opened((server, app) => server.use(app))).ask("GET /later").answer();
    expect(head).toContainEqual(["X-Powered-By", "Express"]);
  });
});
