/** What the framework does to answers holds for those of a mount and of `Answer.pass` too: pairs with a route that answers the same. */
import { describe, expect, it } from "vitest";
import { Answer, Cors, Path, Returns, Route, SecureHeaders, get } from "usher-http";
import { Compress } from "usher-http/compress";
import { start } from "../support/node-server.ts";
import { RawClient } from "../support/raw-client.ts";

const text = "a line of text\n".repeat(400);
type Made = { readonly status?: number; readonly body: string | null; readonly headers?: Record<string, string> };
const kinds: { readonly [name: string]: Made } = {
  long: { body: text, headers: { "content-type": "text/plain; charset=utf-8", etag: '"one"' } },
  short: { body: "short", headers: { "content-type": "text/plain; charset=utf-8" } },
  image: { body: text, headers: { "content-type": "image/png" } },
  encoded: { body: text, headers: { "content-type": "text/plain; charset=utf-8", "content-encoding": "br" } },
  "no-transform": {
    body: text,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-transform" },
  },
  varied: { body: text, headers: { "content-type": "text/plain; charset=utf-8", vary: "cookie" } },
  part: {
    status: 206,
    body: "a line",
    headers: { "content-type": "text/plain; charset=utf-8", "content-range": "bytes 0-5/6000" },
  },
  "not-modified": { status: 304, body: null, headers: { etag: '"one"' } },
  empty: { status: 204, body: null },
  moved: { status: 302, body: "moved", headers: { location: "/elsewhere" } },
  "own-policy": { body: "short", headers: { "x-frame-options": "SAMEORIGIN" } },
};

const responseOf = (name: string): Response => {
  const { status = 200, body, headers = {} } = kinds[name] as Made;
  return new Response(body, { status, headers });
};
const routes = Object.keys(kinds).map((kind) =>
  get(Path.of("route", kind), { returns: Returns.response }, () => responseOf(kind)),
);
const passes = Object.keys(kinds).map((kind) =>
  get(Path.of("pass", kind), { returns: Returns.response }, () => Answer.pass(responseOf(kind))),
);
const mount = Route.mount(Path.of("mount"), (request) => responseOf(request.url.split("/").at(-1) as string));

const asked = [
  ["GET", []],
  ["HEAD", []],
  ["GET", ["Accept-Encoding: gzip"]],
  ["GET", ["Accept-Encoding: gzip;q=0"]],
  ["GET", ["Origin: https://shop.example"]],
  ["GET", ["Range: bytes=0-3"]],
  ["GET", ['If-None-Match: "one"']],
] as const;

describe("a mount and a pass answer as a route does", () => {
  it.each(asked)("%s with %j", async (method, fields) => {
    const { port } = await start([...routes, ...passes, mount], {
      middleware: [Compress.make()],
      secureHeaders: SecureHeaders.make(),
      cors: Cors.make({ origins: ["https://shop.example"] }),
    });
    for (const kind of Object.keys(kinds)) {
      const [route, ...others] = await Promise.all(
        ["route", "mount", "pass"].map(async (by) => {
          const client = await RawClient.to(port);
          const answer = await client.ask(`${method} /${by}/${kind}`, fields).answer({ toHead: method === "HEAD" });
          const head = answer.head.filter(([field]) => !["x-request-id", "date"].includes(field.toLowerCase()));
          return { kind, status: answer.status, head, body: answer.body };
        }),
      );
      for (const other of others) expect(other).toEqual(route);
    }
  });
});
