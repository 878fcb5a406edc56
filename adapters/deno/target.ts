import { HostCheck, refusedConnect } from "../../src/app/refused-head.ts";
import type { RefusedHead } from "../../src/app/refused-head.ts";

const printable = /^[\x21-\x7e]*$/;
const malformed: RefusedHead = { status: 400, why: "a target or a Host that is none" };

const authorities: HostCheck = new HostCheck();
const hosts: HostCheck = new HostCheck();

/**
 * The request target, cut from the URL that Deno writes of scheme, `Host` and target without a look at them. A `Host`
 * with a path in it would go for a part of the target, past whatever a proxy allows. It would leave a second slash
 * there, and costs a tenth of a request to read: it is looked at where there is one.
 */
export function targetOf(request: Request): string | RefusedHead {
  const { method, url } = request;
  if (!printable.test(url)) return malformed;
  const start = url.indexOf("//") + 2;
  const end = endOfAuthority(url, start);
  const authority = url.slice(start, end);
  const rest = url.slice(end);
  if (!authorities.isHost(authority)) return malformed;
  if (rest.includes("/", 1) && !hosts.isHost(request.headers.get("host") ?? "")) return malformed;
  if (method === "CONNECT") return refusedConnect(authority) ?? authority;
  if (rest === "/*" && method === "OPTIONS") return "*";
  // `http://host` and `http://host?query` have no path of their own.
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The host and the port a request is for: of its target where that has one, and of `Host` otherwise. */
export function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  return url.slice(start, endOfAuthority(url, start));
}

function endOfAuthority(url: string, start: number): number {
  for (let at = start; at < url.length; at++) {
    const char = url[at];
    if (char === "/" || char === "?" || char === "#") return at;
  }
  return url.length;
}
