/** An app behind `@whatwg-node/server` on the network: its answers, and its view of a request (contract 1, 4). */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  Answer,
  App,
  Codec,
  Cookie,
  Header,
  Log,
  Path,
  Proxies,
  Query,
  Refusal,
  Returns,
  client,
  get,
  peer,
  refuse,
  request,
  requestId,
  setCookie,
} from "usher-http";
import { lines, logged } from "../../support/logs.ts";
import { RawClient, header } from "../../support/raw-client.ts";
import { internal, invalid, notAllowed, notFound, notImplemented } from "../../support/refusals.ts";
import type { WireResponse } from "../../../src/app/exchange.ts";
import { whatwg } from "../../../adapters/whatwg/index.ts";
import { adapterOf, clientOf, clientTo, servingApp } from "./adapted.ts";

const word = (path: Path, text: string) => get(path, { returns: Returns.text }, () => text);
const number = Query.required("n", Codec.int);

const routes = [
  word(Path.root, "hello"),
  get(Path.of("page"), { returns: Returns.html }, () => "<p>é"),
  get(Path.of("nothing"), { returns: Returns.empty() }, () => {}),
  get(Path.of("bytes"), { returns: Returns.response }, () => Answer.make(new Uint8Array([0, 255, 1]))),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  get(Path.of("number"), { inputs: { number }, returns: Returns.text }, ({ number }) => String(number)),
  get(Path.of("refuses"), { returns: Returns.text, refuses: [Refusal.notFound] }, () => refuse(Refusal.notFound)),
  get(Path.of("raises"), { returns: Returns.text }, () => {
    throw new Error("s3cret");
  }),
  get(Path.of("rejects"), { returns: Returns.text }, () => Promise.reject(new Error("s3cret"))),
  get(Path.of("cookies"), { inputs: { set: setCookie }, returns: Returns.text }, ({ set }) => {
    for (const name of ["a", "b"]) set(Cookie.make(Cookie.named(name, Codec.string), "1"));
    return "set";
  }),
  get(Path.of("closes"), { returns: Returns.response }, () => Answer.closeConnection(Answer.make("bye"))),
  get(Path.of("who"), { inputs: { peer, client }, returns: Returns.text }, ({ peer, client }) => `${peer} ${client}`),
  get(
    Path.of("asked"),
    { inputs: { request }, returns: Returns.text },
    ({ request }) => `${request.target} ${request.host}`,
  ),
];

describe("behind @whatwg-node/server, an app", () => {
  it.each([
    ["GET /", 200, "text/plain; charset=utf-8", "hello"],
    ["GET /page", 200, "text/html; charset=utf-8", "<p>é"],
    ["GET /later", 200, "text/plain; charset=utf-8", "later"],
    ["GET /nothing", 204, undefined, ""],
    ["GET /refuses", 404, "application/json", notFound],
    ["GET /none", 404, "application/json", notFound],
    ["PUT /", 405, "application/json", notAllowed],
    ["PROPFIND /", 501, "application/json", notImplemented],
    ["TRACE /", 501, "application/json", notImplemented],
    ["OPTIONS /", 204, undefined, ""],
    ["OPTIONS *", 204, undefined, ""],
    ["GET /number?n=x", 400, "application/json", invalid(["query.n", "malformed", "This is not a whole number."])],
    ["GET /raises", 500, "application/json", internal],
    ["GET /rejects", 500, "application/json", internal],
  ])("answers %s with %i", async (line, status, type, body) => {
    const answered = await (await clientOf(routes)).ask(line).answer();
    expect([answered.status, header(answered, "content-type"), answered.body]).toEqual([status, type, body]);
    expect(header(answered, "content-length")).toBe(status === 204 ? undefined : String(Buffer.byteLength(body)));
    expect(header(answered, "x-request-id")).toMatch(/^[0-9a-z]{12}$/);
    expect(logged().join()).not.toContain("s3cret");
  });

  it("keeps its connection, and ends it if the answer says so", async () => {
    const client = await clientOf(routes);
    for (let i = 0; i < 3; i++) expect((await client.ask("GET /bytes").answer()).status).toBe(200);
    expect(header(await client.ask("GET /closes").answer(), "connection")).toBe("close");
    await client.closed();
  });

  it("ends its connection with the last answer when the app drains", async () => {
    const app = App.make(routes);
    const server = await servingApp(app);
    const [client, piping] = [await clientTo(server), await clientTo(server)];
    await client.ask("GET /").answer();
    app.drain();
    expect(header(await client.ask("GET /").answer(), "connection")).toBe("close");
    await client.closed();
    piping.send("GET /later HTTP/1.1", "host: h", "", "GET / HTTP/1.1", "host: h", "", "");
    expect([(await piping.answer()).body, (await piping.answer()).body]).toEqual(["later", "hello"]);
    await piping.closed();
  });

  it("answers HEAD like GET, without the body", async () => {
    const client = await clientOf(routes);
    const answered = await client.ask("HEAD /page").answer({ toHead: true });
    expect([answered.status, header(answered, "content-length")]).toEqual([200, "5"]);
    expect((await client.ask("GET /").answer()).body).toBe("hello");
  });

  it("sends each cookie on a line of its own", async () => {
    const { head } = await (await clientOf(routes)).ask("GET /cookies").answer();
    expect(head.filter(([name]) => name === "set-cookie")).toHaveLength(2);
  });

  it("answers a bare Request, too", async () => {
    const response = await adapterOf(routes).fetch(new Request("http://h/asked?a"));
    expect(await response.text()).toBe("/asked?a h");
  });

  it("refuses a bare Request whose Host has a path, which on Deno begins the path of its URL", async () => {
    const asked = new Request("http://h/asked/a", { headers: { host: "h/asked" } });
    expect((await adapterOf(routes).fetch(asked)).status).toBe(400);
  });
});

describe("the fields of a request", () => {
  it.each([
    ["GET /asked?a=%2F+b", "h", "/asked?a=%2F+b h"],
    ["GET http://other.test/asked", "h", "http://other.test/asked other.test"],
    ["GET /asked", "[::1]:80", "/asked [::1]:80"],
    ["GET /asked", "", "/asked "],
  ])("has the target as it was sent: %s of %s", async (line, host, told) => {
    const client = await clientOf(routes);
    const answered = await client.send(`${line} HTTP/1.1`, `host: ${host}`, "", "").answer();
    expect([answered.status, answered.body]).toEqual([200, told]);
  });

  it.each([["host: a/evil?"], ["host: u@x:99999"], ["host: a b"], ["host: a, b"], ["host: h", "HOST: h"]])(
    "has no host for an invalid Host: %s %s",
    async (...hosts) => {
      const client = await clientOf(routes);
      const answered = await client.send("GET /asked HTTP/1.1", ...hosts, "", "").answer();
      expect([answered.status, answered.body, header(answered, "connection")]).toEqual([400, "", "close"]);
      await client.closed();
      expect(logged().join()).toContain("refused a request head: 400 ");
    },
  );

  it("has each header line", async () => {
    const token = Header.required("x-token", Codec.string);
    const client = await clientOf([get(Path.root, { inputs: { token }, returns: Returns.text }, ({ token }) => token)]);
    expect((await client.ask("GET /", ["X-Token: a"]).answer()).body).toBe("a");
    expect((await client.ask("GET /", ["x-token: a", "x-token: b"]).answer()).body).toBe(
      invalid(["header.x-token", "malformed", "This is given more than once."]),
    );
  });

  it("has the address of the other end of the connection, and the client of a trusted proxy", async () => {
    const forwarded = ["x-forwarded-for: 9.9.9.9"];
    expect((await (await clientOf(routes)).ask("GET /who", forwarded).answer()).body).toBe("127.0.0.1 127.0.0.1");
    const trusting = await clientOf(routes, { trustedProxies: Proxies.make(["127.0.0.1"]) });
    expect((await trusting.ask("GET /who", forwarded).answer()).body).toBe("127.0.0.1 9.9.9.9");
  });

  it("has the path of a Unix socket, and the client of a proxy there", async () => {
    const folder = mkdtempSync(join(tmpdir(), "usher-whatwg-"));
    const path = join(folder, "s.sock");
    const adapter = adapterOf(routes, { trustedProxies: Proxies.make([`unix:${path}`]) });
    const server = createServer((request, response) => void adapter(request, response));
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    await once(server.listen(path), "listening");
    const client = await RawClient.to(path);
    const { body } = await client.ask("GET /who", ["x-forwarded-for: 9.9.9.9"]).answer();
    expect(body).toBe(`unix:${path} 9.9.9.9`);
  });

  it("has its id, across awaits and on its log lines", async () => {
    const log = Log.source("program");
    const route = get(Path.root, { inputs: { id: requestId }, returns: Returns.text }, async ({ id }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      log.info("after a timer");
      return `${id} ${Log.requestId()}`;
    });
    const answered = await (await clientOf([route])).ask("GET /").answer();
    const id = header(answered, "x-request-id");
    expect(answered.body).toBe(`${id} ${id}`);
    expect(lines().map((line) => [line["message"], line["request_id"]])).toEqual([
      ["after a timer", id],
      ["GET / 200", id],
    ]);
  });
});

describe("an answer from which the platform makes no Response", () => {
  const status = 101;
  const unmade: WireResponse = { status, head: [], body: undefined, closes: false };
  it.each([
    ["at once", () => unmade],
    ["later", async () => unmade],
  ])("is a 500, %s, and the log has its kind", async (_when, answer) => {
    const handler = whatwg({ ...App.make([]), answer });
    expect((await handler(new Request("http://h/"), {})).status).toBe(500);
    const [error] = lines();
    expect(error).toMatchObject({ level: "error", "error.kind": "RangeError" });
    expect(logged().join("\n")).not.toContain("init[");
  });
});
