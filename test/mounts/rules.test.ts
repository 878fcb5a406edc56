/**
 * What the framework does to answers holds for those of a mount and of `Answer.pass` too, on each runtime: what a client sees, and pairs
 * with a route that answers the same.
 */
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Path, Route } from "usher-http";
import { Compress } from "usher-http/compress";
import { http2Ask, http2Client } from "../support/http2-client.ts";
import { start } from "../support/node-server.ts";
import { kinds, options, routes } from "./rules-routes.ts";
import { started } from "./started.ts";

interface Seen {
  readonly status: number;
  /** In the order of their names; of one name in the order of the lines. */
  readonly head: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}
interface Sent {
  readonly [name: string]: string;
}
type Ask = (method: string, path: string, headers: Sent) => Promise<Seen>;

/** Of the connection, of the moment, and of the way in which the length is given. */
const left = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "date", "x-request-id"]);

function headOf(raw: readonly string[]): Seen["head"] {
  const lines = raw.flatMap((name, at): [string, string][] =>
    at % 2 === 1 || left.has(name.toLowerCase()) || name.startsWith(":")
      ? []
      : [[name.toLowerCase(), raw[at + 1] as string]],
  );
  return lines.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
}

function overHttp1(port: number): Ask {
  return async (method, path, headers) => {
    const asked = request({ port, host: "127.0.0.1", method, path, headers, agent: false }).end();
    const [came] = (await once(asked, "response")) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of came) parts.push(part as Buffer);
    return { status: came.statusCode ?? 0, head: headOf(came.rawHeaders), body: Buffer.concat(parts) };
  };
}

async function overHttp2(port: number): Promise<Ask> {
  const session = await http2Client(`http://127.0.0.1:${port}`);
  return async (method, path, headers) => {
    const { status, raw, bytes } = await http2Ask(session, { ":method": method, ":path": path, ...headers });
    return { status, head: headOf(raw), body: bytes };
  };
}

const targets: { readonly [name: string]: () => Promise<Ask> } = {
  "Node over HTTP/2": async () => {
    const { port } = await start(routes, { ...options, middleware: [Compress.make()], http2: true });
    return overHttp2(port);
  },
  ...Object.fromEntries(
    Object.entries(started).map(([runtime, port]) => [runtime, async () => overHttp1(await port())] as const),
  ),
};

/** Cloudflare compresses responses itself. */
const compresses = (target: string): boolean => target !== "workers";

const gzip = { "accept-encoding": "gzip" };
const asked: readonly (readonly [method: string, headers: Sent])[] = [
  ["GET", {}],
  ["HEAD", {}],
  ["GET", gzip],
  ["HEAD", gzip],
  ["GET", { "accept-encoding": "gzip;q=0" }],
  ["GET", { origin: "https://shop.example" }],
  ["GET", { range: "bytes=0-3" }],
  ["GET", { range: "bytes=0-3", "if-range": '"one"' }],
  ["GET", { "if-none-match": '"one"' }],
  ["GET", { "if-modified-since": "Wed, 01 Jan 2025 00:00:00 GMT" }],
];

describe.each(Object.keys(targets))("on %s", (target) => {
  const opened = targets[target] as () => Promise<Ask>;

  it("a mount and a pass answer as a route does, in pairs", async () => {
    const ask = await opened();
    for (const [method, headers] of asked)
      for (const [kind, { cookies }] of Object.entries(kinds)) {
        if (cookies !== undefined) continue;
        const route = await ask(method, `/rules/route/${kind}`, headers);
        for (const by of ["mount", "pass", "undici"])
          expect([kind, method, headers, await ask(method, `/rules/${by}/${kind}`, headers)]).toEqual([
            kind,
            method,
            headers,
            route,
          ]);
      }
  });

  it.each(["mount", "pass", "undici"])("and a client of a %s sees what is in the table", async (by) => {
    const ask = await opened();
    const sees = table(compresses(target));
    for (const [method, kind, headers, status, fields, body] of sees) {
      const row = [method, kind, headers];
      expect([...row, ...shownOf(await ask(method, `/rules/${by}/${kind}`, headers))]).toEqual([
        ...row,
        status,
        fields,
        body,
      ]);
    }
    expect(new Set(sees.map(([, kind]) => kind))).toEqual(new Set(Object.keys(kinds)));
  });
});

describe("the tags that Compress makes, and a mount that does not know them", () => {
  const text = "a line of text\n".repeat(400);
  const headers = { etag: '"one"', "content-type": "text/plain" };
  const tagged = Route.mount(Path.root, (request) => {
    const field = request.method === "PUT" ? "if-match" : "if-none-match";
    const isListed = request.headers.get(field)?.split(", ").includes('"one"') ?? false;
    if (request.method === "PUT") return new Response(null, { status: isListed ? 204 : 412 });
    return isListed ? new Response(null, { status: 304, headers }) : new Response(text, { headers });
  });

  it.each(["gzip", "br"])("a client revalidates what it has by %s, and changes it", async (coding) => {
    const ask = overHttp1((await start([tagged], { middleware: [Compress.make()] })).port);
    const first = await ask("GET", "/", { "accept-encoding": coding });
    const tag = `"one-${coding}"`;
    expect(shownOf(first)[1]).toMatchObject({ etag: tag, "content-encoding": coding });
    for (const listed of [tag, `"other", ${tag}`, `W/"x-gzip", ${tag}`]) {
      const again = await ask("GET", "/", { "accept-encoding": coding, "if-none-match": listed });
      expect([again.status, again.body.length, shownOf(again)[1]]).toMatchObject([304, 0, { etag: tag }]);
    }
    const plain = await ask("GET", "/", { "accept-encoding": coding, "if-none-match": '"one"' });
    expect([plain.status, shownOf(plain)[1]]).toMatchObject([304, { etag: '"one"' }]);
    expect((await ask("GET", "/", { "if-none-match": `"two-${coding}"` })).status).toBe(200);
    expect((await ask("PUT", "/", { "if-match": tag })).status).toBe(204);
    expect((await ask("PUT", "/", { "if-match": `"two-${coding}"` })).status).toBe(412);
  });
});

/** The fields that the table names. */
const named = new Set(["content-encoding", "content-range", "content-type", "etag", "last-modified", "location"]);

/** Status, fields, and the body after decoding; of a long one its length. */
function shownOf({ status, head, body }: Seen): readonly unknown[] {
  const valuesOf = (name: string) => head.flatMap(([one, value]) => (one === name ? [value] : []));
  const fields: { [name: string]: string | readonly string[] } = {};
  for (const [name, value] of head) if (named.has(name)) fields[name] = value;
  if (valuesOf("set-cookie").length > 0) fields["set-cookie"] = valuesOf("set-cookie");
  // Bun joins its lines.
  const vary = valuesOf("vary").flatMap((line) => line.toLowerCase().split(/, */));
  fields["vary"] = vary.toSorted().join(" ");
  const isEncoded = fields["content-encoding"] === "gzip" && body.length > 0;
  const text = (isEncoded ? gunzipSync(body) : body).toString();
  return [status, fields, text.length > 20 ? text.length : text];
}

type Fields = { readonly [name: string]: string | readonly string[] };
type Row = readonly [
  method: string,
  kind: string,
  headers: Sent,
  status: number,
  fields: Fields,
  body: string | number,
];

function table(isCompressed: boolean): readonly Row[] {
  const type = { "content-type": "text/plain; charset=utf-8" };
  const etag = '"one"';
  const origin = { vary: "origin" };
  const varies = isCompressed ? { vary: "accept-encoding origin" } : origin;
  const range = { range: "bytes=0-3" };
  const [encoding, encodedTag] = isCompressed ? [{ "content-encoding": "gzip" }, '"one-gzip"'] : [{}, etag];
  const cookies = ["a=1; Path=/; HttpOnly", "b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "a=3; Path=/x"];
  const dated = { "last-modified": "Wed, 01 Jan 2025 00:00:00 GMT" };
  const long = { ...type, ...varies, etag };
  const compressed = { ...type, ...varies, ...encoding, etag: encodedTag };
  const encoded = { ...type, ...origin, "content-encoding": "br" };
  const part = { ...type, ...origin, "content-range": "bytes 0-5/6000" };
  const withCookie = { vary: isCompressed ? "accept-encoding cookie origin" : "cookie origin" };
  return [
    ["GET", "long", {}, 200, long, 6000],
    ["HEAD", "long", {}, 200, long, ""],
    ["GET", "long", gzip, 200, compressed, 6000],
    ["HEAD", "long", gzip, 200, compressed, ""],
    ["GET", "long", { "accept-encoding": "gzip;q=0" }, 200, long, 6000],
    // The handler has the request, and answers with a 304 or a 206 itself.
    ["GET", "long", { "if-none-match": etag }, 200, long, 6000],
    ["GET", "long", range, 200, long, 6000],
    ["GET", "long", { ...range, "if-range": etag }, 200, long, 6000],
    ["GET", "dated", { "if-modified-since": dated["last-modified"] }, 200, { ...type, ...varies, ...dated }, 6000],
    ["GET", "not-modified", { "if-none-match": etag }, 304, { ...origin, etag }, ""],
    ["HEAD", "not-modified", { "if-none-match": etag }, 304, { ...origin, etag }, ""],
    ["GET", "part", range, 206, part, "a line"],
    ["GET", "part", { ...range, ...gzip }, 206, part, "a line"],
    ["GET", "not-satisfiable", range, 416, { ...origin, "content-range": "bytes */6000" }, ""],
    ["GET", "short", gzip, 200, { ...type, ...varies }, "short"],
    ["GET", "image", gzip, 200, { ...origin, "content-type": "image/png" }, 6000],
    ["GET", "encoded", gzip, 200, encoded, 6000],
    ["GET", "encoded", {}, 200, encoded, 6000],
    ["HEAD", "encoded", gzip, 200, encoded, ""],
    ["GET", "no-transform", gzip, 200, { ...type, ...origin }, 6000],
    ["GET", "varied", gzip, 200, { ...type, ...encoding, ...withCookie }, 6000],
    ["GET", "varied", {}, 200, { ...type, ...withCookie }, 6000],
    ["GET", "empty", gzip, 204, origin, ""],
    ["HEAD", "empty", {}, 204, origin, ""],
    ["GET", "moved", {}, 302, { ...type, ...varies, location: "/elsewhere" }, "moved"],
    ["GET", "own-policy", {}, 200, { ...type, ...varies }, "short"],
    ["GET", "cookies", {}, 200, { ...type, ...varies, "set-cookie": cookies }, "short"],
    ["HEAD", "cookies", {}, 200, { ...type, ...varies, "set-cookie": cookies }, ""],
  ];
}
