/** `Route.mount`: a handler of other code at a path and below it. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import {
  App,
  Codec,
  Cors,
  Deadline,
  Cookie,
  Dep,
  Path,
  Proxies,
  Query,
  Refusal,
  Returns,
  Route,
  body,
  get,
  json,
  param,
  post,
  refuse,
  setCookie,
} from "usher-http";
import { http2Ask, http2Client } from "../support/http2-client.ts";
import { start } from "../support/node-server.ts";
import { logged, messages } from "../support/logs.ts";

const echo = async (request: Request) =>
  Response.json({
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  });

const told = async (app: App, url: string, init?: RequestInit) =>
  (await (await app.fetch(new Request(url, init))).json()) as { [name: string]: unknown };

describe("a body that is not read to its end before the answer", () => {
  const late =
    "/{rest*} read its body, the input the mounted request, after its answer had gone, which failed: await each read before the handler returns";
  it.each<readonly [does: string, handler: (request: Request) => unknown, warnings: readonly string[]]>([
    // A clone reads the first part by itself, as its stream is a branch of the body's (Streams, "tee").
    ["clones its request", (request) => request.clone(), []],
    ["clones its request twice", (request) => request.clone().clone(), []],
    ["does not await what it reads", (request) => request.text().catch(() => {}), [late]],
  ])("has its line, or none: a handler that %s", async (_does, handler, warnings) => {
    const mount = Route.mount(Path.root, (request) => {
      handler(request);
      return new Response("answered");
    });
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const asked = new Request("http://h/a", { method: "POST", body, duplex: "half" });
    expect(await (await App.make([mount]).fetch(asked)).text()).toBe("answered");
    expect(messages("warn")).toEqual(warnings);
  });
});

describe("which paths and methods it answers", () => {
  const app = App.make([
    Route.mount(Path.of("auth"), (request) => new Response(`mount ${new URL(request.url).pathname}`)),
    get(Path.of("auth", "me"), { returns: Returns.text }, () => "me"),
    get(Path.of("other"), { returns: Returns.text }, () => "other"),
  ]);
  const rows: readonly (readonly [method: string, path: string, status: number, text: string])[] = [
    ["GET", "/auth", 200, "mount /auth"],
    ["GET", "/auth/", 200, "mount /auth/"],
    ["GET", "/auth/a/b", 200, "mount /auth/a/b"],
    ["GET", "/auth/a/", 200, "mount /auth/a/"],
    ["GET", "/auth/a//b", 200, "mount /auth/a//b"],
    ["GET", "/auth/a%2Fb", 200, "mount /auth/a%2Fb"],
    ["GET", "/auth/%FF", 200, "mount /auth/%FF"],
    ["POST", "/auth/a", 200, "mount /auth/a"],
    ["DELETE", "/auth/a", 200, "mount /auth/a"],
    ["OPTIONS", "/auth/a", 200, "mount /auth/a"],
    ["PROPFIND", "/auth/a", 200, "mount /auth/a"],
    ["GET", "/auth/me", 200, "me"],
    ["POST", "/auth/me", 405, ""],
    ["GET", "/authority", 404, ""],
    ["GET", "/", 404, ""],
    ["PROPFIND", "/other", 501, ""],
  ];
  it.each(rows)("%s %s", async (method, path, status, text) => {
    const answer = await app.fetch(new Request(`http://h${path}`, { method }));
    expect(answer.status).toBe(status);
    if (status === 200) expect(await answer.text()).toBe(text);
  });

  it("answers a HEAD as its GET, without the body", async () => {
    const seen: string[] = [];
    const heads = App.make([
      Route.mount(Path.root, (request) => {
        seen.push(request.method);
        return new Response("text", { headers: { "content-length": "4" } });
      }),
    ]);
    const answer = await heads.fetch(new Request("http://h/a", { method: "HEAD" }));
    expect([seen, answer.headers.get("content-length"), await answer.text()]).toEqual([["HEAD"], "4", ""]);
  });

  it("answers only its methods, and lists them", async () => {
    const some = App.make([Route.mount(Path.of("m"), echo, { methods: ["GET", "PUT"] })]);
    expect((await some.fetch(new Request("http://h/m", { method: "PUT" }))).status).toBe(200);
    const refused = await some.fetch(new Request("http://h/m/x", { method: "POST" }));
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, PUT, HEAD"]);
  });

  it.each(["get", "Head", "post", "options", "trace", "TRACK", "connect"])(
    "does not answer a method that would be another one in its Request: %s",
    async (method) => {
      const { port } = await start([Route.mount(Path.of("m"), echo)], { http2: true });
      const session = await http2Client(`http://127.0.0.1:${port}`);
      const asked = { ":method": method, ":path": "/m" };
      expect((await http2Ask(session, asked, "body")).status).toBe(501);
      expect(await http2Ask(session, { ...asked, ":method": "Patch" }, "body")).toMatchObject({ status: 200 });
    },
  );

  it("is no path of a request whose segments URL would resolve", async () => {
    const { port } = await start([Route.mount(Path.of("auth"), echo), Route.mount(Path.of("admin"), echo)]);
    const paths = ["/auth/../admin", "/auth/%2e%2E/admin", "/auth/.", "/auth/.%2e", "/auth/a/..", "/auth/..\\admin"];
    for (const path of paths) expect([path, await statusOf(port, path)]).toEqual([path, 404]);
    expect(await statusOf(port, "/auth/...")).toBe(200);
    expect(await statusOf(port, "/auth/.well-known")).toBe(200);
  });
});

/** The status of a request whose target is sent as it is. */
function statusOf(port: number, target: string, method = "GET", fields = ""): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: h\r\n${fields}Connection: close\r\n\r\n`);
    });
    socket.on("data", (part) => (text += part));
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(text.split(" ")[1])));
  });
}

describe("the Request", () => {
  it("has the URL, the headers and the body of the client", async () => {
    const app = App.make([Route.mount(Path.of("m"), echo)]);
    const headers = { "x-one": "1", connection: "x-two", "x-two": "2", "keep-alive": "5" };
    const got = await told(app, "http://example.com:81/m/a?b=c&b=%20", { method: "POST", body: "text", headers });
    expect(got).toMatchObject({ method: "POST", url: "http://example.com:81/m/a?b=c&b=%20", body: "text" });
    expect(Object.keys(got["headers"] as object)).toEqual(expect.arrayContaining(["x-one"]));
    expect(Object.keys(got["headers"] as object)).not.toContain("x-two");
    expect(Object.keys(got["headers"] as object)).not.toContain("connection");
  });

  it("has the URL that a trusted proxy was asked for", async () => {
    const app = App.make([Route.mount(Path.of("m"), echo)], { trustedProxies: Proxies.make(["10.0.0.1"]) });
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "shop.example", "x-forwarded-for": "9.9.9.9" };
    const answer = await app.fetch(new Request("http://in/m/a", { headers }), { peer: "10.0.0.1" });
    expect(await answer.json()).toMatchObject({ url: "https://shop.example/m/a" });
  });

  it("has no other path by what a proxy passes on from the client", async () => {
    const app = App.make([Route.mount(Path.of("m"), echo)], { trustedProxies: Proxies.make(["10.0.0.1"]) });
    const seen = async (name: string, value: string) => {
      const request = new Request("http://in/m/a?b", { headers: { [name]: value } });
      return ((await (await app.fetch(request, { peer: "10.0.0.1" })).json()) as { readonly url: string }).url;
    };
    for (const host of ["h/admin", "h/admin?", "h#", "h\\admin", "user:pw@h"])
      expect([host, await seen("x-forwarded-host", host)]).toEqual([host, "http://in/m/a?b"]);
    for (const prefix of ["/..", "/v1/..", "/%2e%2E", "/v1/.", "/v1/%2e/x", "//h", "/v1?", "/v1#"])
      expect([prefix, await seen("x-forwarded-prefix", prefix)]).toEqual([prefix, "http://in/m/a?b"]);
    expect(await seen("x-forwarded-prefix", "/v1/..x/.well-known/")).toBe("http://in/v1/..x/.well-known/m/a?b");
  });

  it("begins below the mount with stripPrefix, wherever a group put that", async () => {
    const mounted = Route.mount(Path.of("m"), echo, { stripPrefix: true });
    const app = App.make([mounted, ...Route.group({ prefix: Path.of("v1", Path.int("n")) }, [mounted])]);
    for (const [path, seen] of [
      ["/m", "/"],
      ["/m/", "/"],
      ["/m/a%20b//c?d", "/a%20b//c?d"],
      ["/v1/7/m/x", "/x"],
    ])
      expect(await told(app, `http://h${path}`)).toMatchObject({ url: `http://h${seen}` });
  });

  it("can be sent on by fetch, body and all", async () => {
    const { port } = await start([Route.mount(Path.root, echo)]);
    const proxy = App.make([
      Route.mount(Path.of("p"), (request) => fetch(new Request(`http://127.0.0.1:${port}/up`, request)), {
        stripPrefix: true,
      }),
    ]);
    const { port: front } = await start(proxy.routes);
    const answer = await fetch(`http://127.0.0.1:${front}/p/x`, { method: "POST", body: "a".repeat(200_000) });
    expect(await answer.json()).toMatchObject({ method: "POST", body: "a".repeat(200_000) });
  });

  it("aborts its signal when the client leaves, and when the deadline passes", async () => {
    const reasons: string[] = [];
    const wait = (request: Request) =>
      new Promise<Response>((_resolve, reject) => {
        request.signal.addEventListener("abort", () => {
          reasons.push((request.signal.reason as Error).name);
          reject(request.signal.reason as Error);
        });
      });
    const app = App.make([Route.mount(Path.root, wait)], { deadline: Deadline.make(50) });
    expect((await app.fetch(new Request("http://h/a"))).status).toBe(503);
    const leaving = new AbortController();
    const answer = app.fetch(new Request("http://h/a", { signal: leaving.signal }));
    leaving.abort();
    await answer;
    await expect.poll(() => reasons.length).toBe(2);
  });

  it("aborts what was made of it, also where its handler has answered with a body that continues", async () => {
    const made: Request[] = [];
    const app = App.make([
      Route.mount(Path.root, (request) => {
        made.push(new Request(request));
        return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
      }),
    ]);
    const leaving = new AbortController();
    const answer = await app.fetch(new Request("http://h/a", { signal: leaving.signal }));
    expect([answer.status, made.map(({ signal }) => signal.aborted)]).toEqual([200, [false]]);
    leaving.abort();
    await expect.poll(() => made.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe("what comes before the handler", () => {
  it("refuses what does not fit its inputs, and gives it their values", async () => {
    const tenant = Path.int("tenant");
    const who = Query.required("page", v.pipe(v.string(), v.minLength(2)));
    const app = App.make([
      Route.mount(Path.of("t", tenant), (_request, { id, who }) => Response.json({ id, who }), {
        inputs: { id: param(tenant), who },
      }),
    ]);
    expect(await told(app, "http://h/t/7/x?page=ab")).toEqual({ id: 7, who: "ab" });
    const refused = await app.fetch(new Request("http://h/t/x/x?page=a"));
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { problems: unknown[] }).problems).toHaveLength(2);
  });

  it("refuses a page of another site", async () => {
    const app = App.make([Route.mount(Path.root, echo)]);
    const headers = { origin: "https://evil.example" };
    expect((await app.fetch(new Request("http://h/a", { method: "POST", headers }))).status).toBe(403);
  });

  it.each([true, false])("answers 413 for a body past the limit, with its length known: %s", async (isKnown) => {
    const called: string[] = [];
    const routes = [
      Route.mount(
        Path.root,
        async (request) => {
          called.push("begun");
          // As a library does that answers every error by itself.
          return new Response(await request.text().catch(() => "caught"));
        },
        { maxBody: 10 },
      ),
    ];
    const { port } = await start(routes);
    const long = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("a".repeat(20)));
        controller.close();
      },
    });
    const send = (body: string | ReadableStream) =>
      fetch(`http://127.0.0.1:${port}/a`, { method: "POST", body, duplex: "half" });
    expect((await send(isKnown ? "a".repeat(20) : long)).status).toBe(413);
    expect(called).toEqual(isKnown ? [] : ["begun"]);
    expect((await send("a".repeat(10))).status).toBe(200);
  });

  it("takes the app's maxBody where it has none", async () => {
    const app = App.make([Route.mount(Path.root, echo)], { maxBody: 5 });
    expect((await app.fetch(new Request("http://h/a", { method: "POST", body: "123456" }))).status).toBe(413);
  });

  it("refuses a WebSocket with a line that says what to do", async () => {
    const { port } = await start([Route.mount(Path.of("m"), echo)]);
    const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const fields = `Connection: Upgrade\r\nUpgrade: websocket\r\n${key}`;
    expect(await statusOf(port, "/m/socket", "GET", fields)).toBe(501);
    expect(logged().join("")).toContain("a mount opens no WebSocket");
  });
});

describe("a CORS preflight", () => {
  const handler = ({ method }: Request) =>
    new Response(method, { status: method === "OPTIONS" ? 404 : 200, headers: { "x-by": "handler" } });
  const mounted = Route.mount(Path.of("m"), handler);
  const apart = Route.mount(Path.of("apart"), handler);
  const exact = post(Path.of("m", "exact"), { returns: Returns.text }, () => "");
  const cors = Cors.make({ origins: ["https://shop.example"], routes: [mounted, exact] });
  const app = App.make([mounted, apart, exact], { cors });
  const rows = [
    ["of every method", "/m/x", "https://shop.example", "PUT", 204, "PUT"],
    ["of another method", "/m", "https://shop.example", "PROPFIND", 204, "PROPFIND"],
    ["of a HEAD", "/m", "https://shop.example", "HEAD", 204, "HEAD"],
    ["of a method that no Request has", "/m", "https://shop.example", "TRACE", 404, null],
    ["of no method", "/m", "https://shop.example", "a b", 404, null],
    ["of an origin that only the handler may know", "/m", "https://other.example", "PUT", 404, null],
    ["of a mount that the policy leaves out", "/apart", "https://shop.example", "PUT", 404, null],
    ["of a route below the mount", "/m/exact", "https://shop.example", "PUT", 204, "POST"],
  ] as const;
  it.each(rows)("%s", async (_what, path, origin, method, status, methods) => {
    const headers = { origin, "access-control-request-method": method };
    const answer = await app.fetch(new Request(`http://h${path}`, { method: "OPTIONS", headers }));
    expect([answer.status, answer.headers.get("access-control-allow-methods")]).toEqual([status, methods]);
    expect(answer.headers.get("x-by")).toBe(status === 204 ? null : "handler");
  });
});

describe("the Response", () => {
  const down = Refusal.code("upstream_down", { status: 502, doc: "The other server does not answer." });

  it("goes out whole: status, each cookie line, its headers; with what the inputs set", async () => {
    const add = Dep.map(setCookie, (set) => set(Cookie.make(Cookie.named("own", Codec.string), "1")));
    const other = () => {
      const headers = new Headers({ date: "Mon, 01 Jan 2001 00:00:00 GMT", "x-a": "b", "x-request-id": "theirs" });
      headers.append("set-cookie", "a=1; Path=/; HttpOnly");
      headers.append("set-cookie", "b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT");
      return new Response("made", { status: 201, headers });
    };
    const { port } = await start([Route.mount(Path.root, other, { inputs: { add } })]);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect([answer.status, await answer.text(), answer.headers.get("x-a")]).toEqual([201, "made", "b"]);
    expect(answer.headers.getSetCookie().map((line) => line.split(";")[0])).toEqual(["a=1", "b=2", "own=1"]);
    expect(answer.headers.get("date")).not.toContain("2001");
    expect(answer.headers.get("date")).not.toContain(", 0");
    expect(answer.headers.get("x-request-id")).not.toContain("theirs");
  });

  it("may be a refusal of a declared code", async () => {
    const app = App.make([Route.mount(Path.root, () => refuse(down), { refuses: [down] })]);
    const answer = await app.fetch(new Request("http://h/a"));
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: "upstream_down" }]);
  });

  const used = new Response("used");
  void used.text();
  const locked = new Response("locked");
  locked.body?.getReader();
  const wrong: readonly (readonly [what: string, handler: () => unknown, line: string])[] = [
    ["nothing", () => undefined, "a mount whose handler returned undefined"],
    ["a text", () => "text", "a mount whose handler returned a string"],
    ["one that is read", () => used, "a Response whose body is read already"],
    ["one that is being read", () => locked, "a Response whose body other code reads"],
    [
      "a 101",
      () => Object.defineProperty(new Response(""), "status", { value: 101 }),
      "a Response of status 101: only a route with Returns.websocket",
    ],
    ["an error", () => Response.error(), "0, which is not a final status"],
    ["an exception", () => Promise.reject(new TypeError("secret")), "TypeError"],
    [
      "bytes that no header can hold",
      () => new Response("", { headers: { "x-a": "a\u0001b" } }),
      'a header that cannot be written: \\"x-a',
    ],
    [
      "a value that is not ASCII",
      () => new Response("", { headers: { "x-a": "caf\u00e9" } }),
      'a header that cannot be written: \\"x-a\\": its value has a line break, a control character or what is not ASCII: percent-encode it, or',
    ],
  ];
  it.each(wrong)("is a 500 with its reason in the log: %s", async (_what, handler, line) => {
    const app = App.make([Route.mount(Path.root, handler as () => Response)]);
    expect((await app.fetch(new Request("http://h/a"))).status).toBe(500);
    expect(logged().join("")).toContain(line);
    expect(logged().join("")).not.toContain("secret");
  });

  it("may come by a thenable, whose `then` runs once, as that of a query builder does its work", async () => {
    let runs = 0;
    const lazy = () => ({
      then(settle: (response: Response) => void) {
        runs++;
        setTimeout(() => settle(new Response(`run ${runs}`)), 1);
      },
    });
    // A promise ignores what is thrown after it was settled.
    const settled = () => ({
      then(settle: (response: Response) => void) {
        settle(new Response("settled"));
        throw new Error("late");
      },
    });
    const app = App.make([
      Route.mount(Path.of("lazy"), lazy as never),
      Route.mount(Path.of("settled"), settled as never),
    ]);
    expect(await (await app.fetch(new Request("http://h/lazy"))).text()).toBe("run 1");
    expect(runs).toBe(1);
    expect(await (await app.fetch(new Request("http://h/settled"))).text()).toBe("settled");
  });

  it("is cut where its stream fails, and the server answers the next", async () => {
    const broken = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new TextEncoder().encode("part"));
            controller.error(new Error("broken"));
          },
        }),
      );
    const { port } = await start([Route.mount(Path.of("broken"), broken), Route.mount(Path.of("ok"), echo)]);
    await expect(fetch(`http://127.0.0.1:${port}/broken`).then((answer) => answer.text())).rejects.toThrow(
      "terminated",
    );
    expect((await fetch(`http://127.0.0.1:${port}/ok`)).status).toBe(200);
  });

  it("is cancelled when its client leaves", async () => {
    let isCancelled = false;
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1024)),
          cancel: () => {
            isCancelled = true;
          },
        }),
      );
    const { port } = await start([Route.mount(Path.root, endless)]);
    const leaving = new AbortController();
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await expect.poll(() => isCancelled).toBe(true);
  });
});

describe("what is refused at start", () => {
  const rest = Path.rest("file");
  const handler = () => new Response("");
  const rows: readonly (readonly [what: string, make: () => unknown, message: string])[] = [
    ["a handler that is no function", () => Route.mount(Path.root, "x" as never), "its handler"],
    ["a path that is none", () => Route.mount("/auth" as never, handler), "path"],
    ["a path with a rest", () => Route.mount(Path.of("a", rest), handler), "/a/{file*} has a rest"],
    ["an option that it has not", () => Route.mount(Path.root, handler, { strip: true } as never), "strip is none"],
    ["HEAD", () => Route.mount(Path.root, handler, { methods: ["HEAD"] }), "list GET"],
    ["a method in lower case", () => Route.mount(Path.root, handler, { methods: ["get"] }), '"get" is no method'],
    ["TRACE", () => Route.mount(Path.root, handler, { methods: ["TRACE"] }), '"TRACE" is no method'],
    ["no method", () => Route.mount(Path.root, handler, { methods: [] }), "methods"],
    ["a limit that is none", () => Route.mount(Path.root, handler, { maxBody: -1 }), "-1"],
    [
      "a body that two read",
      () => App.make([Route.mount(Path.root, handler, { inputs: { json: json(v.object({})) } })]),
      "reads its body as",
    ],
    [
      "a body that two read",
      () => App.make([Route.mount(Path.root, handler, { inputs: { body } })]),
      "reads its body as",
    ],
    [
      "a parameter that its path lacks",
      () => App.make([Route.mount(Path.of("a"), handler, { inputs: { id: param(Path.int("id")) } })]),
      "reads the path parameter id",
    ],
    [
      "two at one path",
      () => App.make([Route.mount(Path.of("a"), handler), Route.mount(Path.of("a"), handler)]),
      "could both answer one URL",
    ],
    [
      "two at one path by another parameter",
      () => App.make([Route.mount(Path.of(Path.int("a")), handler), Route.mount(Path.of(Path.int("b")), handler)]),
      "could both answer one URL",
    ],
    [
      "a rest at its path",
      () =>
        App.make([Route.mount(Path.of("a"), handler), get(Path.of("a", rest), { returns: Returns.text }, () => "")]),
      "could both answer one URL",
    ],
  ];
  it.each(rows)("%s", (_what, make, message) => {
    expect(make).toThrow(message);
  });

  it("takes two of other methods at one path", async () => {
    const app = App.make([
      Route.mount(Path.of("a"), () => new Response("read"), { methods: ["GET"] }),
      Route.mount(Path.of("a"), () => new Response("written"), { methods: ["POST", "PUT"] }),
      post(Path.of("a", "exact"), { returns: Returns.text }, () => "exact"),
    ]);
    expect(await (await app.fetch(new Request("http://h/a/b"))).text()).toBe("read");
    expect(await (await app.fetch(new Request("http://h/a/b", { method: "PUT" }))).text()).toBe("written");
    expect(await (await app.fetch(new Request("http://h/a/exact", { method: "POST" }))).text()).toBe("exact");
  });
});
