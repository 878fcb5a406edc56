import { stripped } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import type { Route } from "../routing/route.ts";

/** The origins whose pages may read the routes' responses: a policy of `Cors.make`. */
export interface CorsExtension {
  readonly origins: readonly string[] | "any";
  readonly credentials: boolean;
  /** In lower case. */
  readonly headers: readonly string[];
  readonly expose: readonly string[];
  readonly maxAgeMs: number;
  /** Undefined for all routes. */
  readonly routes: readonly Route[] | undefined;
}

/**
 * Whether a browser reports that another site sent the request (contract 5.7). A browser sends `Sec-Fetch-Site` to HTTPS
 * addresses and its own machine, and no page can change it. Without it, `Origin` is compared with the host. A request with
 * neither is not from a page: only a browser holds cookies that another site could use.
 */
export function isCrossOrigin(request: InputRequest, trusted: ReadonlySet<string>): boolean {
  const sites = request.lines("sec-fetch-site");
  if (sites.length > 0 && sites.every(isOwnSite)) return false;
  if (trusted.size > 0 && isOfListed(request, trusted)) return false;
  const origins = request.lines("origin");
  return sites.length > 0 || !origins.every((origin) => isOfHost(origin, request.host));
}

/** Whether a page of one of the origins sent it. */
export function isOfListed(request: InputRequest, listed: ReadonlySet<string>): boolean {
  const origins = request.lines("origin");
  const [origin] = origins;
  return origin !== undefined && origins.length === 1 && isListed(origin, listed);
}

// "same-site" is another site, because a sibling subdomain may have another owner. "none" is the user: a typed address, a
// bookmark.
function isOwnSite(site: string): boolean {
  if (site === "same-origin") return true;
  const word = stripped(site).toLowerCase();
  return word === "same-origin" || word === "none";
}

/** Whether a list that {@link readOrigins} read has an origin, which a client may send with the default port of its scheme. */
export function isListed(origin: string, listed: ReadonlySet<string>): boolean {
  return listed.has(withoutDefaultPort(origin, origin));
}

// A proxy may change the scheme, so only host and port are compared, and may write the port that a browser leaves out. The "null" of
// an opaque origin has neither.
function isOfHost(origin: string, host: string | undefined): boolean {
  const at = origin.indexOf("://");
  const own = host === undefined ? "" : withoutDefaultPort(host, origin);
  return at > 0 && own !== "" && withoutDefaultPort(origin.slice(at + 3).toLowerCase(), origin) === own;
}

/** A text that ends with a host, without the default port of an origin's scheme (RFC 6454 §6.2; RFC 9110 §4.2). */
function withoutDefaultPort(text: string, origin: string): string {
  const port = defaultPorts.get(origin.slice(0, origin.indexOf(":")).toLowerCase());
  return port !== undefined && text.endsWith(port) ? text.slice(0, -port.length) : text;
}

const defaultPorts: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ["http", ":80"],
  ["https", ":443"],
]);

/** Checks a list of origins, which are compared as text: each must be written as a browser writes it (RFC 6454 §6.1). */
export function readOrigins(texts: readonly string[], wrong: (problem: string) => void): ReadonlySet<string> {
  for (const text of texts) {
    const quoted = JSON.stringify(text);
    if (text === "null") wrong(`${quoted} is sent by every page that hides its origin, and is never trusted`);
    else if (!isOrigin(text)) wrong(`${quoted} is not an origin as a browser writes it: ${originOf(text)}`);
  }
  return new Set(texts);
}

/** The origin that is meant, if there is one: most often there is a slash at the end. */
function originOf(text: string): string {
  const meant = URL.canParse(text) ? new URL(text).origin : "";
  return meant.startsWith("http") && isOrigin(meant) ? `write "${meant}"` : "a scheme and a host in lower case";
}

function isOrigin(text: string): boolean {
  if (text.includes("*")) return false;
  // A browser writes a host name in ASCII and leaves out the scheme's default port.
  if (!/^[!-~]+$/.test(text)) return false;
  if (!/^https?:/.test(text)) return /^[a-z][a-z\d+.-]*:\/\/[^/?#@,A-Z]+$/.test(text);
  return URL.canParse(text) && new URL(text).origin === text;
}
