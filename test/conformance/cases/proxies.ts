/** Headers of a trusted proxy; every target's clients have a trusted address (rows SV-22 to SV-27). */
import type { Configuration, Lines, MessageCase } from "../case.ts";
import { text } from "../expected.ts";

const client = (name: string, on: Configuration, headers: Lines, told: string): MessageCase => {
  return { name, on, ask: "GET /client", headers, answer: text(told) };
};
const xff = (...lines: readonly string[]): Lines => lines.map((line) => ["x-forwarded-for", line] as const);

export const proxies: readonly MessageCase[] = [
  client("SV-22 the rightmost that is not trusted", "proxied", xff("6.6.6.6, 1.2.3.4"), "1.2.3.4 h plain"),
  client("SV-24 behind two hops that are", "proxied", xff("6.6.6.6, 1.2.3.4, 10.0.0.7"), "1.2.3.4 h plain"),
  client("SV-24 of several lines", "proxied", xff("6.6.6.6", "1.2.3.4", "10.0.0.7"), "1.2.3.4 h plain"),
  client("SV-22 none told", "proxied", [], "127.0.0.1 h plain"),
  client("SV-22 an IPv6 one with its port", "proxied", xff("[2001:DB8::1]:80"), "2001:db8::1 h plain"),
  client("SV-27 the other family is not read", "proxied", [["forwarded", "for=1.2.3.4"]], "127.0.0.1 h plain"),
  client(
    "SV-22 its host, and that it came by HTTPS",
    "proxied",
    [
      ["host", "localhost"],
      ["x-forwarded-host", "Shop.Example:8443"],
      ["x-forwarded-proto", "https"],
    ],
    "127.0.0.1 shop.example:8443 secure",
  ),
  client("SV-27 of Forwarded", "forwarded", [["forwarded", "for=1.2.3.4"], ...xff("6.6.6.6")], "1.2.3.4 h plain"),
  client(
    "SV-27 an unknown hop is the peer",
    "forwarded",
    [["forwarded", "for=1.2.3.4, for=unknown"]],
    "127.0.0.1 h plain",
  ),
  client("SV-27 an IPv6 hop", "forwarded", [["forwarded", 'for="[2001:db8::1]:4711"']], "2001:db8::1 h plain"),
  client(
    "SV-27 its host and protocol",
    "forwarded",
    [
      ["host", "localhost"],
      ["forwarded", "for=1.2.3.4;host=Shop.Example;proto=https"],
    ],
    "1.2.3.4 shop.example secure",
  ),
  {
    name: "SV-25 the id of a trusted proxy is kept",
    on: "proxied",
    ask: "GET /ok",
    headers: [["x-request-id", "Abc_1.2-3"]],
    answer: text("ok", { headers: [["x-request-id", "Abc_1.2-3"]] }),
  },
  {
    name: "SV-25 but for one that is too long",
    on: "proxied",
    ask: "GET /ok",
    headers: [["x-request-id", "x".repeat(65)]],
    answer: text("ok"),
  },
];
