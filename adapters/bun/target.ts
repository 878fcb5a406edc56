import { HostCheck, refusedConnect } from "../../src/app/refused-head.ts";
import type { RefusedHead } from "../../src/app/refused-head.ts";

const badHost: RefusedHead = { status: 400, why: "a Host that is none" };
const hosts: HostCheck = new HostCheck();
const scheme = "http://";
/** What came before the path last: that nearly every request has the same spares it the reading. */
let lastOrigin = "http:///";

/** The request target, cut from the URL that Bun makes of it and of `Host`, where it can make one. */
export function targetOf(request: Request): string | RefusedHead {
  const { method, url } = request;
  if (url.startsWith(lastOrigin) && method !== "CONNECT") return url.slice(lastOrigin.length - 1);
  if (method === "CONNECT" || !url.startsWith(scheme)) return withoutHost(request);
  const path = url.indexOf("/", scheme.length);
  if (!hosts.isHost(url.slice(scheme.length, path))) return badHost;
  lastOrigin = url.slice(0, path + 1);
  return url.slice(path);
}

// Where `Host` is none that a URL can have, and for HTTP/1.0 without one, Bun tells the path alone, and for `CONNECT`
// the authority alone.
function withoutHost({ method, url, headers }: Request): string | RefusedHead {
  if (method === "CONNECT") return refusedConnect(url) ?? url;
  return hosts.isHost(headers.get("host") ?? "") ? url : badHost;
}
