/** The pages for users of other frameworks: both programs of a page answer the same requests alike. */
import type { RequestListener } from "node:http";
import { describe, expect, it } from "vitest";
import { Path, Returns, Test, get, post, setCookie } from "usher-http";
import type { Dep, SetCookie } from "usher-http";
import { serverOfTest } from "../support/http-server.ts";
import { openGuide } from "./project.ts";
import type { Guide } from "./project.ts";

interface Fetching {
  readonly app: { readonly fetch: (request: Request) => Response | Promise<Response> };
}

type Answer = (request: Request) => Response | Promise<Response>;

const requests: readonly (readonly [method: string, path: string, body: unknown, status: number, member: object])[] = [
  ["GET", "/orders/1", undefined, 200, { id: 1, item: "pen" }],
  ["GET", "/orders/9", undefined, 404, { error: "not_found" }],
  ["GET", "/orders/x", undefined, 400, { error: "invalid" }],
  ["POST", "/orders", { item: "ink" }, 201, { id: 2, item: "ink" }],
  ["POST", "/orders", { item: "unicorn" }, 409, { error: "sold_out" }],
  ["POST", "/orders", { item: 7 }, 400, { error: "invalid" }],
];

async function compare(answer: Answer): Promise<void> {
  for (const [method, path, body, status, member] of requests) {
    const given =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answered = await answer(new Request(`http://localhost${path}`, { method, ...given }));
    expect([method, path, answered.status, await answered.json()]).toEqual([
      method,
      path,
      status,
      expect.objectContaining(member),
    ]);
  }
}

/** A guide with the program of Usher, which the page for users of Express has for all three. */
function withUsher(page: string): Guide {
  const guide = openGuide(page);
  const [, program = ""] = /```ts\n\/\/ usher\.ts\n([^]*?)```/.exec(openGuide("from-express").text) ?? [];
  guide.write("usher.ts", program);
  return guide;
}

describe("from Hono", () => {
  const guide = withUsher("from-hono");
  it.each(["hono.ts", "usher.ts"])("%s answers like the other", async (file) => {
    const { app } = await guide.load<Fetching>(file);
    await compare((request) => app.fetch(request));
  });

  it("one passes other requests to the other", async () => {
    const { app } = await guide.load<Fetching>("both.ts");
    const statuses = ["/orders/1", "/v2/orders/1", "/nowhere"].map(async (path) => {
      const { status, headers } = await app.fetch(new Request(`http://localhost${path}`));
      return [status, headers.has("x-request-id")];
    });
    expect(await Promise.all(statuses)).toEqual([
      [200, false],
      [200, true],
      [404, true],
    ]);
  });
});

/** What a server of Node's answers. */
async function listening(listener: RequestListener): Promise<Answer> {
  const { url } = await serverOfTest(listener);
  return async (request) => {
    const { pathname } = new URL(request.url);
    const body = request.body === null ? {} : { body: await request.text() };
    return fetch(`${url}${pathname}`, { method: request.method, headers: request.headers, ...body });
  };
}

/** Which of the two frameworks answered: Usher gives every answer an id. */
async function answeredBy(answer: Answer): Promise<readonly (readonly [status: number, framework: string])[]> {
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"item":"ink"}' };
  const asked = [new Request("http://localhost/orders/1"), new Request("http://localhost/orders", post)];
  return Promise.all(
    asked.map(async (request) => {
      const { status, headers } = await answer(request);
      return [status, headers.has("x-request-id") ? "usher" : "other"] as const;
    }),
  );
}

describe("from Express", () => {
  const guide = openGuide("from-express");

  it("both programs answer the same", async () => {
    const express = await guide.load<{ app: RequestListener }>("express.ts");
    await compare(await listening(express.app));
    const usher = await guide.load<Fetching>("usher.ts");
    await compare((request) => usher.app.fetch(request));
  });

  it("one passes the migrated routes to the other", async () => {
    const { app } = await guide.load<{ app: RequestListener }>("both.ts");
    expect(await answeredBy(await listening(app))).toEqual([
      [200, "other"],
      [201, "usher"],
    ]);
  });
});

describe("from Express: what clients of the old service see", () => {
  const guide = openGuide("from-express");
  const type = (name: string) => ({ "content-type": name });
  const [json, form] = [type("application/json"), type("application/x-www-form-urlencoded")];
  const charset = "application/json; charset=utf-8";

  it.each([
    ["POST", "/login", json, '{"user":"ada","password":"secret"}', 200, { user: "ada" }],
    ["POST", "/login", form, "user=ada&password=secret", 200, { user: "ada" }],
    ["POST", "/login", form, "user=ada", 401, { error: { code: "BAD_CREDENTIALS", fields: {} } }],
    ["POST", "/login", json, "{", 400, { error: { code: "VALIDATION", fields: { body: "This is not JSON." } } }],
    ["PUT", "/login", json, "{}", 404, { error: { code: "NOT_FOUND", fields: {} } }],
    ["POST", "/nowhere", json, "{}", 404, { error: { code: "NOT_FOUND", fields: {} } }],
  ])("%s %s with %j and %s is %i", async (method, path, headers, body, status, expected) => {
    const { app } = await guide.load<Fetching>("as-before.ts");
    const answer = await app.fetch(new Request(`http://localhost${path}`, { method, headers, body }));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, charset]);
    expect(answer.headers.has("www-authenticate")).toBe(false);
    expect(await answer.json()).toMatchObject(expected);
  });

  // As cookie-session 2.1 sends them, with the key of the page.
  const cookies = ["session=eyJ1c2VyIjoiYWRhIn0=", "session.sig=j2ZuKGbuN2sf3ztz-D9v_LygZAc"];
  interface OldSession {
    readonly session: Dep<{ readonly user?: unknown }>;
    readonly signIn: (setCookie: (cookie: SetCookie) => void, user: string) => void;
  }
  const open = async () => {
    const { session, signIn } = await guide.load<OldSession>("old-session.ts");
    return Test.app([
      get(Path.root, { inputs: { session }, returns: Returns.text }, ({ session }) => String(session.user)),
      post(Path.root, { inputs: { setCookie }, returns: Returns.empty() }, ({ setCookie }) => signIn(setCookie, "ada")),
    ]);
  };

  it.each([
    ["the cookies", cookies.join("; "), "ada"],
    ["another signature", `${cookies[0]}; session.sig=${"A".repeat(27)}`, "undefined"],
    ["a short signature", `${cookies[0]}; session.sig=A`, "undefined"],
    ["no signature", `${cookies[0]}`, "undefined"],
  ])("reads of %s of cookie-session who is signed in", async (_which, cookie, user) => {
    expect((await Test.call(await open(), "GET", "/", { headers: { cookie } })).body).toBe(user);
  });

  it("sets the cookies of cookie-session", async () => {
    const { headers } = await Test.call(await open(), "POST", "/");
    expect(headers.getSetCookie().map((line) => line.split(";")[0])).toEqual(cookies);
  });
});

describe("from Fastify", () => {
  const guide = withUsher("from-fastify");
  interface Fastify {
    readonly app: { readonly ready: () => Promise<void>; readonly routing: RequestListener };
  }

  it("both programs answer the same", async () => {
    const { app } = await guide.load<Fastify>("fastify.ts");
    await app.ready();
    await compare(await listening(app.routing));
    const usher = await guide.load<Fetching>("usher.ts");
    await compare((request) => usher.app.fetch(request));
  });

  it("one passes the migrated routes to the other", async () => {
    // The app of the test above is complete: its hooks are added to a second one.
    const second = withUsher("from-fastify");
    const { app } = await second.load<Fastify>("both.ts");
    await app.ready();
    expect(await answeredBy(await listening(app.routing))).toEqual([
      [200, "other"],
      [201, "usher"],
    ]);
  });
});

describe("from FastAPI", () => {
  it("the program answers the same requests, and serves an API document", async () => {
    const { app } = await openGuide("from-fastapi").load<Fetching>("usher.ts");
    await compare((request) => app.fetch(request));
    const page = await app.fetch(new Request("http://localhost/orders?limit=1&offset=1"));
    expect(await page.json()).toEqual([{ id: 2, item: "ink" }]);
    expect((await app.fetch(new Request("http://localhost/orders?limit=101"))).status).toBe(400);
    const document = await app.fetch(new Request("http://localhost/openapi.json"));
    expect(await document.json()).toMatchObject({ info: { title: "Orders" } });
  });
});
