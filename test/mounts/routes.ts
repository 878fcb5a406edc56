/** Routes that pass on what other servers and other code answer, on any runtime. */
import { Answer, Header, Log, Path, Returns, Route, Codec, get, param } from "usher-http";
import type { Route as AnyRoute } from "usher-http";
import { options as rulesOptions, routes as rules } from "./rules-routes.ts";
import type { ServeOptions, Server } from "../../src/server/options.ts";

/** The address of the other server, which the test sends. */
const upstream = Header.required("x-upstream", Codec.string);
const coding = Path.of("coding", Path.str("name"));

export const routes: readonly AnyRoute[] = [
  get(coding, { inputs: { upstream }, returns: Returns.response }, async ({ upstream }) =>
    Answer.pass(await fetch(upstream)),
  ),
  Route.mount(
    Path.of("proxy"),
    (request, { upstream }) => {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(`${upstream}${pathname}${search}`, request));
    },
    { inputs: { upstream }, stripPrefix: true, maxBody: 1 << 30 },
  ),
  Route.mount(Path.of("other"), async (request) => {
    const headers = new Headers({ "x-method": request.method, "x-path": new URL(request.url).pathname });
    headers.append("set-cookie", "a=1; Path=/");
    headers.append("set-cookie", "b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT");
    return new Response(await request.text(), { status: 203, headers });
  }),
];

/** Of workerd: a body whose length it knows. */
const { FixedLengthStream } = globalThis as {
  readonly FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
};

/** The ways in which a handler uses its `Request`: each gives the text that the other server got. */
const uses: { readonly [way: string]: (request: Request, url: string) => Promise<Response> } = {
  "fetch(url, request)": (request, url) => fetch(url, request),
  "fetch(new Request(url, request))": (request, url) => fetch(new Request(url, request)),
  "fetch(new Request(url, new Request(request, init)))": (request, url) =>
    fetch(new Request(url, new Request(request, { headers: { "x-one": "1" } }))),
  "fetch(url, clone)": (request, url) => fetch(url, request.clone()),
  "fetch(clone of a clone)": (request, url) => fetch(new Request(url, request.clone().clone())),
  "a body of its length": ({ method, signal, headers, body }, url) => {
    const length = Number(headers.get("content-length") ?? Number.NaN);
    const isKnown = FixedLengthStream !== undefined && length >= 0;
    const sent = isKnown ? body?.pipeThrough(new FixedLengthStream(length)) : body;
    return fetch(url, { method, signal, headers: { "x-one": "1" }, body: sent ?? null, duplex: "half" });
  },
  "its signal": async ({ method, signal, body }, url) => {
    const sent = body === null ? null : await new Response(body).text();
    return fetch(url, { method, signal, headers: { "x-one": "1" }, body: sent });
  },
  "AbortSignal.any": async (request, url) => {
    const signal = AbortSignal.any([request.signal, new AbortController().signal]);
    const sent = request.body === null ? null : await request.text();
    return fetch(url, { method: request.method, signal, headers: { "x-one": "1" }, body: sent });
  },
};
export const ways: readonly string[] = Object.keys(uses);

const way = Path.str("way");
export const using: AnyRoute = Route.mount(
  Path.of("use", way),
  async (request, { upstream, way }) => {
    const response = await (uses[way] as (request: Request, url: string) => Promise<Response>)(request, upstream);
    const headers = { "x-is": String(request instanceof Request), "x-aborted": String(request.signal.aborted) };
    return new Response(response.body, { status: response.status, headers });
  },
  { inputs: { upstream, way: param(way) }, maxBody: 1 << 30 },
);

/** Handlers that answer with the body of their request. */
export const echoes: readonly AnyRoute[] = [
  Route.mount(Path.of("echo"), (request) => new Response(request.body), { maxBody: 1 << 30 }),
  Route.mount(
    Path.of("through"),
    async ({ body, signal }, { upstream }) => {
      const init = { method: "POST", body, signal, duplex: "half" as const };
      return new Response((await fetch(`${upstream}/echo`, init)).body);
    },
    { inputs: { upstream }, maxBody: 1 << 30 },
  ),
  // Reads its body once the client has got a part of its response.
  Route.mount(
    Path.of("late"),
    (request) => {
      let isAsked = false;
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
        const text = isAsked ? await request.text().then(({ length }) => String(length), () => "failed") : "begun "; // prettier-ignore
        controller.enqueue(new TextEncoder().encode(text));
        if (isAsked) controller.close();
        // A later event: the head is not made of what is there at once.
        isAsked = await new Promise((resolve) => setTimeout(() => resolve(true), 20));
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    },
    { maxBody: 1 << 30 },
  ),
];

export async function main(
  serve: (routes: readonly AnyRoute[], options: ServeOptions) => Promise<Server>,
  middleware: ServeOptions["middleware"] & object,
): Promise<void> {
  Log.setup({ level: "warn" });
  const all = [...routes, ...echoes, using, ...rules];
  const { port, url } = await serve(all, { ...rulesOptions, middleware, host: "127.0.0.1", port: 0, signals: false });
  console.log(JSON.stringify({ port, url }));
}
