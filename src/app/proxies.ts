import { isTexts, needs, needsOptions, shown } from "../arguments.ts";
import { TrustedProxies } from "./trusted-proxies.ts";
import type { ProxyHeader } from "./trusted-proxies.ts";

/** The options of `Proxies.make`. */
export interface ProxiesOptions {
  /** Which header they write: `x-forwarded-for` (with `x-forwarded-host` and `-proto`) unless set, or `forwarded`. */
  readonly header?: ProxyHeader;
}

/** Reverse proxies, made by `Proxies.make`: the app's option `trustedProxies`. */
export interface Proxies {
  /** Internal to the framework: undefined where no proxy is trusted. */
  readonly trusted: TrustedProxies | undefined;
}

/**
 * The reverse proxies whose forwarding headers are trusted: the client's address, the host, whether the client uses HTTPS, and the
 * request's id.
 *
 * Their addresses, CIDR ranges (`10.0.0.0/8`) or `unix:<path>`. Or how many proxies each request passes, where their addresses are
 * not known: with 2 the client is the last but one of `X-Forwarded-For`. Then no client may reach the server past them: it could
 * choose its address.
 *
 * @throws Error for a text that is no address, range or `unix:<path>`, a count that is no whole number from 0, or another header.
 * @example
 * ```ts
 * await serve(routes, { port: 8080, trustedProxies: Proxies.make(["10.0.0.0/8"]) });
 * ```
 */
export function make(addresses: readonly string[] | number, options: ProxiesOptions = {}): Proxies {
  needsOptions("Proxies.make", options, "header");
  const { header = "x-forwarded-for" } = options;
  if (typeof addresses === "number") {
    if (!Number.isSafeInteger(addresses) || addresses < 0)
      throw new Error(`Proxies.make: a count of proxies is a whole number from 0, and not ${addresses}`);
  } else needs(isTexts(addresses), "Proxies.make: proxies", addresses, "a list of texts, or a count of proxies");
  if (header !== "x-forwarded-for" && header !== "forwarded") {
    throw new Error(`Proxies.make: header is "x-forwarded-for" or "forwarded", and not ${shown(header)}`);
  }
  return { trusted: TrustedProxies.read(addresses, header) };
}
