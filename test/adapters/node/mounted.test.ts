/** An app in an existing server: `node:http`'s own, Express, Fastify. That server listens and stops. */
import { createServer } from "node:http";
import type { Server } from "node:http";
import express from "express";
import { fastify } from "fastify";
import { describe, expect, it, vi } from "vitest";
import { Answer, App, Event, Path, Returns, clientGone, get } from "usher-http";
import type { Route } from "usher-http";
import { listener } from "usher-http/node";
import type { ListenerOptions } from "usher-http/node";
import { messages } from "../../support/logs.ts";
import { gate, holdClock } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import { busy, notFound, tooLarge, unreadable } from "../../support/refusals.ts";
import { eventually } from "../../support/eventually.ts";
import { listens, routes } from "./mounted-server.ts";

/** Mounts an app in a server of a kind, in the documented way. */
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

const chunked = "transfer-encoding: chunked";
const most = 65_536;

type StartOptions = ListenerOptions & { readonly app?: App.AppOptions };

/** Starts a server for each call, and returns its port, or a client of it. */
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

  it("answers each request of a connection, also asynchronously, and knows the peer", async () => {
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

  it("reads bodies whole, as streams, pipelined, and above their limit", async () => {
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

  it("SV-10 a body that does not arrive is 400 unreadable, and closed", async () => {
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

  it("SV-15 all bodies share one budget, and a finished one frees its bytes", async () => {
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

  it("WR-03, WR-04 a body that the route does not read is dropped, and above 64 KiB ends the connection", async () => {
    const client = await clientOf(routes);
    expect((await client.ask("POST /ignores", [], "x".repeat(most)).answer()).body).toBe("ignored");
    client.send("POST /ignores HTTP/1.1", "host: h", chunked, "", "3", "abc", "0", "", "");
    expect((await client.answer()).body).toBe("ignored");
    const answered = await client.ask("POST /ignores", [], "x".repeat(most * 4)).answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["ignored", "close"]);
    await client.closed();
  });

  it("an invalid head is refused without a body, in its turn", async () => {
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

  it("a stream is sent while it is generated, and ends when its client disconnects", async () => {
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

  it.each(["leave", "close"] as const)("clientGone aborts when its client disconnects: %s", async (how) => {
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

  it("SV-12 a client that does not read its answer is disconnected; a client that waited for its turn is not", async () => {
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

  it("several cookies have a line each", async () => {
    const { head } = await (await clientOf(routes)).ask("GET /cookies").answer();
    const set = head.filter(([name]) => name === "set-cookie").map(([, value]) => value.split(";")[0]);
    expect(set).toEqual(["a=1", "b=1"]);
  });

  it("EV-15 event streams end when their app stops, and their producers are notified", async () => {
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
    const end = ": stopping\n\n\r\n0\r\n\r\n";
    // Its connection is the other server's, which keeps it.
    await client.sees(end);
    expect(await told.passed).toBe("gone");
    expect(await (await RawClient.to(port)).ask("GET /api/feed").rest()).toContain(end);
  });

  it("an app that stops answers further requests, and closes each connection after its answer", async () => {
    const app = App.make(routes);
    const port = await listens(await mount(app));
    const kept = await RawClient.to(port);
    expect(header(await kept.ask("GET /hello").answer(), "connection")).not.toBe("close");
    app.drain();
    const last = await kept.ask("GET /hello").answer();
    expect([last.status, header(last, "connection")]).toEqual([200, "close"]);
    expect(await kept.rest()).toBe("");
  });
});
