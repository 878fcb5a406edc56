/** Hono, GraphQL Yoga, Auth.js and a tus server in mounts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Auth, skipCSRFCheck } from "@auth/core";
import type { AuthConfig } from "@auth/core";
import Credentials from "@auth/core/providers/credentials";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { createSchema, createYoga } from "graphql-yoga";
import { Hono } from "hono";
import { setCookie } from "hono/cookie";
import { expect, it, onTestFinished } from "vitest";
import { Path, Returns, Route, get } from "usher-http";
import { start } from "../../support/node-server.ts";

it("mounts an app of Hono, with its cookies and its own paths", async () => {
  const hono = new Hono()
    .get("/", (c) => c.text("root"))
    .get("/items/:id", (c) => {
      setCookie(c, "a", "1");
      setCookie(c, "b", "2", { httpOnly: true });
      return c.json({ id: c.req.param("id") });
    })
    .post("/items", async (c) => c.json(await c.req.json(), 201));
  const { port } = await start([
    Route.mount(Path.of("legacy"), (request) => hono.fetch(request), { stripPrefix: true }),
    get(Path.of("legacy", "moved"), { returns: Returns.text }, () => "moved"),
  ]);
  const url = `http://127.0.0.1:${port}/legacy`;
  expect(await (await fetch(url)).text()).toBe("root");
  const item = await fetch(`${url}/items/a%20b`);
  expect([await item.json(), item.headers.getSetCookie()]).toEqual([
    { id: "a b" },
    ["a=1; Path=/", "b=2; Path=/; HttpOnly"],
  ]);
  const made = await fetch(`${url}/items`, { method: "POST", body: '{"n":1}' });
  expect([made.status, await made.json()]).toEqual([201, { n: 1 }]);
  expect((await fetch(`${url}/none`)).status).toBe(404);
  expect(await (await fetch(`${url}/moved`)).text()).toBe("moved");
});

it("mounts GraphQL Yoga: a query, and a subscription as events", async () => {
  const schema = createSchema({
    typeDefs: "type Query { hello(name: String!): String! } type Subscription { count(to: Int!): Int! }",
    resolvers: {
      Query: { hello: (_: unknown, { name }: { name: string }) => `Hello, ${name}.` },
      Subscription: {
        count: {
          async *subscribe(_: unknown, { to }: { to: number }) {
            for (let n = 1; n <= to; n++) yield { count: n };
          },
        },
      },
    },
  });
  const yoga = createYoga({ schema, graphqlEndpoint: "/graphql", logging: false });
  const { port } = await start([
    Route.mount(Path.of("graphql"), (request) => yoga.fetch(request) as Promise<Response>),
  ]);
  const ask = (query: string, accept: string) =>
    fetch(`http://127.0.0.1:${port}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", accept },
      body: JSON.stringify({ query }),
    });
  const hello = await ask('{ hello(name: "Ada") }', "application/json");
  expect(await hello.json()).toEqual({ data: { hello: "Hello, Ada." } });
  const events = await (await ask("subscription { count(to: 3) }", "text/event-stream")).text();
  expect(events.match(/"count":\d/g)).toEqual(['"count":1', '"count":2', '"count":3']);
});

it("mounts Auth.js: its providers, a sign-in by credentials, and the session", async () => {
  const provider = Credentials({
    credentials: { name: {} },
    authorize: ({ name }) => (name === "ada" ? { id: "1", name: "Ada" } : null),
  });
  const config: AuthConfig = {
    basePath: "/auth",
    secret: "of a test alone, and long enough for it",
    trustHost: true,
    providers: [provider],
    skipCSRFCheck,
    logger: { error: () => {}, warn: () => {}, debug: () => {} },
  };
  const { port } = await start([Route.mount(Path.of("auth"), (request) => Auth(request, config))]);
  const url = `http://127.0.0.1:${port}/auth`;
  expect(await (await fetch(`${url}/providers`)).json()).toHaveProperty("credentials");
  const signIn = (name: string) =>
    fetch(`${url}/callback/credentials`, { method: "POST", redirect: "manual", body: new URLSearchParams({ name }) });
  const refused = await signIn("eve");
  expect([refused.status, refused.headers.get("location")]).toEqual([302, expect.stringContaining("error=")]);
  const answer = await signIn("ada");
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  expect(cookie).toContain("session-token");
  expect(await (await fetch(`${url}/session`, { headers: { cookie } })).json()).toMatchObject({
    user: { name: "Ada" },
  });
});

it("mounts a tus server: an upload in two parts", async () => {
  const directory = mkdtempSync(join(tmpdir(), "usher-tus-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const tus = new Server({ path: "/files", datastore: new FileStore({ directory }) });
  const { port } = await start([
    Route.mount(Path.of("files"), (request) => tus.handleWeb(request), { maxBody: 1 << 30 }),
  ]);
  const tusResumable = { "tus-resumable": "1.0.0" };
  const made = await fetch(`http://127.0.0.1:${port}/files`, {
    method: "POST",
    headers: { ...tusResumable, "upload-length": "2000000" },
  });
  expect(made.status).toBe(201);
  const location = new URL(made.headers.get("location") ?? "", `http://127.0.0.1:${port}`);
  location.port = String(port);
  for (const [offset, after] of [
    [0, 1_000_000],
    [1_000_000, 2_000_000],
  ] as const) {
    const sent = await fetch(location, {
      method: "PATCH",
      headers: { ...tusResumable, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
      body: new Uint8Array(1_000_000),
    });
    expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, String(after)]);
    const seen = await fetch(location, { method: "HEAD", headers: tusResumable });
    expect([seen.status, seen.headers.get("upload-offset")]).toEqual([200, String(after)]);
  }
});
