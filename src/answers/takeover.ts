import { lists } from "../codecs/tokens.ts";
import type { TakeoverBody, TakingOver } from "./answer.ts";

const name = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
/** RFC 9110 §7.8: a name, and a version where it has one. */
const protocolForm: RegExp = /* @__PURE__ */ new RegExp(`^${name}(?:/${name})?$`);

/** Throws where the protocol is none. */
export function takeoverBody(protocol: string, handle: TakeoverBody["handle"]): TakeoverBody {
  if (typeof protocol !== "string" || !protocolForm.test(protocol)) {
    const given = typeof protocol === "string" ? JSON.stringify(protocol) : `a value of type ${typeof protocol}`;
    throw new RangeError(`Answer.takeover: ${given} is no protocol's name`);
  }
  if (typeof handle !== "function") throw new TypeError("Answer.takeover: there is no function that speaks it");
  return {
    protocol,
    handle,
    refusedBy: (exchange) => refusedBy(exchange, `a takeover to ${JSON.stringify(protocol)}`, protocol),
  };
}

function refusedBy(exchange: TakingOver, what: string, protocol: string): string | undefined {
  if (exchange.canTakeOver === undefined) {
    return `${what}, for which ${exchange.listener ?? "app.fetch"} hands over no connection: usher-http/node does`;
  }
  const isOffered = lists(exchange.lines("upgrade"), protocol) && lists(exchange.lines("connection"), "upgrade");
  if (!isOffered) return `${what}, which the client did not offer`;
  return exchange.canTakeOver ? undefined : `${what}, by a request that is no GET of HTTP/1.1 without a body`;
}
