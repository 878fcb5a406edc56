/** The answers of a Worker, and its view of a request (contract 1, 4; facts 9). */
import { beforeAll, describe, expect, it } from "vitest";
import { header } from "../../support/raw-client.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { internal, invalid, notAllowed, notFound, notImplemented } from "../../support/refusals.ts";
import { bundle, start } from "./running.ts";
import type { Running } from "./running.ts";

let script: string;
let worker: Running;
beforeAll(async () => {
  script = await bundle({ file: "program.ts" });
  worker = await start(script, { bindings: { WORD: "hello" } });
});

async function got(line: string, headers: readonly string[] = [], client?: RawClient) {
  const asking = client ?? (await worker.client());
  return asking.ask(line, headers).answer({ toHead: line.startsWith("HEAD") });
}

describe("the cookies that a Worker receives", () => {
  it.each([
    [["a=1; session=own", "b=2"], "- own"],
    [["a=1", "session=own; b=2"], "- own"],
    // A value with a comma is one that a sibling domain, or a script, may set: it is no second line.
    [["a=1, session=other; session=own"], "- own"],
    [["a=1, __Host-session=other"], "- -"],
    [["a=1, __HOST-session=other, __Host-session=other; b=2"], "- -"],
    [["a=1, __Host-session=other; __Host-session=own"], "own -"],
  ])("of %j are %s", async (lines, read) => {
    const { body } = await got(
      "GET /cookies/read",
      lines.map((line) => `Cookie: ${line}`),
    );
    expect(body).toBe(read);
  });
});

describe("a Worker", () => {
  it.each([
    ["GET /", 200, "text/plain; charset=utf-8", "hello"],
    ["GET /page", 200, "text/html; charset=utf-8", "<p>é"],
    ["GET /nothing", 204, undefined, ""],
    ["GET /refuses", 404, "application/json", '{"error":"not_found","message":"There is nothing here."}'],
    ["GET /none", 404, "application/json", notFound],
    ["PUT /", 405, "application/json", notAllowed],
    ["PROPFIND /", 501, "application/json", notImplemented],
    ["OPTIONS /", 204, undefined, ""],
    ["GET /raises", 500, "application/json", internal],
    ["GET /id?ms=x", 400, "application/json", invalid(["query.ms", "malformed", "This is not a whole number."])],
  ])("answers %s with %i", async (line, status, type, body) => {
    const answered = await got(line);
    expect([answered.status, header(answered, "content-type"), answered.body]).toEqual([status, type, body]);
    expect(header(answered, "content-length")).toBe(status === 204 ? undefined : String(Buffer.byteLength(body)));
    expect(header(answered, "x-request-id")).toMatch(/^[0-9a-z]{12}$/);
  });

  it("answers HEAD like GET, without the body", async () => {
    const client = await worker.client();
    for (const path of ["/", "/page", "/hello?length=5"]) {
      const { head } = await got(`GET ${path}`, [], client);
      const asked = await got(`HEAD ${path}`, [], client);
      const fields = (given: typeof head) => {
        return Object.fromEntries(given.filter(([name]) => !/^(?:date|x-request-id)$/i.test(name)));
      };
      expect(fields(asked.head)).toEqual(fields(head));
    }
    expect(header(await got("HEAD /hello", [], client), "content-length")).toBe(undefined);
    expect((await got("GET /", [], client)).body).toBe("hello");
  });

  it("answers at the deadline of a route, each of several requests by a timer of its own", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => got("GET /deadline")));
    for (const { status, body } of answers) expect([status, body]).toEqual([503, expect.stringContaining("timed_out")]);
    expect((await got("GET /")).body).toBe("hello");
  });

  it("lists the methods of a path in Allow", async () => {
    expect(header(await got("PUT /"), "allow")).toBe("GET, HEAD");
  });

  it("sends the given bytes, whatever Content-Encoding names", async () => {
    const answered = await got("GET /bytes");
    expect([answered.body, header(answered, "content-encoding"), header(answered, "content-type")]).toEqual([
      "raw",
      "gzip",
      "a/b",
    ]);
  });

  it("sends each cookie on a line of its own", async () => {
    const { head } = await got("GET /cookies");
    expect(head.filter(([name]) => /^set-cookie$/i.test(name)).map(([, value]) => value)).toEqual([
      "a=1; Path=/; HttpOnly; Secure; SameSite=Lax",
      "b=2; Path=/; HttpOnly; Secure; SameSite=Lax",
    ]);
  });

  it("redirects the client", async () => {
    const answered = await got("GET /elsewhere");
    expect([answered.status, header(answered, "location")]).toEqual([302, "/"]);
  });

  it("reads the target as it was sent", async () => {
    for (const target of ["/target?a=%2F+b", "//target", "/%74arget"]) {
      expect((await got(`GET ${target}`)).body).toBe(target === "//target" ? notFound : target);
    }
  });
});

describe("a Worker's peer", () => {
  it("is unknown, whatever a header contains", async () => {
    expect((await got("GET /who", ["cf-connecting-ip: 9.9.9.9", "x-forwarded-for: 8.8.8.8"])).body).toBe("[|]");
  });

  it("is the address that Cloudflare sends, if the option says that it is behind Cloudflare", async () => {
    const behind = await start(script, { bindings: { WORD: "hello", BEHIND_CLOUDFLARE: true } });
    const client = await behind.client();
    expect((await got("GET /who", ["cf-connecting-ip: 2001:db8::1"], client)).body).toBe("[2001:db8::1|2001:db8::1]");
    expect((await got("GET /who", [], client)).body).toBe("[|]");
  });
});

describe("the log of a Worker", () => {
  it("is a JSON line on standard error for each request", async () => {
    const id = header(await got("GET /page"), "x-request-id");
    expect(await worker.line("GET /page 200", id)).toMatchObject({
      level: "info",
      "logger.name": "framework.http",
      "http.route": "/page",
      "http.response.status_code": 200,
      "http.response.body.size": 5,
    });
  });

  it("has the request's id across awaits, for concurrent requests", async () => {
    const asked = await Promise.all(Array.from({ length: 10 }, (_, i) => got(`GET /id?ms=${(i * 7) % 30}`)));
    for (const answered of asked) {
      const id = header(answered, "x-request-id") as string;
      expect(answered.body).toBe(`${id} ${id}`);
    }
    for (const _ of asked) {
      const line = await worker.line("after a timer");
      expect(line["request_id"]).toBe(line["of"]);
    }
  });

  it("never quotes an exception", async () => {
    await got("GET /raises");
    expect(await worker.line("GET /raises: internal: it raised")).toMatchObject({ "error.kind": "Error" });
    await worker.line("GET /raises 500");
    expect(worker.texts.join()).not.toContain("s3cret");
  });
});

describe("a value that a request acquired", () => {
  it("is released after its answer, though the client has disconnected", async () => {
    const client = await worker.client();
    const answered = await got("GET /released", [], client);
    client.leave();
    expect(await worker.line("released: answered", header(answered, "x-request-id"))).toMatchObject({ level: "info" });
  });
});

describe("work after the answer", () => {
  it("runs to its end, though the client has disconnected", async () => {
    const client = await worker.client();
    const answered = await got("GET /after", [], client);
    client.leave();
    expect(answered.body).toBe("after");
    await worker.line("worked after the answer", header(answered, "x-request-id"));
  });
});

describe("a handler that waits for another request", () => {
  it("is answered when that one arrives, and never cut off as hung", async () => {
    const waiting = (await worker.client()).ask("GET /waits");
    await worker.line("waits");
    // What workerd takes for hung it cuts as soon as it has nothing else to do.
    expect((await got("GET /id?ms=200")).status).toBe(200);
    expect((await got("GET /opens")).body).toBe("opened");
    expect((await waiting.answer()).body).toBe("waited");
  });
});
