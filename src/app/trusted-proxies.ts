import type { ForwardedElement } from "../codecs/forwarded.ts";
import { forwarded } from "../codecs/index.ts";
import { addressBytes, isWithin, readRange, withoutPort, withoutZone } from "../http/addresses.ts";
import type { AddressRange } from "../http/addresses.ts";
import { stripped } from "../http/fields.ts";
import { isHost } from "../http/target.ts";

/** The values of a trusted proxy's forwarding headers. */
export interface ForwardedValues {
  /** The address that connected to the outermost trusted proxy; undefined where the headers name no address. */
  readonly client: string | undefined;
  readonly host: string | undefined;
  readonly proto: string | undefined;
  /** The path that the proxy took from the beginning of the target: `/api`, or empty. */
  readonly prefix: string;
}

/** The headers by which proxies forward the address of the client. */
export type ProxyHeader = "x-forwarded-for" | "forwarded";

/** The values of a header, one for each line. */
export type HeaderLines = (name: string) => readonly string[];

/** The proxies whose forwarding headers are trusted, and which family of headers they write. */
export class TrustedProxies {
  readonly #ranges: readonly AddressRange[];
  readonly #sockets: ReadonlySet<string>;
  readonly #header: ProxyHeader;
  /** How many proxies there are, the peer among them; undefined where they are known by their addresses. */
  readonly #hops: number | undefined;

  private constructor(
    ranges: readonly AddressRange[],
    sockets: ReadonlySet<string>,
    header: ProxyHeader,
    hops?: number,
  ) {
    this.#hops = hops;
    this.#ranges = ranges;
    this.#sockets = sockets;
    this.#header = header;
  }

  /**
   * Undefined where no proxy is trusted.
   *
   * @throws Error for an entry that cannot be read.
   */
  static read(given: readonly string[] | number, header: ProxyHeader): TrustedProxies | undefined {
    const ranges: AddressRange[] = [];
    const sockets = new Set<string>();
    if (typeof given === "number") return given === 0 ? undefined : new TrustedProxies(ranges, sockets, header, given);
    for (const text of given) {
      const range = readRange(text);
      if (/\/0+$/.test(text) && range !== undefined)
        throw new Error(
          `Proxies.make: ${text} is every address: any client could choose its own. List the proxies' addresses`,
        );
      if (range !== undefined) ranges.push(range);
      else if (/^unix:./.test(text)) sockets.add(text);
      else throw new Error(`Proxies.make: ${JSON.stringify(text)} is no address, range or unix:<path>`);
    }
    return given.length === 0 ? undefined : new TrustedProxies(ranges, sockets, header);
  }

  /** Whether an address, or `unix:<path>`, is one of them. With a count of proxies each peer is the last of them. */
  trusts(peer: string): boolean {
    if (this.#hops !== undefined) return true;
    if (this.#sockets.has(peer)) return true;
    const address = addressBytes(withoutZone(peer));
    return address !== undefined && this.#ranges.some((range) => isWithin(address, range));
  }

  /** The id that one of them gave a request, in `X-Request-ID`. */
  passedOnId(request: { readonly peer: string; readonly lines: HeaderLines }): string | undefined {
    const [id = "", ...others] = request.lines("x-request-id");
    return others.length === 0 && /^[\w.-]{1,64}$/.test(id) && this.trusts(request.peer) ? id : undefined;
  }

  /** Reads the forwarding headers of a request whose peer is trusted. */
  forwardedValues(lines: HeaderLines): ForwardedValues {
    return this.#header === "forwarded" ? this.#forwarded(lines) : this.#xForwarded(lines);
  }

  #xForwarded(lines: HeaderLines): ForwardedValues {
    const last = (name: string): string | undefined => listOf(lines(name)).at(-1);
    return {
      client: this.#clientOf(listOf(lines("x-forwarded-for"))),
      host: hostOf(last("x-forwarded-host")),
      proto: last("x-forwarded-proto")?.toLowerCase(),
      prefix: prefixOf(last("x-forwarded-prefix")),
    };
  }

  #forwarded(lines: HeaderLines): ForwardedValues {
    const given = lines("forwarded");
    const read = given.length === 0 ? undefined : forwarded.parse(given.join(", "));
    const elements: readonly ForwardedElement[] = read?.ok === true ? read.value : [];
    const last = elements.at(-1);
    const client = this.#clientOf(elements.map((element) => element.for));
    return { client, host: last?.host, proto: last?.proto, prefix: "" };
  }

  #clientOf(hops: readonly (string | undefined)[]): string | undefined {
    return this.#hops === undefined ? this.#rightmostUntrusted(hops) : countedHop(hops, this.#hops);
  }

  /**
   * Each proxy appends the address that connected to it, so everything left of an address that is not trusted is a claim of
   * that client. A hop without an address ends the search: what is left of it is unknown.
   */
  #rightmostUntrusted(hops: readonly (string | undefined)[]): string | undefined {
    for (const hop of hops.toReversed()) {
      const address = hop === undefined ? undefined : addressOf(hop);
      if (address === undefined) return undefined;
      if (!this.trusts(address)) return address;
    }
    return undefined;
  }
}

/**
 * The hop that the outermost of the `count` proxies appended; what is left of it is a claim of the client. A request that passed fewer of
 * them has fewer hops: then it is the first one. A hop between that is no address is a proxy that hides it, and is counted.
 */
function countedHop(hops: readonly (string | undefined)[], count: number): string | undefined {
  const hop = hops.at(-Math.min(count, hops.length));
  return hop === undefined ? undefined : addressOf(hop);
}

/** A host; undefined for any other text, such as `h/admin?`, which would be the path of a URL. Many proxies pass on what a client sent. */
function hostOf(text = ""): string | undefined {
  return text !== "" && isHost(text) ? text : undefined;
}

/**
 * A path without a slash at its end; empty for any other text, such as `//elsewhere.example`, which is another site, and `/..`, which a
 * browser resolves.
 */
function prefixOf(text = ""): string {
  const path = text.endsWith("/") ? text.slice(0, -1) : text;
  return /^(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[\w.~!$&'()*+,;=:@%-]+)+$/i.test(path) ? path : "";
}

function listOf(lines: readonly string[]): readonly string[] {
  const items = lines.join(",").split(",");
  return items.map((item) => stripped(item)).filter((item) => item !== "");
}

/** The address of a hop without port and brackets; an IPv4 address that is mapped to IPv6, as IPv4. */
function addressOf(hop: string): string | undefined {
  const bare = withoutPort(hop);
  const bytes = addressBytes(bare);
  if (bytes === undefined) return undefined;
  return bytes.length === 4 && bare.includes(":") ? bytes.join(".") : bare.toLowerCase();
}
