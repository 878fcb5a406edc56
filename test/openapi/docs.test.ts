/** The document and its page, served (contract 4.1; rows DC). */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Openapi, Path, Returns, Route, Test, get } from "usher-http";
import { messages } from "../support/logs.ts";
import { add } from "./add.ts";

const app = Test.app([add, ...Openapi.docs([add], { title: "Orders", version: "1" })]);
const headersOf = ({ headers }: Test.Answered, ...names: string[]) => names.map((name) => headers.get(name));

describe("the served document", () => {
  it("DC-01 describes the given routes, and no others", async () => {
    const answered = await Test.call(app, "GET", "/openapi.json");
    expect(answered.status).toBe(200);
    expect(headersOf(answered, "content-type", "cache-control")).toEqual(["application/json", "no-cache"]);
    expect(answered.body).toBe(JSON.stringify(Openapi.document([add], { title: "Orders", version: "1" })));
  });

  it("DC is at the path and in the version of its options", async () => {
    const docs = Openapi.docs([add], { document: Path.of("api", "v1"), at: Path.root, openapi: "3.1" });
    expect(docs.map(({ pattern }) => pattern)).toEqual(["/api/v1", "/", "/reader.js", "/start.js"]);
    expect(docs.map(({ summary }) => summary)).toEqual([
      "This API, as an OpenAPI 3.1 document",
      "This API's reference, to read and to try",
      "The reference's script",
      "What starts the reference",
    ]);
    const moved = Test.app(docs);
    expect((await Test.call(moved, "GET", "/api/v1")).json()).toMatchObject({ openapi: "3.1.0" });
    const { body } = await Test.call(moved, "GET", "/");
    expect(body).toContain('data-url="./api/v1"');
    expect(body).toContain('<script src="./reader.js">');
  });

  it("DC-06 routes that are not a valid operation are reported before the server listens", () => {
    const text = (name: string) => get(Path.of(name), { returns: Returns.text }, () => "");
    expect(() => Openapi.docs([text("a-b"), text("a_b")])).toThrow(
      "Openapi: GET /a-b and GET /a_b are both the operation get_a_b",
    );
    // @ts-expect-error a path with a parameter
    expect(() => Openapi.docs([add], { at: Path.of("docs", Path.str("x")) })).toThrow(
      "Openapi.docs: /docs/{x} has a parameter",
    );
  });
});

describe("the page of the document", () => {
  it("DC-02 has scripts of its own, and loads nothing from another host", async () => {
    const answered = await Test.call(app, "GET", "/docs");
    expect(answered.status).toBe(200);
    expect(headersOf(answered, "content-type", "cache-control")).toEqual(["text/html; charset=utf-8", "no-cache"]);
    expect(answered.body).toContain('<script src="./docs/reader.js">');
    expect(answered.body).toContain('data-url="./openapi.json"');
    expect(answered.body).toContain("<title>Orders</title>");
    expect(answered.body).not.toMatch(/https?:\/\//);
    expect(answered.body.replaceAll(/<script src="[^"]*"><\/script>/g, "")).not.toContain("<script");
    const policy = answered.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain("style-src");
    expect(policy).not.toMatch(/script-src[^;]*unsafe|\*|http/);
  });

  it.each([
    [Path.root, Path.of("d"), "./d", "./reader.js"],
    [Path.of("docs"), Path.of("a", "b"), "./a/b", "./docs/reader.js"],
    [Path.of("a", "b", "c d"), Path.of("x"), "./../../x", "./c%20d/reader.js"],
    [Path.of("v1:beta"), Path.of("a:b"), "./a%3Ab", "./v1%3Abeta/reader.js"],
  ])("DC has relative URLs, so that it works behind a prefix: %#", async (at, document, documentUrl, scriptUrl) => {
    const moved = Test.app(Openapi.docs([add], { at, document }));
    const { body } = await Test.call(
      moved,
      "GET",
      `/${at.segments.map((one) => encodeURIComponent(String(one))).join("/")}`,
    );
    expect(body).toContain(`data-url="${documentUrl}"`);
    expect(body).toContain(`<script src="${scriptUrl}">`);
  });

  it("DC at the root is refused in a group with a prefix, where its relative URLs would lead elsewhere", () => {
    const moved = (prefix: Path<never>, at: Path<never>) =>
      Test.app([...Route.group({ prefix }, Openapi.docs([add], { at }))]);
    const reason = "GET /deep is a page that was made for /, and has relative URLs: give Openapi.docs a path as `at`";
    expect(() => moved(Path.of("deep"), Path.root)).toThrow(reason);
    expect(() => moved(Path.root, Path.root)).not.toThrow();
    expect(() => moved(Path.of("deep"), Path.of("docs"))).not.toThrow();
  });

  it("DC has a title that is text", async () => {
    const odd = Test.app(Openapi.docs([add], { title: '</title><script>"&' }));
    expect((await Test.call(odd, "GET", "/docs")).body).toContain(
      "<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;</title>",
    );
  });

  it("DC-03 has the package's own script; DC-04 the code that starts it is next to it", async () => {
    const script = await Test.call(app, "GET", "/docs/reader.js");
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(script.body).toContain("usherReader");
    expect(script.body).not.toMatch(/\beval\b|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
    expect(Buffer.byteLength(script.body)).toBeLessThan(70_000);
    const start = await Test.call(app, "GET", "/docs/start.js");
    expect([start.status, start.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(start.body).toContain("usherReader(app)");
  });
});

describe("the page with Scalar's reader", () => {
  const scalar = Test.app(Openapi.docs([add], { script: "scalar" }));

  it("DC-05 has the script of its package, and its own styles", async () => {
    const { headers } = await Test.call(scalar, "GET", "/docs");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; .*; style-src 'unsafe-inline'$/);
    const script = await Test.call(scalar, "GET", "/docs/reader.js");
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(script.body.length).toBeGreaterThan(1_000_000);
    expect(script.body).toContain("createApiReference");
    const start = await Test.call(scalar, "GET", "/docs/start.js");
    expect(start.body).toContain("Scalar.createApiReference(app");
    expect(start.body).toContain("install @scalar/api-reference");
  });

  it.each(["swagger", "", null, 7, {}])("DC script: %j is refused, with the allowed values", (script) => {
    // @ts-expect-error it is neither "scalar" nor a function
    expect(() => Openapi.docs([add], { script })).toThrow(
      'Openapi.docs: script must be "scalar", or a function that loads the script of Scalar',
    );
  });
});

describe("the responses of the docs routes", () => {
  const text = "x".repeat(5000);
  let read = 0;
  const small = Test.app(Openapi.docs([add], { script: () => (read++, text) }));
  const ask = (headers: Record<string, string>) =>
    small.app.fetch(new Request("http://localhost/docs/reader.js", { headers }));

  it.each([
    ["gzip", true],
    ["br, gzip;q=0.5", true],
    ["*", true],
    ["GZIP", true],
    ["x-gzip", true],
    ["*, x-gzip;q=0", false],
    ["x-compress", false],
    ["gzip;q=0.5, identity", false],
    ["gzip;q=0.5, identity;q=0.5", true],
    ["gzip;q=0.5, identity;q=0.4", true],
    ["*;q=0.5, identity", false],
    ["gzip;q=0", false],
    ["*, gzip;q=0", false],
    ["br", false],
    ["not, a; list;;", false],
  ])("DC are compressed if %j accepts it", async (accepted, expected) => {
    const answered = await ask({ "accept-encoding": accepted });
    expect(answered.headers.get("content-encoding")).toBe(expected ? "gzip" : null);
    expect(answered.headers.get("vary")).toBe("accept-encoding");
    const bytes = Buffer.from(await answered.arrayBuffer());
    expect((expected ? gunzipSync(bytes) : bytes).toString()).toBe(text);
  });

  it("DC are 304 for a client that has them, in each encoding", async () => {
    const plain = (await ask({})).headers.get("etag") ?? "";
    const zipped = (await ask({ "accept-encoding": "gzip" })).headers.get("etag") ?? "";
    expect(zipped).toBe(plain.replace(/"$/, '-gzip"'));
    for (const known of [plain, `W/${plain}`, `"other", ${plain}`, "*"]) {
      const answered = await ask({ "if-none-match": known });
      expect([answered.status, answered.headers.get("etag"), await answered.text()]).toEqual([304, plain, ""]);
    }
    expect((await ask({ "if-none-match": plain, "accept-encoding": "gzip" })).status).toBe(200);
    expect((await ask({ "if-none-match": zipped, "accept-encoding": "gzip" })).status).toBe(304);
  });

  it("DC are read once, at the first request", () => {
    expect(read).toBe(1);
  });

  it("DC a script that cannot be read is a 500, and is read again at the next request", async () => {
    let fails = true;
    const script = () => {
      if (fails) throw new Error("s3cret");
      return "there";
    };
    const failing = Test.app(Openapi.docs([add], { script }));
    expect((await Test.call(failing, "GET", "/docs/reader.js")).status).toBe(500);
    expect(JSON.stringify(messages("error"))).not.toContain("s3cret");
    fails = false;
    expect((await Test.call(failing, "GET", "/docs/reader.js")).body).toBe("there");
  });
});
