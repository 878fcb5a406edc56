import type { ForwardedElement } from "../codecs/forwarded.ts";
import { forwarded } from "../codecs/index.ts";
import { addressBytes, isWithin, readRange, withoutPort } from "../http/addresses.ts";
import type { AddressRange } from "../http/addresses.ts";
import { stripped } from "../http/fields.ts";

/** What a trusted proxy says of the request it passed on. */
export interface ProxyWord {
  /** Who came to the outermost trusted proxy; undefined where none is told. */
  readonly client: string | undefined;
  readonly host: string | undefined;
  readonly proto: string | undefined;
}

/** The headers proxies tell of the client by. */
export type ProxyHeader = "x-forwarded-for" | "forwarded";

/** The values of a header, one for each line. */
export type HeaderLines = (name: string) => readonly string[];

/** The proxies whose forwarding headers are believed, and by which of the two families they speak. */
export class TrustedProxies {
  readonly #ranges: readonly AddressRange[];
  readonly #sockets: ReadonlySet<string>;
  readonly #header: ProxyHeader;

  private constructor(ranges: readonly AddressRange[], sockets: ReadonlySet<string>, header: ProxyHeader) {
    this.#ranges = ranges;
    this.#sockets = sockets;
    this.#header = header;
  }

  /** Undefined where none is trusted; what cannot be read is told to `wrong`. */
  static read(
    texts: readonly string[],
    header: ProxyHeader,
    wrong: (problem: string) => void,
  ): TrustedProxies | undefined {
    const ranges: AddressRange[] = [];
    const sockets = new Set<string>();
    for (const text of texts) {
      const range = readRange(text);
      if (range !== undefined) ranges.push(range);
      else if (/^unix:./.test(text)) sockets.add(text);
      else wrong(`trusted proxy ${JSON.stringify(text)} is no address, range or unix:<path>`);
    }
    if (header !== "x-forwarded-for" && header !== "forwarded") {
      wrong(`proxyHeader is "x-forwarded-for" or "forwarded", and not ${JSON.stringify(header)}`);
    }
    return texts.length === 0 ? undefined : new TrustedProxies(ranges, sockets, header);
  }

  /** Whether an address, or `unix:<path>`, is one of them. */
  trusts(peer: string): boolean {
    if (this.#sockets.has(peer)) return true;
    const address = addressBytes(peer);
    return address !== undefined && this.#ranges.some((range) => isWithin(address, range));
  }

  /** What is said of a request whose peer is trusted. */
  word(lines: HeaderLines): ProxyWord {
    return this.#header === "forwarded" ? this.#forwarded(lines) : this.#xForwarded(lines);
  }

  #xForwarded(lines: HeaderLines): ProxyWord {
    const last = (name: string): string | undefined => listOf(lines(name)).at(-1);
    return {
      client: this.#rightmostUntrusted(listOf(lines("x-forwarded-for"))),
      host: last("x-forwarded-host"),
      proto: last("x-forwarded-proto")?.toLowerCase(),
    };
  }

  #forwarded(lines: HeaderLines): ProxyWord {
    const given = lines("forwarded");
    const read = given.length === 0 ? undefined : forwarded.parse(given.join(", "));
    const elements: readonly ForwardedElement[] = read?.ok === true ? read.value : [];
    const last = elements.at(-1);
    const client = this.#rightmostUntrusted(elements.map((element) => element.for));
    return { client, host: last?.host, proto: last?.proto };
  }

  /**
   * Each proxy writes who came to it at the end, so what stands left of an address that is not trusted is that one's own
   * claim. A hop that names no address ends the walk: what is behind it cannot be known.
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

function listOf(lines: readonly string[]): readonly string[] {
  const items = lines.join(",").split(",");
  return items.map((item) => stripped(item)).filter((item) => item !== "");
}

/** The address of a hop, without its port and brackets; an IPv4 one written as IPv6 is told as IPv4. */
function addressOf(hop: string): string | undefined {
  const bare = withoutPort(hop);
  const bytes = addressBytes(bare);
  if (bytes === undefined) return undefined;
  return bytes.length === 4 && bare.includes(":") ? bytes.join(".") : bare.toLowerCase();
}
