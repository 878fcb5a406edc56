/** One `Response` of each kind, answered by a route, by `Answer.pass`, as of `undici`, and by a mount, under what the framework does to answers. */
import { Answer, Cors, Path, Returns, Route, SecureHeaders, get } from "usher-http";
import type { AppOptions, Route as AnyRoute } from "usher-http";

const text = "a line of text\n".repeat(400);
const plain = { "content-type": "text/plain; charset=utf-8" };

interface Made {
  readonly status?: number;
  readonly body: string | null;
  readonly headers?: { readonly [name: string]: string };
  /** `Set-Cookie`, which a route may not return in a bare `Response`. */
  readonly cookies?: readonly string[];
}

export const kinds: { readonly [name: string]: Made } = {
  long: { body: text, headers: { ...plain, etag: '"one"' } },
  dated: { body: text, headers: { ...plain, "last-modified": "Wed, 01 Jan 2025 00:00:00 GMT" } },
  short: { body: "short", headers: plain },
  image: { body: text, headers: { "content-type": "image/png" } },
  encoded: { body: text, headers: { ...plain, "content-encoding": "br" } },
  "no-transform": { body: text, headers: { ...plain, "cache-control": "no-transform" } },
  varied: { body: text, headers: { ...plain, vary: "cookie" } },
  part: { status: 206, body: "a line", headers: { ...plain, "content-range": "bytes 0-5/6000" } },
  "not-satisfiable": { status: 416, body: null, headers: { "content-range": "bytes */6000" } },
  "not-modified": { status: 304, body: null, headers: { etag: '"one"' } },
  empty: { status: 204, body: null },
  moved: { status: 302, body: "moved", headers: { ...plain, location: "/elsewhere" } },
  "own-policy": { body: "short", headers: { ...plain, "x-frame-options": "SAMEORIGIN" } },
  cookies: {
    body: "short",
    headers: plain,
    cookies: ["a=1; Path=/; HttpOnly", "b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "a=3; Path=/x"],
  },
};

function responseOf(name: string): Response {
  const { status = 200, body, headers = {}, cookies = [] } = kinds[name] as Made;
  const fields = new Headers(headers);
  for (const cookie of cookies) fields.append("set-cookie", cookie);
  return new Response(body, { status, headers: fields });
}

/** The same as `request` of `undici` resolves with it: of any runtime, which has no stream of Node's. */
function requestedOf(name: string): Answer.UndiciResponse {
  const { status = 200, body, headers = {}, cookies } = kinds[name] as Made;
  const bytes = new TextEncoder().encode(body ?? "");
  async function* parts() {
    if (bytes.length > 0) yield bytes;
  }
  return {
    statusCode: status,
    headers: { ...headers, ...(body === null ? {} : { "content-length": `${bytes.length}` }), "set-cookie": cookies },
    body: parts(),
  };
}

export const routes: readonly AnyRoute[] = [
  ...Object.entries(kinds).flatMap(([kind, { cookies }]) => {
    const returns = Returns.response;
    const pass = get(Path.of("rules", "pass", kind), { returns }, () => Answer.pass(responseOf(kind)));
    const requested = get(Path.of("rules", "undici", kind), { returns }, () => Answer.pass(requestedOf(kind)));
    if (cookies !== undefined) return [pass, requested];
    return [pass, requested, get(Path.of("rules", "route", kind), { returns }, () => responseOf(kind))];
  }),
  Route.mount(Path.of("rules", "mount"), ({ url }) => responseOf(url.split("/").at(-1) as string)),
];

export const options: Pick<AppOptions, "secureHeaders" | "cors"> = {
  secureHeaders: SecureHeaders.make(),
  cors: Cors.make({ origins: ["https://shop.example"] }),
};
