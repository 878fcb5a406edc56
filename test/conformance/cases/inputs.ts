/** Path, query, header and cookie values, and dependencies of them (contract 4.4; rows IN). */
import type { MessageCase } from "../case.ts";
import { json, malformed, problems, refused, text } from "../expected.ts";

const notWhole = "This is not a whole number.";
const signIn = refused(401, "signed_out", "Sign in first.", { headers: [["www-authenticate", 'Bearer realm="api"']] });
const basic = ["authorization", "Basic dXNlcjpwYXNz"] as const;
const given = (...values: readonly string[]) => json(JSON.stringify(values));

const queries: readonly MessageCase[] = [
  {
    name: "IN-01 all problems at once, in the order the inputs are listed",
    ask: "GET /orders/x/lines?page=two",
    headers: [["x-count", "some"]],
    answer: problems(
      ["path.order_id", "malformed", notWhole],
      ["query.page", "malformed", notWhole],
      ["header.x-count", "malformed", notWhole],
    ),
  },
  { name: "IN-01 none of them", ask: "GET /orders/3/lines?page=2", answer: given("3", "2", "-") },
  {
    name: "IN-01 one that is missing",
    ask: "GET /orders/3/lines",
    answer: problems(["query.page", "required", "This is required."]),
  },
  { name: "IN-08 defaults", ask: "GET /page", answer: given("1", "20") },
  {
    name: "IN-09 what is sent beats them",
    ask: "GET /page?page=3",
    headers: [["x-size", "50"]],
    answer: given("3", "50"),
  },
  { name: "IN-10 a default hides no bad value", ask: "GET /page?page=x", answer: malformed("query.page", notWhole) },
  { name: "IN-10 nor an empty one", ask: "GET /page?page=", answer: malformed("query.page", notWhole) },
  {
    name: "IN-11 every value of a list, in order",
    ask: "GET /typed?tag=blue&tag=gold&tag=blue&loud=true",
    headers: [["cookie", "n=3"]],
    answer: given("blue,gold,blue", "true", "3"),
  },
  { name: "IN-12 none is the empty list", ask: "GET /typed", answer: given("", "-", "-") },
  {
    name: "IN-13 an enum and a bool say what they take",
    ask: "GET /typed?tag=red&loud=yes",
    answer: problems(
      ["query.tag", "malformed", "This is not one of blue, gold."],
      ["query.loud", "malformed", "This is not true or false."],
    ),
  },
  { name: "IN-15 of a value of one, the first counts", ask: "GET /page?page=1&page=2", answer: given("1", "20") },
  { name: "IN-42 an empty value is the empty text", ask: "GET /who?q=", answer: given("", "-", "-", "-") },
  { name: "IN-42 a name alone is an empty value", ask: "GET /who?q", answer: given("", "-", "-", "-") },
  { name: "IN a name is compared with case", ask: "GET /who?Q=1", answer: given("-", "-", "-", "-") },
  { name: "IN a plus of a query is a space", ask: "GET /who?q=a+b%2Bc", answer: given("a b+c", "-", "-", "-") },
  { name: "IN a comma of a query is a comma", ask: "GET /who?q=a,b", answer: given("a,b", "-", "-", "-") },
  { name: "IN an equals sign in a value", ask: "GET /who?q=a=b", answer: given("a=b", "-", "-", "-") },
  { name: "IN UTF-8 in a query", ask: "GET /who?q=%E4%B8%96", answer: given("世", "-", "-", "-") },
  { name: "IN a name that is encoded", ask: "GET /who?%71=1", answer: given("1", "-", "-", "-") },
  {
    name: "IN a query that is no UTF-8",
    ask: "GET /who?q=%ff",
    answer: malformed("query.q", "This is not text."),
  },
  {
    name: "IN-22 one problem, however many use the value",
    ask: "GET /shared?page=x",
    answer: malformed("query.page", notWhole),
  },
  { name: "IN-19 a dependency runs once for all its users", ask: "GET /shared?page=1", answer: text("1 true") },
  {
    name: "IN-26 a problem of the application's own",
    ask: "GET /books?page=0",
    answer: problems(["query.page", "too_small", "This is 1 or more."]),
  },
  {
    name: "IN-27 of what a join reads, every problem",
    ask: "GET /books?page=two&per_page=x",
    answer: problems(["query.page", "malformed", notWhole], ["query.per_page", "malformed", notWhole]),
  },
  {
    name: "IN-28 a join that finds nothing wrong",
    ask: "GET /books?page=2&per_page=2",
    answer: given("Persuasion", "Ulysses"),
  },
];

const headers: readonly MessageCase[] = [
  {
    name: "IN-07 a query, a header without case, cookies of several lines",
    ask: "GET /who?q=1",
    headers: [
      ["X-THING", "2"],
      ["Cookie", "a=1; b=3"],
      ["cookie", "c=4"],
    ],
    answer: given("1", "2", "3", "4"),
  },
  {
    name: "IN-16 a whole number on two lines",
    ask: "GET /count",
    headers: [
      ["x-count", "1"],
      ["x-count", "1"],
    ],
    answer: malformed("header.x-count", "This is given more than once."),
  },
  {
    name: "IN-16 a text on two lines",
    ask: "GET /value",
    headers: [
      ["x-value", "a"],
      ["X-Value", "b"],
    ],
    answer: malformed("header.x-value", "This is given more than once."),
  },
  {
    name: "IN-16 a list of several lines is read whole",
    ask: "GET /codec/weighted",
    headers: [
      ["x-value", "gzip"],
      ["x-value", "br;q=0.5, identity;q=0"],
    ],
    answer: text("gzip, br;q=0.5, identity;q=0"),
  },
  {
    name: "IN-18 blanks around a value are no part of it",
    ask: "GET /value",
    headers: [["x-value", "  4 2 \t "]],
    answer: given("4 2"),
  },
  { name: "IN an empty header is an empty value", ask: "GET /value", headers: [["x-value", ""]], answer: given("") },
  { name: "IN a header that is not sent", ask: "GET /value", answer: given("-") },
  {
    name: "IN a header that must be sent",
    ask: "GET /count",
    answer: problems(["header.x-count", "required", "This is required."]),
  },
  {
    name: "IN every header is there to be looked at, names in lower case",
    ask: "GET /headers",
    headers: [
      ["X-First", "1"],
      ["x-second", "2"],
    ],
    answer: text("x-first=1\nx-second=2"),
  },
];

const refusals: readonly MessageCase[] = [
  { name: "IN-03 a refusal is told with no problem beside it", ask: "GET /guarded?page=no", answer: signIn },
  {
    name: "IN-03 a refusal comes before a problem that stands left of it",
    ask: "GET /off?page=no",
    answer: refused(403, "forbidden", "It is switched off."),
  },
  {
    name: "IN-37 what always refuses",
    ask: "GET /off?page=1",
    answer: refused(403, "forbidden", "It is switched off."),
  },
  { name: "IN-29 no credentials", ask: "GET /bearer", answer: signIn },
  { name: "IN-29 credentials of another scheme", ask: "GET /bearer", headers: [basic], answer: signIn },
  { name: "IN-30 bearer", ask: "GET /bearer", headers: [["authorization", "bearer abc"]], answer: text("signed in") },
  { name: "IN-30 Bearer", ask: "GET /bearer", headers: [["authorization", "Bearer abc"]], answer: text("signed in") },
  { name: "IN-30 BEARER", ask: "GET /bearer", headers: [["Authorization", "BEARER abc"]], answer: text("signed in") },
  {
    name: "IN-31 two tokens are no credentials, and are not told",
    ask: "GET /bearer",
    headers: [["authorization", "Bearer a b"]],
    answer: malformed("header.authorization", "This is not credentials."),
  },
];

const facts: readonly MessageCase[] = [
  {
    name: "IN-33 the id is the answer's own, whatever is sent",
    ask: "GET /id",
    headers: [["x-request-id", "mine"]],
    answer: text("true"),
  },
  { name: "IN-45 now is one instant for the whole request", ask: "GET /now", answer: text("true") },
  { name: "SV-25 the peer is who opened the connection", ask: "GET /peer", answer: text("127.0.0.1") },
  {
    name: "SV-25 where no proxy is trusted, nothing forwarded is believed",
    ask: "GET /client",
    headers: [
      ["x-forwarded-for", "6.6.6.6"],
      ["forwarded", "for=6.6.6.6"],
      ["x-forwarded-host", "elsewhere.example"],
      ["x-forwarded-proto", "https"],
      ["Host", "localhost"],
    ],
    answer: text("127.0.0.1 localhost plain"),
  },
];

export const inputs: readonly MessageCase[] = [...queries, ...headers, ...refusals, ...facts];
