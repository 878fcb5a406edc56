/**
 * White space of a field is SP and HTAB (RFC 9110 §5.6.3), and nothing else is: `String.prototype.trim` takes 23 characters more,
 * of which a browser sends some in the name of a cookie that a sibling domain set.
 */
import { describe, expect, it } from "vitest";
import {
  Codec,
  Cookie,
  Cors,
  Dep,
  Form,
  Header,
  Openapi,
  Path,
  Proxies,
  Returns,
  Socket,
  Test,
  client,
  get,
  post,
} from "usher-http";
import { lines } from "../support/logs.ts";
import { clientOf } from "../support/node-server.ts";

const session = Cookie.named("__Host-sid", Codec.string);
const signedIn = { inputs: { sid: Cookie.optional(session) }, returns: Returns.text };
const cookies = get(Path.of("cookies"), signedIn, ({ sid }) => sid ?? "nobody");

const inputs = {
  header: Header.required("x-a", Codec.string),
  record: Dep.ofRequest((asked) => `${asked.header("x-a")}`),
};
const headers = get(
  Path.of("headers"),
  { inputs, returns: Returns.text },
  ({ header, record }) => `${header}|${record}`,
);
const form = post(
  Path.of("form"),
  { inputs: { a: Form.optional("a", Codec.string) }, returns: Returns.text },
  ({ a }) => a ?? "none",
);
const isSecure = Dep.ofRequest(({ secure }) => String(secure));
const secure = get(Path.of("secure"), { inputs: { isSecure }, returns: Returns.text }, ({ isSecure }) => isSecure);
const who = get(Path.of("who"), { inputs: { client }, returns: Returns.text }, ({ client }) => client);
const talk = Socket.protocol({ client: Socket.text, server: Socket.text });
const socket = get(Path.of("socket"), { returns: Returns.websocket(talk) }, () => async () => undefined);
const docs = Openapi.docs([cookies]);
const routes = [cookies, headers, form, secure, who, socket, ...docs];
const app = Test.app(routes, {
  trustedProxies: Proxies.make(["127.0.0.1"]),
  cors: Cors.make({ origins: ["https://a.example"], headers: ["x-a"] }),
});

type Field = readonly [name: string, value: string];

async function ask(method: string, target: string, fields: readonly Field[], body?: string) {
  return Test.call(app, method, target, { headers: fields, ...(body === undefined ? {} : { body }) });
}

/** The result of a field with characters around it, as text; the same text if they are white space. */
const readers: readonly (readonly [
  what: string,
  read: (around: (text: string) => string) => Promise<string>,
  inside: string,
])[] = [
  ["the name of a cookie", async (a) => (await ask("GET", "/cookies", [["cookie", `${a("__Host-sid")}=1`]])).body, "1"],
  [
    "the name of a later cookie",
    async (a) => (await ask("GET", "/cookies", [["cookie", `a=b;${a("__Host-sid")}=1`]])).body,
    "1",
  ],
  [
    "the type of a form",
    async (a) =>
      String((await ask("POST", "/form", [["content-type", a("multipart/form-data; boundary=b")]], "--b--")).status),
    "200",
  ],
  [
    "a hop",
    async (a) => (await ask("GET", "/who", [["x-forwarded-for", `192.0.2.1,${a("192.0.2.2")}`]])).body,
    "192.0.2.2",
  ],
  [
    "the protocol that a proxy tells",
    async (a) => (await ask("GET", "/secure", [["x-forwarded-proto", `http,${a("https")}`]])).body,
    "true",
  ],
  [
    "a traceparent",
    async (a) => {
      const id = "0af7651916cd43dd8448eb211c80319c";
      await ask("GET", "/who", [["traceparent", a(`00-${id}-b7ad6b7169203331-01`)]]);
      return String(lines().at(-1)?.["trace_id"] === id);
    },
    "true",
  ],
  [
    "an upgrade",
    async (a) =>
      String(
        (await ask("GET", "/socket", [["upgrade", `h2c,${a("websocket")}`]])).headers.has("sec-websocket-version"),
      ),
    "true",
  ],
  [
    "Sec-Fetch-Site",
    async (a) => String((await ask("POST", "/form", [["sec-fetch-site", a("same-origin")]])).status),
    "200",
  ],
  [
    "a header that a preflight asks for",
    async (a) => {
      const fields: Field[] = [
        ["origin", "https://a.example"],
        ["access-control-request-method", "GET"],
      ];
      const { headers } = await ask("OPTIONS", "/headers", [
        ...fields,
        ["access-control-request-headers", `x-b,${a("x-a")}`],
      ]);
      return String(headers.get("access-control-allow-headers"));
    },
    "x-a",
  ],
  [
    "a tag",
    async (a) => {
      const { headers } = await ask("GET", "/openapi.json", []);
      return String(
        (await ask("GET", "/openapi.json", [["if-none-match", `"x",${a(String(headers.get("etag")))}`]])).status,
      );
    },
    "304",
  ],
];

const blanks = [" ", "\t", " \t "];
const others = ["\u00a0", "\u000b", "\u000c", "\u1680", "\u2003", "\u2028", "\u3000", "\ufeff", " \u00a0 "];
const shown = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);

describe.each(readers)("%s", (_what, read, inside) => {
  it.each(blanks.map((blank) => [shown(blank), blank]))("has %s around it as white space", async (_name, blank) => {
    expect(await read((text) => blank + text + blank)).toBe(inside);
  });

  it.each(others.map((other) => [shown(other), other]))(
    "is another value with %s before it, or after it",
    async (_name, other) => {
      expect(await read((text) => other + text)).not.toBe(inside);
      expect(await read((text) => text + other)).not.toBe(inside);
    },
  );
});

describe("a header value", () => {
  it.each(others.map((other) => [shown(other), other]))("keeps %s at its ends", async (_name, other) => {
    const value = `${other}a${other}`;
    const kept = other.startsWith(" ") ? value.slice(1, -1) : value;
    expect((await ask("GET", "/cookies", [["cookie", `__Host-sid= ${value}\t`]])).body).toBe(kept);
    expect((await ask("GET", "/headers", [["x-a", ` ${value}\t`]])).body).toBe(`${kept}|${kept}`);
  });
});

it("a no-break space makes no `__Host-` cookie in a header either", async () => {
  const wire = await clientOf([cookies]);
  expect((await wire.ask("GET /cookies", ["cookie: \u00a0__Host-sid=evil"]).answer()).body).toBe("nobody");
  expect((await wire.ask("GET /cookies", ["cookie: a=1; \u00a0__Host-sid=evil; __Host-sid=mine"]).answer()).body).toBe(
    "mine",
  );
});
