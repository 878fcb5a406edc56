import { stripped } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import type { Route } from "../routing/route.ts";

/** Whose pages may read what routes answer: a policy of `Cors.make`. */
export interface CorsExtension {
  readonly origins: readonly string[] | "any";
  readonly credentials: boolean;
  /** In lower case. */
  readonly headers: readonly string[];
  readonly expose: readonly string[];
  readonly maxAgeMs: number;
  /** Undefined where it is for all of them. */
  readonly routes: readonly Route[] | undefined;
}

/**
 * Whether a browser says that another site sent the request (contract 5.7). `Sec-Fetch-Site` is the browser's own word,
 * which no page can change; a browser sends it where the address is HTTPS or its own machine. Elsewhere `Origin` is
 * compared with the host. What names neither comes from no page: only a browser holds cookies another site could use.
 */
export function isCrossOrigin(asked: InputRequest, trusted: ReadonlySet<string>): boolean {
  const sites = asked.lines("sec-fetch-site");
  if (sites.length > 0 && sites.every(isOwnSite)) return false;
  const origins = asked.lines("origin");
  const [origin] = origins;
  if (origin !== undefined && origins.length === 1 && trusted.has(origin)) return false;
  return sites.length > 0 || !origins.every((origin) => isOfHost(origin, asked.host));
}

// "same-site" is another site: a sibling subdomain may be anybody's. "none" is the person: an address typed, a bookmark.
function isOwnSite(site: string): boolean {
  if (site === "same-origin") return true;
  const word = stripped(site).toLowerCase();
  return word === "same-origin" || word === "none";
}

// The scheme is a proxy's to change, so that only host and port are compared; the "null" of an opaque origin has none.
function isOfHost(origin: string, host: string | undefined): boolean {
  const at = origin.indexOf("://");
  return at > 0 && host !== "" && origin.slice(at + 3).toLowerCase() === host;
}

/**
 * The origins of a list, or what is wrong with one: each as a browser writes it (RFC 6454 §6.1), since it is compared
 * as text.
 */
export function readOrigins(texts: readonly string[], wrong: (problem: string) => void): ReadonlySet<string> {
  for (const text of texts) {
    const said = JSON.stringify(text);
    if (text === "null") wrong(`${said} stands for any page that hides where it is from, and is never trusted`);
    else if (!isOrigin(text)) wrong(`${said} is no origin as a browser writes it: a scheme and a host in lower case`);
  }
  return new Set(texts);
}

function isOrigin(text: string): boolean {
  if (text.includes("*")) return false;
  // A browser writes a host's name in ASCII, and leaves out the port that the scheme has anyway.
  if (!/^[!-~]+$/.test(text)) return false;
  if (!/^https?:/.test(text)) return /^[a-z][a-z\d+.-]*:\/\/[^/?#@,A-Z]+$/.test(text);
  return URL.canParse(text) && new URL(text).origin === text;
}
