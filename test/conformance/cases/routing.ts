/** Matching (contract 4.2; rows RT). */
import type { MessageCase } from "../case.ts";
import { empty, html, json, malformed, missing, notAllowed, notImplemented, problems, text } from "../expected.ts";

const greeted = json('{"name":"kim","times":1}');
const notWhole = malformed("path.order_id", "This is not a whole number.");
const page = (path: string) => html(`nothing at ${path}`, { status: 404 });
const moved = (location: string) => empty(308, [["location", location]]);

const main: readonly MessageCase[] = [
  { name: "RT-01 JSON is compact, its members in declared order", ask: "GET /hello/kim", answer: greeted },
  { name: "RT-03 one path under two methods", ask: "DELETE /hello/kim", answer: empty() },
  { name: "RT-04 another method of a path", ask: "POST /hello/kim", answer: notAllowed("GET, DELETE, HEAD") },
  { name: "RT-10 the root", ask: "GET /", answer: text("home") },
  { name: "RT-12 a slash behind a path is another path", ask: "GET /hello/kim/", answer: missing },
  { name: "RT a path that is no route's", ask: "GET /nowhere", answer: missing },
  { name: "RT a path longer than a route's", ask: "GET /hello/kim/more", answer: missing },
  { name: "RT a path shorter than a route's", ask: "GET /hello", answer: missing },
  { name: "RT an empty segment is no parameter", ask: "GET /hello/", answer: missing },
  { name: "RT a path is compared with case", ask: "GET /Hello/kim", answer: missing },
  { name: "RT two slashes are two", ask: "GET //hello/kim", answer: missing },
  { name: "RT two slashes inside are two", ask: "GET /hello//kim", answer: missing },
  { name: "RT a query is no part of the path", ask: "GET /hello/kim?x=/y", answer: greeted },
  { name: "RT an empty query is no part of it", ask: "GET /hello/kim?", answer: greeted },
  { name: "RT a query with a question mark in it", ask: "GET /who?q=a?b", answer: json('["a?b","-","-","-"]') },
  { name: "RT-18 a parameter that declines is asked first", ask: "GET /items/5", answer: text("number") },
  { name: "RT-18 what it declines is the next one's", ask: "GET /items/pen", answer: text("name") },
  { name: "RT-19 declined, with no other route", ask: "GET /half/7", answer: missing },
  { name: "RT-19 not declined", ask: "GET /half/8", answer: text("4") },
  { name: "RT-21 a parameter that parses", ask: "GET /orders/7", answer: json("7") },
  { name: "RT-21 one below 0", ask: "GET /orders/-7", answer: json("-7") },
  { name: "RT-22 a parameter that is no number", ask: "GET /orders/abc", answer: notWhole },
  { name: "RT-22 hexadecimal", ask: "GET /orders/0x1f", answer: notWhole },
  { name: "RT-22 underscores", ask: "GET /orders/1_000", answer: notWhole },
  { name: "RT-22 a plus, encoded", ask: "GET /orders/%2B3", answer: notWhole },
  { name: "RT-22 past what a number holds", ask: "GET /orders/99999999999999999999", answer: notWhole },
  { name: "RT-24 of routes alike, the first listed", ask: "GET /pair/5", answer: text("first") },
  { name: "RT-25 a declining parameter beats a plain one", ask: "GET /rank/7/b", answer: text("first") },
  { name: "RT-25 position by position", ask: "GET /rank/7/c", answer: text("second") },
  { name: "RT a literal beats a parameter", ask: "GET /users/me", answer: text("me") },
  { name: "RT-43 64 bits, exact", ask: "GET /users/9007199254740993", answer: text("9007199254740993") },
  {
    name: "RT-43 64 bits, and no more",
    ask: "GET /users/9223372036854775808",
    answer: malformed("path.id", "This is not a whole number."),
  },
  {
    name: "CD-133 a codec of one's own says what is wrong itself",
    ask: "GET /even/7",
    answer: malformed("path.n", "This is not an even number."),
  },
  { name: "RT-27 a rest", ask: "GET /static/css/site.css", answer: text("css|site.css") },
  { name: "RT-28 a rest of nothing", ask: "GET /static", answer: text("") },
  { name: "RT-29 an encoded slash stays in its segment", ask: "GET /static/a%2Fb/c", answer: text("a/b|c") },
  { name: "RT-30 an empty segment is no part of a rest", ask: "GET /static/a//b", answer: missing },
  { name: "RT-30 nor is one at its end", ask: "GET /static/a/", answer: missing },
  { name: "RT-36 a method nobody knows", ask: "PROPFIND /anywhere", answer: notImplemented },
  { name: "RT-36 a method nobody knows, at a route's path", ask: "PROPFIND /hello/kim", answer: notImplemented },
  { name: "RT-36 TRACE", ask: "TRACE /hello/kim", answer: notImplemented },
  { name: "RT-36 a method of one's own making", ask: "FOO /hello/kim", answer: notImplemented },
  { name: "RT-36 a method in lower case is another one", ask: "get /hello/kim", answer: notImplemented },
  { name: "RT a method that a route made known", ask: "PURGE /purged", answer: text("purged") },
  {
    name: "RT a method that a route made known, elsewhere",
    ask: "PURGE /hello/kim",
    answer: notAllowed("GET, DELETE, HEAD"),
  },
  {
    name: "RT-48 Allow is in the order of the routes, HEAD last",
    ask: "DELETE /several",
    answer: notAllowed("GET, POST, OPTIONS, HEAD"),
  },
  { name: "RT-51 a 202 with no body has a length of 0", ask: "POST /later", answer: empty(202) },
  { name: "RT-46 a header of the answer's own", ask: "GET /own", answer: text("mine", { headers: [["x-mine", "1"]] }) },
];

/** Request targets as raw bytes, which some runtimes rewrite. */
const targets: readonly MessageCase[] = [
  { name: "RT-49 an absolute target is routed by its path", ask: "GET http://abs.example/hello/kim", answer: greeted },
  { name: "RT-49 its authority is the host", ask: "GET http://abs.example/host", answer: text("abs.example") },
  { name: "RT an absolute target with no path", ask: "GET http://abs.example", answer: text("home") },
  {
    name: "RT the host of a path is Host",
    ask: "GET /host",
    headers: [["Host", "Shop.example:8443"]],
    answer: text("shop.example:8443"),
  },
  {
    name: "RT a target is handed over as it was sent",
    ask: "GET /target?a=%41+b&c",
    answer: text("/target?a=%41+b&c"),
  },
  { name: "RT a segment is decoded", ask: "GET /text/a%20b%3F%23%25", answer: json('"a b?#%"') },
  { name: "RT a segment of UTF-8", ask: "GET /text/%E4%B8%96%F0%9F%8C%8D", answer: json('"世🌍"') },
  { name: "RT a plus in a path is a plus", ask: "GET /text/a+b", answer: json('"a+b"') },
  {
    name: "RT a literal is compared decoded",
    ask: "GET /a%20b/%C3%BC",
    answer: text("a literal that is written encoded"),
  },
  { name: "RT a literal that need not be encoded", ask: "GET /%68ello/kim", answer: greeted },
  { name: "RT-22 parameters that nobody reads", ask: "GET /unread/12/kim", answer: text("unread") },
  {
    name: "RT-22 parameters that nobody reads are checked",
    ask: "GET /unread/abc/%zz",
    answer: problems(
      ["path.order_id", "malformed", "This is not a whole number."],
      ["path.name", "malformed", "This is not text."],
    ),
  },
  {
    name: "RT-22 a rest that nobody reads is checked, with the other inputs",
    ask: "GET /unread/rest/a/%ff?q=x",
    answer: problems(
      ["path.file", "malformed", "This is not text."],
      ["query.q", "malformed", "This is not a whole number."],
    ),
  },
  { name: "RT a broken escape", ask: "GET /text/%zz", answer: malformed("path.name", "This is not text.") },
  { name: "RT an escape that is cut short", ask: "GET /text/%4", answer: malformed("path.name", "This is not text.") },
  { name: "RT escapes that are no UTF-8", ask: "GET /text/%ff", answer: malformed("path.name", "This is not text.") },
  { name: "RT an overlong escape", ask: "GET /text/%C0%AF", answer: malformed("path.name", "This is not text.") },
  { name: "RT NUL, encoded, is text", ask: "GET /text/%00", answer: json('"\\u0000"') },
  { name: "RT a backslash is no slash", ask: "GET /hello\\kim", answer: missing },
  { name: "UR a step up is a segment", ask: "GET /text/..", answer: json('".."') },
  { name: "UR a step up, encoded, is a segment", ask: "GET /text/%2E%2E", answer: json('".."') },
  { name: "UR a dot, encoded, is a segment", ask: "GET /text/%2e", answer: json('"."') },
  { name: "RT a fragment is no part of it", ask: "GET /hello/kim#part", answer: greeted },
  { name: "RT a target of braces and quotes", ask: 'GET /text/{"a"}', answer: json('"{\\"a\\"}"') },
];

const guarded = text("guarded by its path");
const others = text("site");
/** A guard compares paths as the router does: what reaches the route `/admin/users` is seen by the guard. */
const spellings: readonly MessageCase[] = (
  [
    ["as it is", "/admin/users", guarded],
    ["with an encoded letter", "/%61dmin/users", guarded],
    ["with every letter encoded", "/%61%64%6D%69%6e/%75%73%65%72%73", guarded],
    ["with letters encoded in either case of hex", "/ad%6Din/u%73ers", guarded],
    ["with its last letter encoded", "/admi%6e/users", guarded],
    ["with a query", "/%61dmin/users?x=/", guarded],
    ["encoded twice is another path", "/%2561dmin/users", others],
    ["with an encoded slash is one segment", "/admin%2Fusers", guarded],
    ["with an encoded slash in front is another path", "/%2Fadmin/users", others],
    ["with a semicolon is another segment", "/%61dmin;x=1/users", guarded],
    ["with an encoded backslash is one segment", "/x%5Cadmin/users", others],
    ["of an overlong a", "/%C1%A1dmin/users", malformed("path.file", "This is not text.")],
    ["with a cut escape", "/%6/admin/users", malformed("path.file", "This is not text.")],
    ["in another case", "/Admin/users", others],
    ["with an encoded NUL", "/admin%00/users", guarded],
  ] as const
).map(([what, target, answer]) => ({
  name: `RT a guard sees a path ${what}`,
  on: "site",
  ask: `GET ${target}`,
  answer,
}));

const site: readonly MessageCase[] = [
  { name: "RT-07 a rest at the root takes every path", on: "site", ask: "GET /a/b", answer: text("site") },
  { name: "RT-31 a literal beats it", on: "site", ask: "GET /api/health", answer: text("health") },
  { name: "RT-31 a parameter beats it", on: "site", ask: "GET /api/users/7", answer: text("user") },
  ...spellings,
  { name: "RT-31 a path too short is its", on: "site", ask: "GET /api/users", answer: text("site") },
  { name: "RT-31 a path too long is its", on: "site", ask: "GET /api/users/7/x", answer: text("site") },
  { name: "RT-31 the root is its", on: "site", ask: "GET /", answer: text("site") },
  {
    name: "RT-33 a path that another method's route names is not",
    on: "site",
    ask: "GET /orders",
    answer: notAllowed("POST"),
  },
  { name: "RT-34 what is below that is", on: "site", ask: "GET /orders/7", answer: text("site") },
];

const own: readonly MessageCase[] = [
  {
    name: "RT-06 an application's own page for what is not there",
    on: "page",
    ask: "GET /nowhere",
    answer: page("/nowhere"),
  },
  { name: "RT-37 a 501 comes before it", on: "page", ask: "PROPFIND /anywhere", answer: notImplemented },
  {
    name: "RT-13 a slash behind a path is redirected, its query with it",
    on: "page",
    ask: "GET /hello/kim/?x=1",
    answer: moved("/hello/kim?x=1"),
  },
  { name: "RT-13 of a DELETE, too", on: "page", ask: "DELETE /hello/kim/", answer: moved("/hello/kim") },
  { name: "RT-13 of a HEAD, too", on: "page", ask: "HEAD /hello/kim/", answer: moved("/hello/kim") },
  {
    name: "RT-13 an encoded segment stays encoded",
    on: "page",
    ask: "GET /hello/k%2Fm/",
    answer: moved("/hello/k%2Fm"),
  },
  { name: "RT-13 two slashes are not one", on: "page", ask: "GET /hello/kim//", answer: page("/hello/kim//") },
  {
    name: "RT-13 what is nowhere without it, either, is not there",
    on: "page",
    ask: "GET /nowhere/",
    answer: page("/nowhere/"),
  },
  {
    name: "RT-15 no redirect begins with two slashes",
    on: "page",
    ask: "GET //elsewhere.example/hello/kim/",
    answer: page("//elsewhere.example/hello/kim/"),
  },
  {
    name: "RT-15 nor with a slash and a backslash",
    on: "page",
    ask: "GET /\\elsewhere.example/hello/kim/",
    answer: page("/\\elsewhere.example/hello/kim/"),
  },
  {
    name: "RT-16 with a slash, a path is still the route's path",
    on: "page",
    ask: "POST /hello/kim/",
    answer: notAllowed("GET, DELETE, HEAD"),
  },
];

export const routing: readonly MessageCase[] = [...main, ...targets, ...site, ...own];
