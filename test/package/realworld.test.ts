/** The RealWorld example, from the packed package, on PostgreSQL: by the API's specification, and by its public collection. */
import { readFileSync } from "node:fs";
import { SignJWT } from "jose";
import { Client } from "usher-http";
import type { Openapi } from "usher-http";
import { afterAll, describe, expect, it } from "vitest";
import type { routes } from "../../examples/realworld/conduit.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { runCollection } from "../support/postman.ts";
import type { Collection } from "../support/postman.ts";
import { callEveryOperation } from "./realworld-agent.ts";
import { installRealWorld, jwtSecret } from "./realworld.ts";
import type { Runtime } from "./realworld.ts";
import type { RunningExample } from "./start-example.ts";
import { rows } from "../support/wide.ts";

/** `api/Conduit.postman_collection.json` of the repository `gothinkster/realworld`, which is not kept here. */
const collection = process.env["CONDUIT_COLLECTION"];

const postgres = await startPostgres();
const sql = observer(postgres);
const example = installRealWorld();
afterAll(() => example.remove());

it("compiles from the packed package, and so do its declarations", async () => {
  expect(await example.compile()).toBe("");
});

const runtimes = rows<Runtime>(["node"], ["bun", "deno"]);
const worlds = await Promise.all(runtimes.map(async (runtime) => [runtime, await open(runtime)] as const));
const opened = Object.fromEntries(worlds) as { readonly [R in Runtime]: World };

describe.each(runtimes)("the RealWorld example on %s", (runtime) => {
  const { server, bob, nobody } = opened[runtime];

  it.skipIf(collection === undefined)("passes the public collection", async () => {
    const [USERNAME, EMAIL, PASSWORD] = ["u1", "u1@mail.example", "password"];
    const variables = { APIURL: `${server.url}/api`, USERNAME, EMAIL, PASSWORD };
    const all = await runCollection(JSON.parse(readFileSync(collection ?? "", "utf8")) as Collection, variables);
    expect(all.filter(({ holds }) => !holds)).toEqual([]);
    // At commit 03f2a04bc7048862bf6f859b1f3760ab535bf1b9.
    expect(all).toHaveLength(318);
  });

  it("is ready, and serves its API document", async () => {
    expect(await (await fetch(`${server.url}/readyz`)).text()).toBe("ok");
    expect(await (await fetch(`${server.url}/docs`)).text()).toContain("<title>Conduit");
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Openapi.Document;
    expect(document).toMatchObject({
      paths: { "/api/articles/{slug}/favorite": { post: { security: [{ token: [] }] } } },
      components: { schemas: { Errors: { required: ["errors"] } } },
    });
  });

  it("registers a user once, and signs in a user with the right password", async () => {
    const password = "correct horse";
    const taken = await Promise.all([
      nobody["POST /api/users"]({ json: { user: { email: "ann@mail.example", username: "ann 2", password } } }),
      nobody["POST /api/users"]({ json: { user: { email: "ann2@mail.example", username: "ann", password } } }),
    ]);
    expect(taken.map(({ status, ...rest }) => [status, "message" in rest && rest.message])).toEqual([
      [422, "Another user has that email."],
      [422, "Another user has that username."],
    ]);
    const login = (email: string, password: string) =>
      nobody["POST /api/users/login"]({ json: { user: { email, password } } });
    const signedIn = await login("ann@mail.example", password);
    const user = { email: "ann@mail.example", username: "ann", bio: "", image: "", token: expect.any(String) };
    expect(signedIn.ok && signedIn.value).toEqual({ user });
    expect(await login("ann@mail.example", "wrong")).toMatchObject({ ok: false, status: 401 });
    const unknown = await login("nobody@mail.example", password);
    expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([401, 'Token realm="conduit"']);
  });

  it("changes the given fields of a user, and refuses those of another user", async () => {
    const changed = await bob["PUT /api/user"]({
      json: { user: { bio: "Reads.", image: "https://mail.example/b.png" } },
    });
    const user = { username: "bob", email: "bob@mail.example", bio: "Reads.", image: "https://mail.example/b.png" };
    expect(changed).toMatchObject({ ok: true, value: { user } });
    expect(await bob["GET /api/user"]()).toMatchObject({ ok: true, value: { user } });
    expect(await bob["PUT /api/user"]({ json: { user: { email: "ann@mail.example" } } })).toMatchObject({
      status: 422,
    });
    expect(await bob["GET /api/user"]()).toMatchObject({ ok: true, value: { user } });
  });

  it("stores the users that a user follows", async () => {
    const path = { username: "ann" };
    const profiles = [
      await bob["GET /api/profiles/{username}"]({ path }),
      await bob["POST /api/profiles/{username}/follow"]({ path }),
      await bob["POST /api/profiles/{username}/follow"]({ path }),
      await bob["GET /api/profiles/{username}"]({ path }),
      await nobody["GET /api/profiles/{username}"]({ path }),
      await bob["DELETE /api/profiles/{username}/follow"]({ path }),
    ];
    const following = profiles.map((outcome) => outcome.ok && outcome.value.profile.following);
    expect(following).toEqual([false, true, true, true, false, false]);
    const unknown = { path: { username: "no one" } };
    expect(await bob["POST /api/profiles/{username}/follow"](unknown)).toMatchObject({ status: 404 });
    expect(await nobody["GET /api/profiles/{username}"](unknown)).toMatchObject({ status: 404 });
  });
});

describe.each(runtimes)("the articles of the RealWorld example on %s", (runtime) => {
  const { ann, bob, nobody } = opened[runtime];

  it("are listed by tag, author and favorite, in pages, and in the feed of followed users", async () => {
    for (const title of ["One", "Two", "Three"]) await written(ann, title, ["paging"]);
    const other = await written(bob, "Four", ["paging", "bob's"]);
    await ann["POST /api/articles/{slug}/favorite"]({ path: { slug: other } });
    await bob["POST /api/profiles/{username}/follow"]({ path: { username: "ann" } });
    const page = (outcome: Awaited<ReturnType<Api["GET /api/articles"]>>) =>
      outcome.ok && [outcome.value.articles.map(({ title }) => title), outcome.value.articlesCount];
    const list = async (query: object) =>
      page(await nobody["GET /api/articles"]({ query: { tag: "paging", ...query } }));
    expect(await list({})).toEqual([["Four", "Three", "Two", "One"], 4]);
    expect(await list({ limit: 2, offset: 1 })).toEqual([["Three", "Two"], 4]);
    expect(await list({ offset: 9 })).toEqual([[], 4]);
    expect(await list({ author: "ann" })).toEqual([["Three", "Two", "One"], 3]);
    expect(await list({ favorited: "ann" })).toEqual([["Four"], 1]);
    expect(await list({ favorited: "bob" })).toEqual([[], 0]);
    expect(await list({ tag: "bob's" })).toEqual([["Four"], 1]);
    expect(await list({ tag: "no such" })).toEqual([[], 0]);
    const [first, ...rest] = [await bob["GET /api/articles/feed"]({ query: { limit: 1 } })];
    expect([page(first), rest]).toEqual([[["Three"], 3], []]);
    const tags = await nobody["GET /api/tags"]();
    expect(tags.ok && tags.value.tags.filter((tag) => ["bob's", "paging"].includes(tag))).toEqual(["bob's", "paging"]);
  });

  it("are changed and removed only by their author", async () => {
    const path = { slug: await written(ann, "How to Train: “Drachen”!", ["b", "a", "b"]) };
    const found = await bob["GET /api/articles/{slug}"]({ path });
    expect(found.ok && found.value.article).toEqual({
      slug: path.slug,
      title: "How to Train: “Drachen”!",
      description: "d",
      body: "b",
      tagList: ["a", "b"],
      createdAt: instant,
      updatedAt: instant,
      favorited: false,
      favoritesCount: 0,
      author: { username: "ann", bio: "", image: "", following: expect.any(Boolean) },
    });
    expect(path.slug).toMatch(/^how-to-train-drachen-[0-9a-f]{8}$/);
    const json = { article: { title: "Done", body: "With two hands" } };
    expect(await bob["PUT /api/articles/{slug}"]({ path, json })).toMatchObject({ status: 403 });
    expect(await bob["DELETE /api/articles/{slug}"]({ path })).toMatchObject({ status: 403 });
    const changed = await ann["PUT /api/articles/{slug}"]({ path, json });
    if (!changed.ok) throw new Error(changed.message);
    const { article } = changed.value;
    expect(article).toMatchObject({ title: "Done", body: "With two hands", description: "d", tagList: ["a", "b"] });
    expect(article.slug).toMatch(/^done-/);
    expect(Date.parse(article.updatedAt)).toBeGreaterThanOrEqual(Date.parse(article.createdAt));
    expect(await ann["GET /api/articles/{slug}"]({ path })).toMatchObject({ status: 404 });
    const now = { path: { slug: article.slug } };
    expect(await ann["DELETE /api/articles/{slug}"](now)).toMatchObject({ ok: true, status: 200 });
    expect(await nobody["GET /api/articles/{slug}"](now)).toMatchObject({ status: 404 });
    expect(await ann["DELETE /api/articles/{slug}"](now)).toMatchObject({ status: 404 });
  });
});

describe.each(runtimes)("favorites and comments in the RealWorld example on %s", (runtime) => {
  const { ann, bob, nobody } = opened[runtime];

  it("are counted once for each user", async () => {
    const path = { slug: await written(ann, "Loved") };
    expect(await nobody["POST /api/articles/{slug}/favorite"]({ path })).toMatchObject({ status: 401 });
    const answers = [
      await ann["POST /api/articles/{slug}/favorite"]({ path }),
      await ann["POST /api/articles/{slug}/favorite"]({ path }),
      await bob["POST /api/articles/{slug}/favorite"]({ path }),
      await nobody["GET /api/articles/{slug}"]({ path }),
      await ann["DELETE /api/articles/{slug}/favorite"]({ path }),
    ];
    const seen = answers.map(({ ok, ...rest }) => ok && "value" in rest && rest.value.article);
    expect(seen).toMatchObject([
      { favorited: true, favoritesCount: 1 },
      { favorited: true, favoritesCount: 1 },
      { favorited: true, favoritesCount: 2 },
      { favorited: false, favoritesCount: 2 },
      { favorited: false, favoritesCount: 1 },
    ]);
  });

  it("are removed only by their author", async () => {
    const path = { slug: await written(ann, "Discussed") };
    for (const body of ["First!", "Second."]) {
      await bob["POST /api/articles/{slug}/comments"]({ path, json: { comment: { body } } });
    }
    const listed = await nobody["GET /api/articles/{slug}/comments"]({ path });
    if (!listed.ok) throw new Error(listed.message);
    const author = { username: "bob", bio: expect.any(String), image: expect.any(String), following: false };
    const { comments } = listed.value;
    const times = { createdAt: instant, updatedAt: instant };
    expect(comments).toEqual([
      { id: expect.any(Number), body: "First!", ...times, author },
      { id: expect.any(Number), body: "Second.", ...times, author },
    ]);
    const first = { ...path, id: comments[0]?.id ?? 0 };
    const elsewhere = { ...first, slug: await written(bob, "Elsewhere") };
    const remove = "DELETE /api/articles/{slug}/comments/{id}";
    expect(await ann[remove]({ path: first })).toMatchObject({ status: 403 });
    expect(await bob[remove]({ path: elsewhere })).toMatchObject({ status: 404 });
    expect(await bob[remove]({ path: { ...first, id: 2 ** 31 } })).toMatchObject({ status: wrong });
    expect(await bob[remove]({ path: first })).toMatchObject({ ok: true, status: 200 });
    expect(await bob[remove]({ path: first })).toMatchObject({ status: 404 });
    const left = await nobody["GET /api/articles/{slug}/comments"]({ path });
    expect(left.ok && left.value.comments.map(({ body }) => body)).toEqual(["Second."]);
    const gone = { path: { slug: "no such" } };
    expect(await nobody["GET /api/articles/{slug}/comments"](gone)).toMatchObject({ status: 404 });
  });

  it("are refused, and never fail, when their article is removed concurrently", async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 10; round++) {
      const slug = await written(ann, "Short-lived");
      // No more at once than the pool has connections: none of them waits for one.
      const answered = await Promise.all([
        bob["POST /api/articles/{slug}/favorite"]({ path: { slug } }),
        bob["POST /api/articles/{slug}/comments"]({ path: { slug }, json: { comment: { body: "First!" } } }),
        ann["DELETE /api/articles/{slug}"]({ path: { slug } }),
      ]);
      for (const { status } of answered) statuses.add(status);
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 404)).toEqual([]);
  });
});

describe.each(runtimes)("the refusals of the RealWorld example on %s", (runtime) => {
  const { server, ann } = opened[runtime];

  it("cover invalid values, and values that its database cannot store", async () => {
    const nul = { user: { bio: "\0" } };
    expect(await ann["PUT /api/user"]({ json: nul })).toMatchObject({ ok: false, status: wrong });
    for (const path of [
      "articles/%00",
      "profiles/%00",
      "articles?tag=%00",
      "articles?limit=101",
      "articles?offset=-1",
      "articles?offset=2147483648",
    ]) {
      expect([path, (await fetch(`${server.url}/api/${path}`)).status]).toEqual([path, wrong]);
    }
    const long = { title: "ü".repeat(200), description: "ü".repeat(1000), body: "ü".repeat(20_000) };
    expect(await ann["POST /api/articles"]({ json: { article: long } })).toMatchObject({ ok: true });
    for (const [name, value] of Object.entries(long)) {
      const longer = await ann["POST /api/articles"]({ json: { article: { ...long, [name]: `${value}ü` } } });
      expect([name, longer]).toMatchObject([name, { ok: false, status: wrong }]);
    }
  });

  it("is in RealWorld's format, for a refusal of a route or of the framework", async () => {
    const type = { "content-type": "application/json" };
    const json = (body: string) => ({ method: "POST", headers: type, body });
    const rows: readonly [path: string, init: RequestInit, status: number, body: readonly string[]][] = [
      [
        "users",
        json('{"user":{"email":"x","username":"","password":"short"}}'),
        422,
        [
          "body.user.email: This must be an email address, like lee@example.com.",
          "body.user.username: This must be at least 1 character long.",
          "body.user.password: This must be at least 8 characters long.",
        ],
      ],
      ["users", json("{"), 422, ["body: This is not JSON."]],
      ["users", { method: "POST", body: "x" }, 415, ["That request's body is not in a form this can read."]],
      ["user", {}, 401, ["Please sign in."]],
      ["articles/no-such", {}, 404, ["There is nothing here."]],
      ["no-such", {}, 404, ["There is nothing here."]],
      ["tags", { method: "POST" }, 405, ["That is not something you can do here."]],
      ["users", json(" ".repeat(2 ** 20 + 1)), 413, ["That request is too large."]],
    ];
    for (const [path, init, status, body] of rows) {
      const response = await fetch(`${server.url}/api/${path}`, init);
      const seen = [path, response.status, response.headers.get("content-type"), await response.json()];
      expect(seen).toEqual([path, status, "application/json", { errors: { body } }]);
    }
  });
});

it.each(runtimes)("an agent calls every operation of the RealWorld example on %s", async (runtime) => {
  await callEveryOperation(opened[runtime].server.url);
});

describe.each(runtimes)("the callers of the RealWorld example on %s", (runtime) => {
  const { server } = opened[runtime];

  it("are known by a token of their own, and by no other", async () => {
    const sign = (secret: string, expires: string) => {
      const token = new SignJWT().setProtectedHeader({ alg: "HS256" }).setSubject("1").setExpirationTime(expires);
      return token.sign(new TextEncoder().encode(secret));
    };
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"1","exp":4102444800}')}.`.replaceAll("=", "");
    const right = await sign(jwtSecret, "1 minute");
    const statusOf = async (authorization: string, path: string) =>
      (await fetch(`${server.url}/api/${path}`, { headers: authorization === "" ? {} : { authorization } })).status;
    const rows = [
      ["", 401, 200],
      [`Token ${right}`, 200, 200],
      [`token ${right}`, 200, 200],
      [`Bearer ${right}`, 401, 401],
      [`Token ${await sign(jwtSecret, "1 minute ago")}`, 401, 401],
      [`Token ${await sign("t".repeat(32), "1 minute")}`, 401, 401],
      [`Token ${unsigned}`, 401, 401],
      ["Token x", 401, 401],
      ["Token", 401, 401],
    ] as const;
    for (const row of rows)
      expect([row[0], await statusOf(row[0], "user"), await statusOf(row[0], "articles")]).toEqual(row);
  });

  it("may be a page of another site", async () => {
    const headers = { origin: "https://blog.example", "sec-fetch-site": "cross-site" };
    const asking = { "access-control-request-method": "PUT", "access-control-request-headers": "authorization" };
    const preflight = await fetch(`${server.url}/api/user`, { method: "OPTIONS", headers: { ...headers, ...asking } });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    const sent = await fetch(`${server.url}/api/articles/no-such/favorite`, { method: "POST", headers });
    expect([sent.status, sent.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
  });

  it("cannot guess passwords fast", async () => {
    // A body that does not fit counts too, and costs no hash.
    const guess = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const status = async () => (await fetch(`${server.url}/api/users/login`, guess)).status;
    await expect.poll(status, { interval: 0 }).toBe(429);
  });

  it("are not in its log, nor is any other text of the request", () => {
    expect(server.lines.join("\n")).toContain("POST /api/users");
    const telling = /mail\.example|correct horse|eyJ|"level":"error"/;
    expect(server.lines.filter((line) => telling.test(line))).toEqual([]);
  });
});

/** As ISO 8601 has it, with milliseconds. */
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** The status of a request that does not fit. */
const wrong = 422;

type Api = ReturnType<typeof apiOf>;

/** A running server, and its callers. */
interface World {
  readonly server: RunningExample;
  readonly ann: Api;
  readonly bob: Api;
  readonly nobody: Api;
}

async function open(runtime: Runtime): Promise<World> {
  await sql`create database ${sql(runtime)}`;
  const server = await example.start(runtime, postgres.url(runtime));
  afterAll(() => server.stop());
  const [ann, bob] = await Promise.all([registered(server.url, "ann"), registered(server.url, "bob")]);
  return { server, ann, bob, nobody: apiOf(server.url) };
}

/** RealWorld's format has no code: it is the status. */
async function readRefusal(response: Response): Promise<Client.RefusalRead> {
  const { errors } = (await response.json()) as { readonly errors: { readonly body: readonly string[] } };
  return { error: String(response.status), message: errors.body.join("\n") };
}

function apiOf(baseUrl: string, token?: string) {
  const headers: { [name: string]: string } = token === undefined ? {} : { authorization: `Token ${token}` };
  return Client.of<typeof routes>({ baseUrl, headers, readRefusal });
}

async function registered(baseUrl: string, username: string): Promise<Api> {
  const user = { email: `${username}@mail.example`, username, password: "correct horse" };
  const outcome = await apiOf(baseUrl)["POST /api/users"]({ json: { user } });
  if (!outcome.ok) throw new Error(outcome.message);
  return apiOf(baseUrl, outcome.value.user.token);
}

/** Writes an article. @returns its slug. */
async function written(api: Api, title: string, tagList: readonly string[] = []): Promise<string> {
  const article = { title, description: "d", body: "b", tagList: [...tagList] };
  const outcome = await api["POST /api/articles"]({ json: { article } });
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.value.article.slug;
}
