/** Requests of another site's page (contract 5.7; rows XO, FM-09). */
import type { Lines, MessageCase } from "../case.ts";
import { empty, json, refused } from "../expected.ts";

const host = ["host", "shop.example:8443"] as const;
const own = ["origin", "https://shop.example:8443"] as const;
const other = ["origin", "https://evil.example"] as const;
const site = (word: string) => ["sec-fetch-site", word] as const;
const form = ["content-type", "application/x-www-form-urlencoded"] as const;

const elsewhere = refused(403, "cross_origin", "That request came from another site, so it was not carried out.");

const posts = (name: string, headers: Lines, answer: MessageCase["answer"]): MessageCase => {
  return { name, ask: "POST /jobs", headers: [host, ...headers], answer };
};

export const origins: readonly MessageCase[] = [
  posts("XO-01 another origin", [other], elsewhere),
  posts("XO-01 another site, by the browser's word", [site("cross-site"), other], elsewhere),
  posts("XO-03 a sibling is another site", [site("same-site")], elsewhere),
  posts("XO-04 an opaque origin", [["origin", "null"]], elsewhere),
  posts("XO-06 its own site, by the browser's word", [site("same-origin"), own], empty(202)),
  posts("XO-07 its own origin", [own], empty(202)),
  posts("XO-10 another port", [["origin", "https://shop.example:9443"]], elsewhere),
  {
    name: "XO-07 its own origin, where a proxy writes the default port",
    ask: "POST /jobs",
    headers: [
      ["host", "shop.example:443"],
      ["origin", "https://shop.example"],
    ],
    answer: empty(202),
  },
  posts("XO-12 no browser", [], empty(202)),
  posts("XO the person's own doing", [site("none")], empty(202)),
  {
    name: "XO-13 a GET is not checked",
    ask: "GET /hello/kim",
    headers: [host, site("cross-site"), other],
    answer: json('{"name":"kim","times":1}'),
  },
  {
    name: "XO-15 its host is a trusted proxy's word",
    on: "proxied",
    ask: "POST /jobs",
    headers: [["host", "10.0.0.5:8080"], ["x-forwarded-host", "shop.example:8443"], own],
    answer: empty(202),
  },
  {
    name: "XO-16 and of no other",
    ask: "POST /jobs",
    headers: [["host", "10.0.0.5:8080"], ["x-forwarded-host", "shop.example:8443"], own],
    answer: elsewhere,
  },
  { name: "XO-18 an unknown path", ask: "POST /nowhere", headers: [host, other], answer: elsewhere },
  {
    name: "FM-09 a form",
    ask: "POST /profiles",
    headers: [host, other, form],
    body: "email=a%40b.example",
    answer: elsewhere,
  },
];
