/** An app behind `@whatwg-node/server` inside servers that have routes of their own. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, get, json, peer, post, request } from "usher-http";
import { RawClient, header } from "../../support/raw-client.ts";
import { messages } from "../../support/logs.ts";
import { internal, notFound } from "../../support/refusals.ts";
import { adapterOf, clientTo, serving } from "./adapted.ts";

const Item = v.object({ name: v.string() });
async function* parts() {
  yield Buffer.from("a");
  yield Buffer.from("b");
}
const routes = [
  get(Path.of("app", "who"), { inputs: { peer, request }, returns: Returns.text }, ({ peer, request }) => {
    const given = [...request.headers].flatMap(([name, value]) => (name === "x-a" ? [value] : []));
    return `${peer} ${request.target} ${given.join("|")}`;
  }),
  post(Path.of("app", "json"), { inputs: { item: json(Item) }, returns: Returns.json(Item) }, ({ item }) => item),
  get(Path.of("app", "stream"), { returns: Returns.response }, () => Answer.stream(parts())),
];

describe("mounted under a path, as Express does", () => {
  it("sees the whole path", async () => {
    const adapter = adapterOf(routes);
    const server = await serving((request, response) => {
      // What Express's `app.use("/app", adapter)` does to a request.
      const { url = "" } = request;
      if (url === "/") response.end("its own");
      else void adapter(Object.assign(request, { originalUrl: url, url: url.slice(4) }), response);
    });
    const client = await clientTo(server);
    expect((await client.ask("GET /").answer()).body).toBe("its own");
    expect((await client.ask("GET /app/who?q", ["x-a: 1", "x-a: 2"]).answer()).body).toBe("127.0.0.1 /app/who?q 1|2");
    expect((await client.ask("GET /app/none").answer()).body).toBe(notFound);
  });
});

describe("after code that has read the body", () => {
  const sent = ["content-type: application/json"];
  const serves = (serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>) =>
    serving((request, response) => void serve(request, response));

  it("is a 500 with a log line, if no bytes of it are left", async () => {
    const adapter = adapterOf(routes);
    // What Express's `json()` does to a request.
    const server = await serves(async (request, response) => {
      Object.assign(request, { body: JSON.parse((await request.toArray()).join("")) as unknown });
      await adapter(request, response);
    });
    const client = await clientTo(server);
    const answer = await client.ask("POST /app/json", sent, '{"name":"a"}').answer();
    expect([answer.status, answer.body]).toEqual([500, internal]);
    expect(messages("error").at(-1)).toContain("its body was read by what is mounted ahead of the app");
    // A route that reads none is answered.
    expect((await client.ask("GET /app/who", sent, '{"name":"a"}').answer()).status).toBe(200);
  });

  it("is a 500, if the code has read a part of it", async () => {
    const adapter = adapterOf(routes);
    const server = await serves(async (request, response) => {
      await once(request, "readable");
      request.read(1);
      await adapter(request, response);
    });
    const client = await clientTo(server);
    expect((await client.ask("POST /app/json", sent, '{"name":"a"}').answer()).status).toBe(500);
  });

  it("is answered, if the code kept the bytes", async () => {
    const adapter = adapterOf(routes);
    // What Express's `raw()` and `text()` do.
    const server = await serves(async (request, response) => {
      const bytes = Buffer.concat((await request.toArray()) as Buffer[]);
      await adapter(
        Object.assign(request, { body: request.url === "/app/json?text" ? String(bytes) : bytes }),
        response,
      );
    });
    const client = await clientTo(server);
    for (const path of ["/app/json", "/app/json?text"]) {
      expect((await client.ask(`POST ${path}`, sent, '{"name":"a"}').answer()).body).toBe('{"name":"a"}');
    }
  });
});

describe("in Fastify", () => {
  it("answers requests that Fastify hands over, which sends the answer itself", async () => {
    const adapter = adapterOf(routes);
    const server = fastify();
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    server.get("/", () => "its own");
    server.all("/app/*", (req, reply) => adapter.handleNodeRequestAndResponse(req, reply, { req, reply }));
    await server.listen({ port: 0, host: "127.0.0.1" });
    try {
      const client = await RawClient.to((server.server.address() as AddressInfo).port);
      expect((await client.ask("GET /").answer()).body).toBe("its own");
      expect((await client.ask("GET /app/who", ["x-a: 1", "x-a: 2"]).answer()).body).toBe("127.0.0.1 /app/who 1|2");
      const sent = await client.ask("POST /app/json", ["content-type: application/json"], '{"name":"a"}').answer();
      expect([sent.status, sent.body]).toEqual([200, '{"name":"a"}']);
      expect((await client.ask("GET /app/stream").answer()).body).toBe("ab");
      const none = await client.ask("GET /app/none").answer();
      expect([none.status, none.body, header(none, "content-type")]).toEqual([404, notFound, "application/json"]);
      client.leave();
    } finally {
      await server.close();
    }
  });
});
