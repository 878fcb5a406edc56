/** Routes that pass on what other servers and other code answer, on any runtime. */
import { Answer, Header, Log, Path, Returns, Route, Codec, get } from "usher-http";
import type { Route as AnyRoute } from "usher-http";
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

export async function main(
  serve: (routes: readonly AnyRoute[], options: ServeOptions) => Promise<Server>,
): Promise<void> {
  Log.setup({ level: "warn" });
  const { port, url } = await serve(routes, { host: "127.0.0.1", port: 0, signals: false });
  console.log(JSON.stringify({ port, url }));
}
