/** An app's own format of refusals (error responses): content type, status and body. */
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import {
  Answer,
  App,
  Health,
  Openapi,
  Path,
  Refusal,
  RefusalFormat,
  Result,
  Returns,
  Test,
  get,
  refuse,
} from "usher-http";
import type { AppOptions, Middleware, RefusalToWrite } from "usher-http";
import { lines } from "../support/logs.ts";
import { gone, page, realWorld, routes } from "../support/refusal-formats.ts";

async function answered(
  refusalFormat: RefusalFormat,
  method: string,
  target: string,
  more: AppOptions = {},
  body?: object,
) {
  const app = Test.app(routes, { refusalFormat, codes: [gone], ...more });
  const { status, headers, body: text } = await Test.call(app, method, target, body === undefined ? {} : { body });
  return { status, type: headers.get("content-type"), text, headers };
}

describe("every refusal is in the app's format", () => {
  it.each([
    ["GET", "/gone", 410, "Sold."],
    ["GET", "/later", 410, "It went."],
    ["GET", "/thrown", 410, "Thrown."],
    ["GET", "/built", 410, "Built."],
    ["GET", "/raised", 500, "Something went wrong at our end. Please try again."],
    ["GET", "/unwritable", 500, "Something went wrong at our end. Please try again."],
    ["GET", "/none", 404, "There is nothing here."],
    ["PUT", "/gone", 405, "That is not something you can do here."],
    ["BREW", "/gone", 501, "That is not something this server does."],
    ["GET", "/in", 401, "Nobody is signed in."],
    ["GET", "/limit", 422, "query.limit: This is required."],
  ])("%s %s: %i", async (method, target, status, message) => {
    const { type, text, ...answer } = await answered(realWorld, method, target);
    expect(answer.status).toBe(status);
    expect(type).toBe("application/json");
    expect(JSON.parse(text)).toEqual({ errors: { body: [message] } });
  });

  it("also for a body, with every problem and the format's status", async () => {
    const { status, text } = await answered(realWorld, "POST", "/orders", {}, { item: "", quantity: "x" });
    expect(status).toBe(422);
    expect(JSON.parse(text)).toEqual({
      errors: { body: [expect.stringMatching(/^body\.item: /), expect.stringMatching(/^body\.quantity: /)] },
    });
  });

  it("also for another origin, and it keeps the headers of a code", async () => {
    const app = Test.app(routes, { refusalFormat: page, codes: [gone] });
    const headers = { origin: "https://elsewhere.example" };
    const crossed = await Test.call(app, "POST", "/orders", { headers, body: {} });
    expect([crossed.status, crossed.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
    expect(crossed.body).toContain("<h1>403 cross_origin</h1>");
    const signedOut = await Test.call(app, "GET", "/in");
    expect(signedOut.headers.get("www-authenticate")).toBe("Bearer");
    const allowed = await Test.call(app, "PUT", "/gone");
    expect(allowed.headers.get("allow")).toBe("GET, HEAD");
  });

  it("with the request's id, and without its detail", async () => {
    const { text, headers } = await answered(page, "GET", "/gone");
    expect(text).toBe(`<h1>410 gone</h1><p>Sold.</p><i>${headers.get("x-request-id")}</i>`);
  });

  it("also for HEAD: the head of GET, and no body", async () => {
    const { status, text, headers } = await answered(page, "HEAD", "/gone");
    expect([status, text]).toEqual([410, ""]);
    expect(Number(headers.get("content-length"))).toBe(48);
  });

  it("also for a readiness check", async () => {
    const probes = Health.routes([Health.check("db", () => Result.error("down"))]);
    const app = Test.app([...probes], { refusalFormat: realWorld });
    const { status, json } = await Test.call(app, "GET", "/readyz");
    expect([status, json()]).toEqual([503, { errors: { body: [expect.any(String)] } }]);
  });

  it("with at most maxProblems, and the number of the others", async () => {
    let more = -1;
    const format = RefusalFormat.text({ contentType: "text/plain", write: (one) => ((more = one.more), "") });
    await answered(format, "POST", "/orders", { maxProblems: 1 }, { item: "", quantity: "x" });
    expect(more).toBe(1);
  });
});

describe("middleware", () => {
  const seen: string[] = [];
  const outer: Middleware = async (_request, next) => {
    const answer = await next();
    seen.push(String(answer.body));
    return { ...answer, headers: [...answer.headers, ["x-mine", "1"]] };
  };
  it("sees a refusal as it is sent, and can add headers to it", async () => {
    const { text, headers } = await answered(realWorld, "GET", "/gone", { middleware: [outer] });
    expect(text).toBe('{"errors":{"body":["Sold."]}}');
    expect([seen.pop(), headers.get("x-mine")]).toEqual([text, "1"]);
  });
  it("can replace the body of a refusal", async () => {
    const own: Middleware = async (_request, next) => ({ ...(await next()), body: "mine" });
    expect((await answered(realWorld, "GET", "/gone", { middleware: [own] })).text).toBe("mine");
  });
  it("refuses, or throws, in the format too", async () => {
    const refusing: Middleware = async () => Answer.refusal(refuse(gone, "By middleware."));
    const raising: Middleware = async (_request, next) => {
      await next();
      throw new Error("a secret");
    };
    expect((await answered(realWorld, "GET", "/none", { middleware: [outer, refusing] })).text).toContain(
      "By middleware.",
    );
    expect(seen.pop()).toBe('{"errors":{"body":["By middleware."]}}');
    const { status, text } = await answered(realWorld, "GET", "/gone", { middleware: [outer, raising] });
    expect([status, JSON.parse(text)]).toEqual([500, { errors: { body: [expect.stringMatching(/^Something/)] } }]);
    expect(seen.pop()).toBe(text);
  });
  it.each<[does: string, middleware: Middleware]>([
    ["throws it", async (_request, next) => Promise.reject((await next()).refused)],
    ["makes an answer of it", async (_request, next) => Answer.refusal((await next()).refused as Refusal)],
  ])("gives the refusal of its route once more, in the format too: %s", async (_does, middleware) => {
    const { text } = await answered(realWorld, "GET", "/gone", { middleware: [outer, middleware] });
    expect([text, seen.pop()]).toEqual(['{"errors":{"body":["Sold."]}}', text]);
  });
});

describe("a refusal format that throws", () => {
  const shape = v.object({ text: v.string() });
  const raise = (error: unknown) => () => {
    throw error;
  };
  const wrong = (write: (refusal: RefusalToWrite) => unknown) => RefusalFormat.json({ shape, write: write as never });
  it.each([
    ["raises", wrong(raise(new Error("a secret")))],
    ["raises a refusal", wrong(raise(refuse(gone)))],
    ["raises undefined", wrong(raise(undefined))],
    ["writes nothing", wrong(() => undefined)],
    ["writes another shape", wrong(() => ({ text: 5 }))],
    ["writes later", wrong(async () => ({ text: "" }))],
    ["writes text that is none", RefusalFormat.text({ contentType: "text/plain", write: (() => 5) as never })],
  ])("%s: 500 in the framework's own format, with a log line that names the option", async (_what, format) => {
    for (const target of ["/gone", "/raised", "/none"]) {
      const { status, text, type } = await answered(format, "GET", target);
      expect([status, type, JSON.parse(text).error]).toEqual([500, "application/json", "internal"]);
      expect(text).not.toContain("secret");
    }
    const told = lines();
    expect(told.filter(({ level }) => level === "error").length).toBeGreaterThanOrEqual(3);
    expect(
      told.some(({ message }) => String(message).startsWith("GET /gone: internal: the option refusalFormat")),
    ).toBe(true);
    expect(told.some(({ message }) => message === "GET /gone: gone: by night")).toBe(true);
    expect(JSON.stringify(told)).not.toContain("secret");
  });

  it("says which member the shape cannot write", async () => {
    await answered(
      wrong(() => ({ text: 5 })),
      "GET",
      "/gone",
    );
    expect(
      lines()
        .map(({ message }) => message)
        .join("\n"),
    ).toMatch(
      /^GET \/gone: internal: the option refusalFormat: an answer its shape cannot write: value\.text must be /m,
    );
  });

  it("for one refusal only: its 500 is in the format", async () => {
    const format = RefusalFormat.text({
      contentType: "text/plain",
      write: ({ error }) => {
        if (error === "gone") throw new Error("a secret");
        return `our ${error}`;
      },
    });
    expect(await answered(format, "GET", "/gone")).toMatchObject({
      status: 500,
      type: "text/plain",
      text: "our internal",
    });
  });
});

describe("problem details (RFC 9457)", () => {
  it.each([
    ["/gone", 410, { type: "about:blank", title: "Gone", status: 410, detail: "Sold.", error: "gone" }],
    [
      "/limit",
      400,
      {
        type: "about:blank",
        title: "Bad Request",
        status: 400,
        detail: "Some of that request is not what it should be.",
        error: "invalid",
        problems: [{ at: "query.limit", code: "required", message: "This is required." }],
      },
    ],
  ])("%s", async (target, status, body) => {
    const answer = await answered(RefusalFormat.problemDetails(), "GET", target);
    expect([answer.status, answer.type]).toEqual([status, "application/problem+json"]);
    expect(JSON.parse(answer.text)).toEqual(body);
  });

  it("with its own types: the title is the meaning of the code", async () => {
    const format = RefusalFormat.problemDetails({
      type: (code) => `https://x.example/${code}`,
      statuses: { gone: 404 },
    });
    const { status, text } = await answered(format, "GET", "/gone");
    const { type, title, status: told } = JSON.parse(text) as { type: string; title: string; status: number };
    expect([status, type, title, told]).toEqual([404, "https://x.example/gone", "It went.", 404]);
  });

  it("has the phrase of every status that Node knows", async () => {
    const { STATUS_CODES } = await import("node:http");
    const renamed: { readonly [status: string]: string } = { 413: "Content Too Large", 422: "Unprocessable Content" };
    const known = Object.entries(STATUS_CODES).filter(([status]) => Number(status) >= 400);
    const codes = known.map(([status]) =>
      Refusal.code(`c${status}`, { status: Number(status), doc: "-", challenge: "x" }),
    );
    const all = codes.map((code) =>
      get(Path.of(code.name), { returns: Returns.text, refuses: [code] }, () => refuse(code)),
    );
    const app = Test.app(all, { refusalFormat: RefusalFormat.problemDetails() });
    for (const [status, phrase] of known) {
      const { title } = (await Test.call(app, "GET", `/c${status}`)).json() as { title: string };
      const isRare = ["418", "505", "506", "508", "509", "510"].includes(status);
      expect([status, title]).toEqual([status, isRare ? "-" : (renamed[status] ?? phrase)]);
    }
  });
});

describe("App.make refuses a wrong format", () => {
  const write = () => ({});
  const shape = v.object({});
  it.each([
    [undefined, "RefusalFormat.json: write is a function that makes the body of a refusal"],
    [{ shape }, "RefusalFormat.json: write is a function that makes the body of a refusal"],
    [{ shape, write, contentType: "json" }, "RefusalFormat.json: contentType is a media type, like application/json"],
    [{ shape, write, contentType: "a/b\n" }, "RefusalFormat.json: contentType is a media type, like application/json"],
    [{ shape, write, contentType: 5 }, "RefusalFormat.json: contentType is a media type, like application/json"],
    [{ write }, "RefusalFormat.json: shape is undefined, and not a schema"],
    [{ shape: 5, write }, "RefusalFormat.json: shape is a number, and not a schema"],
  ])("json of %j", (options, sentence) => {
    expect(() => RefusalFormat.json(options as never)).toThrow(sentence);
  });
  it.each([
    [undefined, "RefusalFormat.text: write is a function that makes the body of a refusal"],
    [{ write }, "RefusalFormat.text: contentType is a media type, like application/json"],
  ])("text of %j", (options, sentence) => {
    expect(() => RefusalFormat.text(options as never)).toThrow(sentence);
  });
  it("problemDetails with a type that is not a function", () => {
    expect(() => RefusalFormat.problemDetails({ type: "https://x" as never })).toThrow("type is a function");
  });
  it.each([
    [5, "refusalFormat is made with RefusalFormat.json, text or problemDetails"],
    [null, "refusalFormat is made with RefusalFormat.json, text or problemDetails"],
    [{ node: {} }, "refusalFormat is made with RefusalFormat.json, text or problemDetails"],
    [RefusalFormat.problemDetails({ statuses: { invlaid: 422 } }), 'has a status for "invlaid", which is no code'],
    [
      RefusalFormat.problemDetails({ statuses: { invalid: 200 } }),
      "the status 200 for invalid, where a refusal is 4xx or 5xx",
    ],
    [RefusalFormat.problemDetails({ statuses: { invalid: "422" as never } }), "the status 422 for invalid, where"],
    [RefusalFormat.problemDetails({ statuses: { gone: 401 } }), "answers gone with 401, whose WWW-Authenticate needs"],
  ])("App.make with %j", (refusalFormat, sentence) => {
    expect(() => App.make(routes, { refusalFormat: refusalFormat as never, codes: [gone] })).toThrow(sentence);
    if (typeof refusalFormat !== "object" || !refusalFormat?.node || !("write" in refusalFormat.node)) {
      expect(() => Openapi.document(routes, { refusalFormat: refusalFormat as never })).toThrow(sentence);
    }
  });
  it("a name of a member of Object.prototype is not a code", () => {
    const format = RefusalFormat.problemDetails({ statuses: JSON.parse('{"__proto__": 422, "toString": 422}') as {} });
    expect(() => App.make(routes, { refusalFormat: format, codes: [gone] })).toThrow('"toString", which is no code');
  });
});
