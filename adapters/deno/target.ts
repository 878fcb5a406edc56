/** What Deno hands over as a request and is none. */
export class Refused {
  readonly status: number;
  /** For the log. */
  readonly why: string;

  constructor(status: number, why: string) {
    this.status = status;
    this.why = why;
  }
}

const printable = /^[\x21-\x7e]*$/;
// RFC 3986 §3.2.2, with a port.
const authority = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

const malformed = new Refused(400, "a target or a Host that is none");

/**
 * The request target, cut from the URL that Deno writes of scheme, `Host` and target without a look at them. A `Host`
 * with a path in it would go for a part of the target, past whatever a proxy allows. It would leave a second slash
 * there, and costs a tenth of a request to read: it is looked at where there is one.
 */
export function targetOf(request: Request): string | Refused {
  const { method, url } = request;
  if (!printable.test(url)) return malformed;
  const start = url.indexOf("//") + 2;
  const end = endOfAuthority(url, start);
  const rest = url.slice(end);
  const isSure = !rest.includes("/", 1) && authority.test(url.slice(start, end));
  if (!isSure && !authority.test(request.headers.get("host") ?? "")) return malformed;
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
