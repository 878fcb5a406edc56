/** An app in a server that is there already (issue 4): `node:http`'s own, Express, Fastify. The server listens and stops. */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Express } from "express";
import { fastify } from "fastify";
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  Answer,
  App,
  Codec,
  Cookie,
  Dep,
  Event,
  Path,
  Returns,
  body,
  bodyStream,
  clientGone,
  get,
  json,
  peer,
  post,
  request,
  setCookie,
} from "usher-http";
import type { Route } from "usher-http";
import { listener } from "usher-http/node";
import type { ListenerOptions } from "usher-http/node";
import { messages } from "../../support/logs.ts";
import { gate, holdClock } from "../../support/node-server.ts";
import { RawClient, header, leaveAll, turns } from "../../support/raw-client.ts";
import { busy, internal, notFound, tooLarge, unreadable } from "../../support/refusals.ts";
import { eventually } from "../../support/eventually.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
const running: Server[] = [];
afterEach(async () => {
  leaveAll();
  await Promise.all(
    running.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
  vi.useRealTimers();
});

async function listens(server: Server, where: number | string = 0): Promise<number> {
  running.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (typeof where === "string") server.listen(where, resolve);
    else server.listen(where, "127.0.0.1", resolve);
  });
  return typeof where === "string" ? 0 : (server.address() as AddressInfo).port;
}

/** Mounts an app in a server of a kind, in the way that its documentation has. */
type Mounts = (app: App, options?: ListenerOptions) => Promise<Server>;

const mounts: { readonly [kind: string]: Mounts } = {
  "node:http": async (app, options) => createServer(listener(app, options)),
  Fastify: async (app, options) => {
    const answer = listener(app, options);
    const server = fastify();
    // Before it reads any body.
    server.addHook("onRequest", (request, reply, done) => {
      reply.hijack();
      answer(request.raw, reply.raw);
      done();
    });
    await server.ready();
    return server.server;
  },
  Express: async (app, options) => createServer(express().use(listener(app, options))),
};

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const waited = Dep.ofRequest(async () => "waited for");
const routes: readonly Route[] = [
  get(Path.of("hello"), { inputs: { request, peer }, returns: Returns.text }, ({ request, peer }) => {
    return `${request.target} ${peer} ${request.host}`;
  }),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  size,
  post(
    Path.of("item"),
    { inputs: { item: json(v.object({ name: v.string() })) }, returns: Returns.json(v.object({ name: v.string() })) },
    ({ item }) => item,
  ),
  post(
    Path.of("parts"),
    { inputs: { upload: bodyStream({ max: 1 << 30 }) }, returns: Returns.text },
    async ({ upload }) => {
      let bytes = 0;
      for await (const part of upload) bytes += part.byteLength;
      return String(bytes);
    },
  ),
  post(Path.of("waits"), { inputs: { wait: waited, body }, returns: Returns.text }, () => "read"),
  post(Path.of("ignores"), { returns: Returns.text }, () => "ignored"),
  get(Path.of("cookies"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
    for (const name of ["a", "b"]) setCookie(Cookie.make(Cookie.named(name, Codec.int), 1));
    return "set";
  }),
];

const chunked = "transfer-encoding: chunked";
const most = 65_536;

type StartOptions = ListenerOptions & { readonly app?: App.AppOptions };

/** Starts a server for each call: its port, or a client of it. */
function mounting(mount: (typeof mounts)[keyof typeof mounts]) {
  const start = async (routes: readonly Route[], options: StartOptions = {}) => {
    const { app, ...rest } = options;
    return listens(await mount(App.make(routes, app), rest));
  };
  const clientOf = async (...asked: Parameters<typeof start>) => RawClient.to(await start(...asked));
  return { start, clientOf };
}

describe.each(Object.entries(mounts))("in %s: requests and bodies", (_kind, mount) => {
  const { start, clientOf } = mounting(mount);

  it("answers each request of a connection, sync and not, and says who asked", async () => {
    const client = await clientOf(routes);
    const answered = await client.ask("GET /hello?x=1").answer();
    expect([answered.status, answered.body]).toEqual([200, "/hello?x=1 127.0.0.1 h"]);
    expect(header(answered, "x-request-id")).toBeDefined();
    expect(header(answered, "content-length")).toBe("22");
    expect((await client.ask("GET /later").answer()).body).toBe("later");
    const missing = await client.ask("GET /nowhere").answer();
    expect([missing.status, missing.body]).toEqual([404, notFound]);
    expect((await client.ask("GET /hello").answer()).status).toBe(200);
    expect(messages("info")).toEqual(["GET /hello 200", "GET /later 200", "GET /nowhere 404", "GET /hello 200"]);
  });

  it("reads bodies whole, in parts, pipelined, and past their limit", async () => {
    const client = await clientOf(routes, { app: { maxBody: 100_000 } });
    client
      .ask("POST /size", [], "x".repeat(70_000))
      .ask("POST /item", [], '{"name":"kim"}')
      .ask("POST /parts", [], "y".repeat(300_000))
      .send("POST /size HTTP/1.1", "host: h", chunked, "", "3", "abc", "0", "", "")
      .ask("POST /size", [], "z".repeat(100_001));
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push((await client.answer()).body);
    expect(answers).toEqual(["70000", '{"name":"kim"}', "300000", "3", tooLarge]);
  });

  it("SV-10 a body that does not come is 400 unreadable, and closed", async () => {
    holdClock();
    const port = await start(routes);
    const client = await RawClient.to(port);
    client.send("POST /size HTTP/1.1", "host: h", "content-length: 10", "", "abc");
    await turns(port);
    for (let seconds = 0; seconds < 22; seconds++) vi.advanceTimersByTime(1000);
    const answered = await client.answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([400, unreadable, "close"]);
    await client.closed();
  });

  it("SV-15 bodies are bounded together, and what is let go makes room", async () => {
    const port = await start(routes, { app: { bodyBudget: 10 } });
    const client = await RawClient.to(port);
    client.send("POST /size HTTP/1.1", "host: h", "content-length: 10", "", "12345678");
    await turns(port);
    const other = await RawClient.to(port);
    expect((await other.ask("POST /size", [], "123").answer()).body).toBe(busy);
    client.leave();
    await eventually(async () => {
      expect((await (await RawClient.to(port)).ask("POST /size", [], "1234567890").answer()).body).toBe("10");
    });
  });

  it("WR-03, WR-04 a body that nobody reads is dropped, and past 64 KiB ends the connection", async () => {
    const client = await clientOf(routes);
    expect((await client.ask("POST /ignores", [], "x".repeat(most)).answer()).body).toBe("ignored");
    client.send("POST /ignores HTTP/1.1", "host: h", chunked, "", "3", "abc", "0", "", "");
    expect((await client.answer()).body).toBe("ignored");
    const answered = await client.ask("POST /ignores", [], "x".repeat(most * 4)).answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["ignored", "close"]);
    await client.closed();
  });

  it("a head that is none is refused bare, in its place", async () => {
    const client = await clientOf(routes);
    client.ask("GET /later").send("GET /hello HTTP/1.1", "host: h", "host: g", "", "").ask("GET /hello");
    expect((await client.answer()).body).toBe("later");
    const refused = await client.answer();
    expect([refused.status, refused.body]).toEqual([400, ""]);
    expect(refused.head.map(([name]) => name)).toEqual(["content-length", "connection", "date"]);
    expect(await client.rest()).toBe("");
    expect(messages("info")).toContain("refused a request head: 400 more than one Host");
    expect(messages("info")).not.toContain("GET /hello 200");
  });
});

describe.each(Object.entries(mounts))("in %s: clients", (_kind, mount) => {
  const { start, clientOf } = mounting(mount);

  it("a stream is written as it is made, and ended where its client goes", async () => {
    const ended = gate();
    const more = gate();
    async function* parts() {
      try {
        yield Buffer.from("one");
        await more.passed;
        for (;;) yield Buffer.alloc(most);
      } finally {
        ended.open();
      }
    }
    const route = get(Path.of("s"), { returns: Returns.response }, () => Answer.stream(parts()));
    const port = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /s");
    await client.sees("\r\n\r\n3\r\none\r\n");
    more.open();
    await client.sees("10000\r\n");
    client.leave();
    await ended.passed;
    await eventually(() => expect(messages("info").at(-1)).toBe("stream on /s ended: client gone"));
    expect(messages("error")).toEqual([]);
  });

  it.each(["leave", "close"] as const)("clientGone is told that its client goes: %s", async (how) => {
    const asked = gate();
    const gone = gate();
    const waits = get(Path.of("w"), { inputs: { clientGone }, returns: Returns.text }, async ({ clientGone }) => {
      asked.open();
      await new Promise<void>((resolve) => clientGone.addEventListener("abort", () => resolve()));
      gone.open();
      return "";
    });
    const client = await clientOf([waits]);
    client.ask("GET /w");
    await asked.passed;
    client[how]();
    expect(await gone.passed).toBeUndefined();
  });

  it("SV-12 a client that takes nothing of its answer is cut off; one that waited for its turn is not", async () => {
    const first = gate();
    const big = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(64 * 1024 * 1024)));
    const waits = get(Path.of("waits"), { returns: Returns.text }, async () => (await first.passed, "waited"));
    const client = await clientOf([big, waits], { sendTimeoutMs: 100 });
    client.ask("GET /waits").ask("GET /big");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(messages("info")).not.toContainEqual(expect.stringMatching(/^closed/));
    first.open();
    await client.sees("waited");
    client.socket.pause();
    await eventually(() => expect(messages("info").at(-1)).toMatch(/^closed a connection whose client stopped/));
  });
});

describe.each(Object.entries(mounts))("in %s: cookies and stopping", (_kind, mount) => {
  const { clientOf } = mounting(mount);

  it("several cookies are lines of their own", async () => {
    const { head } = await (await clientOf(routes)).ask("GET /cookies").answer();
    const set = head.filter(([name]) => name === "set-cookie").map(([, value]) => value.split(";")[0]);
    expect(set).toEqual(["a=1", "b=1"]);
  });

  it("EV-15 events end with an app that stops, and what makes them is told", async () => {
    const told = gate<string>();
    const feed = get(
      Path.of("api", "feed"),
      { inputs: { clientGone }, returns: Returns.events([]) },
      ({ clientGone }) => {
        return async (send) => {
          await send(Event.comment("one"));
          await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
          const sent = await send(Event.comment("two"));
          told.open(sent.ok ? "sent" : sent.error);
        };
      },
    );
    const app = App.make([feed]);
    const port = await listens(await mount(app));
    const client = await RawClient.to(port);
    client.ask("GET /api/feed");
    await client.sees(": one");
    app.drain();
    expect(await client.rest()).not.toContain("\r\n0\r\n\r\n");
    expect(await told.passed).toBe("gone");
    expect(await (await RawClient.to(port)).ask("GET /api/feed").rest()).not.toContain("\r\n0\r\n\r\n");
  });

  it("an app that stops says so by its readiness, and answers on", async () => {
    const app = App.make(routes);
    const port = await listens(await mount(app));
    app.drain();
    expect((await (await RawClient.to(port)).ask("GET /hello").answer()).status).toBe(200);
  });
});

const app = App.make(routes);
/** A server that has something done to each request before the app sees it. */
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

describe("beside what is mounted ahead of it: bodies that were read", () => {
  it.each(["rawBody", "body"])("a body that was read is had from the bytes at %s", async (member) => {
    const client = await behind(async (request) => void Object.assign(request, { [member]: await read(request) }));
    expect((await client.ask("POST /size", [], "x".repeat(200_000)).answer()).body).toBe("200000");
    expect((await client.ask("POST /item", [], '{"name":"kim"}').answer()).body).toBe('{"name":"kim"}');
    expect((await client.ask("POST /parts", [], "x".repeat(200_000)).answer()).body).toBe("200000");
    expect((await client.ask("POST /size", [], "x".repeat(1_048_577)).answer()).body).toBe(tooLarge);
    expect((await client.ask("GET /later").answer()).body).toBe("later");
  });

  it("a body that was read and left no bytes is a 500 that says so to the log, and only where it is wanted", async () => {
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

  it("a body that is to come as text is a 500 that says so to the log, and ends nothing", async () => {
    const client = await behind(async (request) => void request.setEncoding("utf8"));
    for (const path of ["/size", "/item", "/parts"]) {
      const answered = await client.ask(`POST ${path}`, [], '{"name":"kim"}').answer();
      expect([answered.status, answered.body]).toEqual([500, internal]);
    }
    expect((await client.ask("POST /ignores", [], "{}").answer()).body).toBe("ignored");
  });

  it("a body that cannot be had is a 500 behind an input that is waited for, too", async () => {
    const client = await behind(async (request) => void (await read(request)));
    const answered = await client.ask("POST /waits", [], "{}").answer();
    expect([answered.status, answered.body]).toEqual([500, internal]);
    expect((await client.ask("GET /later").answer()).body).toBe("later");
  });
});

describe("beside what is mounted ahead of it: requests and answers", () => {
  it("who listens to a request hears its body and its end, though the app reads it", async () => {
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

  it("a body that is only begun with is a 500, too, and dropped", async () => {
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

  it("headers that were set are sent with ours; of one name, ours", async () => {
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

  it("a target is as it was sent, where a prefix was taken off it", async () => {
    const client = await behind((request) => {
      Object.assign(request, { originalUrl: request.url, url: request.url?.replace("/hello", "/") });
    });
    expect((await client.ask("GET /hello?x=1").answer()).body).toBe("/hello?x=1 127.0.0.1 h");
  });

  it("a server that has 100 Continue asked for lets the app say it, and only where a body is read", async () => {
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
    // Of its own accord Node says it at once.
    const other = await RawClient.to(await listens(createServer(answer)));
    expect((await other.send(...expects("/ignores"), "", "").answer()).status).toBe(100);
    expect((await other.answer()).body).toBe("ignored");
  });
});

describe("beside what is mounted ahead of it: others on its server", () => {
  it("requests that are not the app's are answered by whose they are, on the same connection", async () => {
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

  it("two apps of one server are each their own", async () => {
    const one = listener(App.make([get(Path.of("one"), { returns: Returns.text }, async () => "one")]));
    const two = listener(App.make([get(Path.of("two"), { returns: Returns.text }, async () => "two")]));
    const server = createServer((request, response) => (request.url === "/one" ? one : two)(request, response));
    const client = await RawClient.to(await listens(server));
    client.ask("GET /one").ask("GET /two").ask("GET /one");
    for (const body of ["one", "two", "one"]) expect((await client.answer()).body).toBe(body);
  });

  it("a peer of a Unix socket is named by its path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "usher-mounted-"));
    const socket = join(folder, "app.sock");
    try {
      await listens(createServer(listener(app)), socket);
      expect((await (await RawClient.to(socket)).ask("GET /hello").answer()).body).toBe(`/hello unix:${socket} h`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("a client that took its time with an answer is idle for as long as the server has it", async () => {
    const big = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(16 * 1024 * 1024)));
    const server = createServer(listener(App.make([big, ...routes]), { sendTimeoutMs: 60_000 }));
    server.keepAliveTimeout = 50;
    const client = await RawClient.to(await listens(server));
    client.ask("GET /big");
    await client.answer();
    await client.closed();
    expect(messages("info")).toEqual(["GET /big 200"]);
  });

  it("an option that is none is refused by its name", () => {
    expect(() => listener(app, { sendTimeoutMs: 0 })).toThrow(/^listener: sendTimeoutMs cannot be 0: /);
  });
});

describe("in Express, as its users have it", () => {
  const opened = async (setUp: (server: Express, app: Listener) => void, app = App.make(routes)) => {
    const server = express();
    setUp(server, listener(app));
    return RawClient.to(await listens(createServer(server)));
  };

  it("under a prefix, routes name whole paths, and what is not under it is Express' own", async () => {
    const hello = get(Path.of("api", "hello"), { inputs: { request }, returns: Returns.text }, ({ request }) => {
      return request.target;
    });
    const client = await opened((server, app) => server.use("/api", app), App.make([hello]));
    expect((await client.ask("GET /api/hello?x").answer()).body).toBe("/api/hello?x");
    expect((await client.ask("GET /api/nowhere").answer()).body).toBe(notFound);
    expect((await client.ask("GET /other").answer()).body).toContain("Cannot GET /other");
  });

  it("behind its JSON parser a body is a 500, and behind its raw one it is had", async () => {
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

  it("its own header goes with ours", async () => {
    const { head } = await (await opened((server, app) => server.use(app))).ask("GET /later").answer();
    expect(head).toContainEqual(["X-Powered-By", "Express"]);
  });
});
