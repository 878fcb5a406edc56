/** Seen only on a socket: separate header lines, their bytes, the target as sent, the peer (IN-16, IN-07, RT-49, SV-25, SV-28). */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Header,
  Path,
  Query,
  Returns,
  client,
  get,
  json,
  param,
  peer,
  post,
  request,
  requestId,
} from "usher-http";
import { messages } from "../../support/logs.ts";
import { clientOf, start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";
import { invalid, unsupported } from "../../support/refusals.ts";

const twice = "This is given more than once.";

const inputs = {
  count: Header.optional("X-Count", Codec.int),
  accept: Header.optional("accept", Codec.accept),
  list: Header.optional("x-list", Codec.structuredList),
};
const counts = get(
  Path.of("counts"),
  { inputs, returns: Returns.text },
  ({ count, accept, list }) => `${count} ${accept?.length} ${list?.length}`,
);

describe("header lines: given twice", () => {
  it.each([
    ["x-count: 1", "x-count: 1"],
    ["X-Count: 1", "x-COUNT: 2"],
    ["x-count: 1", "x-other: 2", "x-count:"],
  ])("IN-16 a single value on two lines is a 400: %s, %s", async (...lines) => {
    const answered = await (await clientOf([counts])).ask("GET /counts", lines).answer();
    expect([answered.status, answered.body]).toEqual([400, invalid(["header.X-Count", "malformed", twice])]);
  });

  // Node's own parser keeps the first line of these, and drops the others silently.
  it.each([
    "authorization",
    "content-type",
    "user-agent",
    "if-none-match",
    "last-event-id",
    "origin",
    "referer",
    "age",
    "etag",
    "host",
  ])("IN-16 %s on two lines is a 400 too", async (name) => {
    const reads = get(
      Path.of("reads"),
      { inputs: { one: Header.optional(name, Codec.string) }, returns: Returns.text },
      ({ one }) => one ?? "-",
    );
    const client = await clientOf([reads]);
    const lines = name === "host" ? ["host: b"] : [`${name}: a`, `${name}: b`];
    const answered = await client.ask("GET /reads", lines).answer();
    expect(answered.status).toBe(400);
    if (name !== "host") expect(answered.body).toBe(invalid([`header.${name}`, "malformed", twice]));
  });

  it("IN-16 a list is read from all its lines", async () => {
    const lines = ["accept: a/b", "x-list: a", "Accept: c/d;q=0.1, e/f", "X-List: b, (c d)"];
    expect((await (await clientOf([counts])).ask("GET /counts", lines).answer()).body).toBe("undefined 3 3");
  });
});

describe("header lines: read completely", () => {
  it("IN-07, IN-43 cookies on several lines are one list, of which the first with a name is used", async () => {
    const k = Cookie.named("k", Codec.string);
    const inputs = { k: Cookie.optional(k), b: Cookie.optional(Cookie.named("b", Codec.int)) };
    const reads = get(Path.of("reads"), { inputs, returns: Returns.text }, ({ k, b }) => `${k} ${b}`);
    const client = await clientOf([reads]);
    expect(
      (await client.ask("GET /reads", ["cookie: a=1; b=3", "Cookie: k=1; k=2", "cookie: b=4"]).answer()).body,
    ).toBe("1 3");
  });

  it("a content type on two lines is a 415", async () => {
    const reads = post(Path.of("reads"), { inputs: { x: json(v.object({})) }, returns: Returns.text }, () => "");
    const lines = ["content-type: application/json", "content-type: application/json"];
    expect((await (await clientOf([reads])).ask("POST /reads", lines, "{}").answer()).body).toBe(unsupported);
  });

  it("the request record lists them in the order of sending, and IN-18 removes white space around a value", async () => {
    const reads = get(
      Path.of("reads"),
      { inputs: { request }, returns: Returns.json(v.array(v.string())) },
      ({ request }) => [
        ...[...request.headers].map(([name, value]) => `${name}=${value}`),
        request.header("X-A") ?? "-",
      ],
    );
    const client = await clientOf([reads]);
    const { body } = await client.ask("GET /reads", ["X-A:  1 \t", "x-b:", "x-a:2"]).answer();
    expect(JSON.parse(body)).toEqual(["host=h", "x-a=1", "x-b=", "x-a=2", "1, 2"]);
  });

  it.each(["\u0080", "\u00e9", "\u00ff", "\u00c3\u00a9", '"\u00fe"', "a\tb"])(
    "any byte that a head may contain is a value or a 400: %j",
    async (text) => {
      const inputs = {
        text: Header.optional("x-text", Codec.string),
        int: Header.optional("x-int", Codec.int),
        auth: Header.optional("authorization", Codec.credentials),
      };
      const reads = get(Path.of("reads"), { inputs, returns: Returns.text }, ({ text }) => String(text?.length));
      const client = await clientOf([reads]);
      expect(await client.ask("GET /reads", [`x-text: ${text}`]).answer()).toMatchObject({
        status: 200,
        body: String(text.length),
      });
      for (const name of ["x-int", "authorization", "cookie", "traceparent"]) {
        expect([200, 400]).toContain((await client.ask("GET /reads", [`${name}: ${text}`]).answer()).status);
      }
      expect(messages("error")).toEqual([]);
    },
  );
});

describe("targets", () => {
  const file = Path.rest("file");
  const inputs = { file: param(file), request, q: Query.list("q", Codec.string) };
  const told = get(
    Path.of("t", file),
    { inputs, returns: Returns.json(v.array(v.string())) },
    ({ file, request, q }) => [...file, "|", request.target, request.host ?? "-", "|", ...q],
  );

  it.each([
    ["/t/a%2Fb/%2e%2E/..", ["a/b", "..", "..", "|", "/t/a%2Fb/%2e%2E/..", "h", "|"]],
    ["http://ABS.example:81/t/x?q=1", ["x", "|", "http://ABS.example:81/t/x?q=1", "abs.example:81", "|", "1"]],
    ["/t?q=a+b&q=%C3%A9&q=", ["|", "/t?q=a+b&q=%C3%A9&q=", "h", "|", "a b", "é", ""]],
    ['/t/a|b"<>{}^`', ['a|b"<>{}^`', "|", '/t/a|b"<>{}^`', "h", "|"]],
  ])("RT-49 %s is read unchanged", async (target, expected) => {
    const { status, body } = await (await clientOf([told])).ask(`GET ${target}`).answer();
    expect([status, JSON.parse(body)]).toEqual([200, expected]);
  });

  it.each(["/t/%", "/t/%zz", "/t/%ff", "/t/x/%C3"])(
    "malformed percent-encoding is a 400 at its place: %s",
    async (target) => {
      const answered = await (await clientOf([told])).ask(`GET ${target}`).answer();
      expect([answered.status, answered.body]).toEqual([400, invalid(["path.file", "malformed", "This is not text."])]);
    },
  );

  it.each([
    "//elsewhere.example/",
    "//elsewhere.example/t/",
    "/\\elsewhere.example/",
    "http://h//elsewhere.example/",
    "http://h/\\elsewhere.example/",
  ])("RT-15 does not redirect to another site: %s", async (target) => {
    const every = get(Path.of(file), { returns: Returns.text }, () => "");
    const two = get(Path.of(Path.str("a"), Path.str("b")), { returns: Returns.text }, () => "");
    for (const routes of [[told], [every], [two]]) {
      const answered = await (await clientOf(routes, { trailingSlash: "redirect" })).ask(`GET ${target}`).answer();
      expect([answered.status, header(answered, "location")]).toEqual([404, undefined]);
    }
  });
});

describe("the peer", () => {
  const who = get(
    Path.of("who"),
    { inputs: { peer, client, requestId }, returns: Returns.text },
    ({ peer, client, requestId }) => `${peer} ${client} ${requestId}`,
  );

  it("SV-25 is the other end of the connection; without a trusted proxy, forwarding headers are ignored", async () => {
    const lines = ["x-forwarded-for: 6.6.6.6", "forwarded: for=6.6.6.6", "x-real-ip: 6.6.6.6", "x-request-id: mine"];
    const answered = await (await clientOf([who])).ask("GET /who", lines).answer();
    expect(answered.body).toBe(`127.0.0.1 127.0.0.1 ${header(answered, "x-request-id")}`);
    expect(answered.body).not.toContain("mine");
  });

  it("SV-28 of IPv4 has its IPv4 address on a socket of both families", async () => {
    const { port } = await start([who], { host: "::" });
    expect((await (await RawClient.to(port, "127.0.0.1")).ask("GET /who").answer()).body).toMatch(
      /^127\.0\.0\.1 127\.0\.0\.1 /,
    );
    expect((await (await RawClient.to(port, "::1")).ask("GET /who").answer()).body).toMatch(/^::1 ::1 /);
  });

  it("IN-34 every request has an id of its own, on each connection", async () => {
    const { port } = await start([who]);
    const clients = await Promise.all(Array.from({ length: 200 }, () => RawClient.to(port)));
    const answers = await Promise.all(clients.map((client) => client.ask("GET /who").answer()));
    expect(new Set(answers.map((answered) => header(answered, "x-request-id"))).size).toBe(200);
  });
});
