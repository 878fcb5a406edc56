/** Valid and invalid request heads (facts 1.6; rows HD, SV-07), byte by byte. */
import { describe, expect, it } from "vitest";
import { Path, Returns, get, param, request } from "usher-http";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";
import { notImplemented } from "../../support/refusals.ts";

/** The result of a row: the app's answer with the Host that it read, or a refusal by its status. */
type Outcome = { readonly host: string } | { readonly connect: true } | 400 | 414 | 431 | 501 | 505;

interface Row {
  readonly id: string;
  readonly what: string;
  readonly head: readonly string[];
  readonly outcome: Outcome;
}

const line = "GET /hello HTTP/1.1";
const row =
  (outcome: Outcome) =>
  (id: string, what: string, first: string, ...rest: readonly string[]) => {
    return { id, what, outcome, head: [first, ...rest] };
  };
const read = (id: string, what: string, host: string, ...head: readonly [string, ...string[]]): Row =>
  row({ host })(id, what, ...head);
const connects = row({ connect: true });
const bad = row(400);
const field = (...fields: readonly string[]) => [line, "host: h", ...fields] as const;
const hosted = (value: string) => [line, `host: ${value}`] as const;

const accepted: readonly Row[] = [
  read("HD-01", "empty lines before the request line", "h", "", "", ...field()),
  read("HD-03", "HTTP/1.2 (as 1.1)", "h", "GET /hello HTTP/1.2", "host: h"),
  read("HD-04", "a Host of an IPv6 address and a port", "[::1]:8443", ...hosted("[::1]:8443")),
  read("HD-06", "HTTP/1.0 without a Host", "-", "GET /hello HTTP/1.0"),
  read(
    "HD-07",
    "an absolute target, whose authority is the host",
    "a.example:81",
    "GET http://a.example:81/hello HTTP/1.1",
    "host: h",
  ),
  read("HD-07", "an absolute target of an address", "[::1]", "GET http://[::1]/hello HTTP/1.1", "host: h"),
  connects("HD-09", "CONNECT of a name and a port", "CONNECT host:443 HTTP/1.1", "host: host:443"),
  connects("HD-10", "CONNECT of an address and a port", "CONNECT [::1]:443 HTTP/1.1", "host: [::1]:443"),
  read("HD-12", "a Host of IPv4 in IPv6", "[::ffff:192.0.2.1]", ...hosted("[::ffff:192.0.2.1]")),
  read("HD-13", "a Host of an address to come", "[v1.fe80::a+en1]", ...hosted("[v1.fe80::a+en1]")),
  read("HD", "a Host of IPv4 and a port", "192.0.2.1:80", ...hosted("192.0.2.1:80")),
  read("HD", "a Host with an empty port", "shop.example:", ...hosted("shop.example:")),
  read("HD", "a Host in capitals", "shop.example", ...hosted("Shop.Example")),
  read("HD", "a Host past ASCII, encoded", "b%c3%bccher.example", ...hosted("b%C3%BCcher.example")),
  read("HD", "a Host that is empty", "", line, "host:"),
  read("HD", "a Host in capitals by its name", "h", line, "HOST: h"),
  read("HD", "a Host behind other fields of four letters", "h", line, "date: x", "from: x", "Host: h", "etag: x"),
  read("HD", "blanks around a Host", "h", line, "host: \t h \t "),
  read("HD", "a length of 18 digits, with zeros before", "h", ...field(`content-length: ${"0".repeat(18)}`)),
];

const refused: readonly Row[] = [
  bad("HD-15", "a bare CR in the request line", "GET /hel\rlo HTTP/1.1", "host: h"),
  bad("HD-16", "a blank before the colon", ...field("x : y")),
  bad("HD-18", "a field name that is no token", ...field("x(y: z")),
  bad("HD-19", "NUL in a value", ...field("x: a\u0000b")),
  bad("HD-21", "DEL in a value", ...field("x: a\u007fb")),
  bad("HD-22", "a method that is no token", "GE(T /hello HTTP/1.1", "host: h"),
  bad("HD-24", "two spaces before the target", "GET  /hello HTTP/1.1", "host: h"),
  bad("HD-24", "two spaces behind the target", "GET /hello  HTTP/1.1", "host: h"),
  bad("HD-25", "a version in lower case", "GET /hello http/1.1", "host: h"),
  bad("HD-27", "two Hosts", line, "host: h", "host: g"),
  bad("HD-27", "two Hosts that are one", line, "host: h", "Host: h"),
  bad("HD-27", "two Hosts on HTTP/1.0", "GET /hello HTTP/1.0", "host: h", "host: g"),
  bad("HD-28", "a Host with a blank", ...hosted("a b")),
  bad("HD-30", "an absolute target without a Host", "GET http://h/hello HTTP/1.1", "x: y"),
  bad("HD-31", "a target with userinfo", "GET http://u@h/hello HTTP/1.1", "host: h"),
  bad("HD-31", "a target with a password", "GET http://u:p@h/hello HTTP/1.1", "host: h"),
  bad("HD-33", "everything, of a GET", "GET * HTTP/1.1", "host: h"),
  bad("HD-34", "CONNECT of a path", "CONNECT /x HTTP/1.1", "host: h"),
  bad("HD-36", "CONNECT of no host", "CONNECT :443 HTTP/1.1", "host: h"),
  bad("HD-37", "CONNECT of no port", "CONNECT [::1] HTTP/1.1", "host: h"),
  bad("HD-39", "a Host of an IPv6 address with two gaps", ...hosted("[1::2::3]")),
  bad("HD-40", "a Host of nine groups", ...hosted("[1:2:3:4:5:6:7:8:9]")),
  row(505)("HD-42", "HTTP/2.0", "GET /hello HTTP/2.0", "host: h"),
  row(505)("HD-42", "HTTP/3.0", "GET /hello HTTP/3.0", "host: h"),
  row(431)("HD-43", "a field past the limit", ...field(`x: ${"a".repeat(2000)}`)),
  row(431)("HD-43", "many fields past it", ...field(...Array.from({ length: 200 }, (_, i) => `x-${i}: 1`))),
  row(431)("HD-43", "a field that never ends", ...field(`x: ${"a".repeat(100_000)}`)),
  row(431)("HD-43", "a field that looks like a request", ...field(`x: GET /${"a".repeat(2000)}`)),
  row(414)("SV-07", "a request line past it", `GET /${"a".repeat(2000)} HTTP/1.1`, "host: h"),
  row(414)("SV-07", "a request line past it, of another method", `M-SEARCH /${"a".repeat(2000)} HTTP/1.1`, "host: h"),
  bad("HD", "no version", "GET /hello", "host: h"),
  bad("HD", "half a version", "GET /hello HTTP", "host: h"),
  bad("HD", "a version of three parts", "GET /hello HTTP/1.1.1", "host: h"),
  bad("HD", "a blank behind the version", "GET /hello HTTP/1.1 ", "host: h"),
  bad("HD", "a blank before the method", " GET /hello HTTP/1.1", "host: h"),
  bad("HD", "a tab for a blank", "GET\t/hello HTTP/1.1", "host: h"),
  bad("HD", "another method and no version", "FOO /hello", "host: h"),
  bad("HD", "another method and a target that is none", "FOO hello HTTP/1.1", "host: h"),
  bad("HD", "another method and two blanks", "FOO  /hello HTTP/1.1", "host: h"),
  row(501)("RT-36", "a method of one's own making", "FOO /hello HTTP/1.1", "host: h"),
  row(501)("RT-36", "a method with a dash", "X-FOO /hello?a=b HTTP/1.1", "host: h"),
  row(501)("RT-36", "a method that begins like another", "GETS /hello HTTP/1.0", "host: h"),
  row(501)("RT-36", "a method of another protocol", "DESCRIBE /hello HTTP/1.1", "host: h"),
  row(501)("RT-36", "another method with an absolute target", "FOO http://h/hello HTTP/1.1", "host: h"),
  row(501)("RT-36", "a method in lower case", "get /hello HTTP/1.1", "host: h"),
  bad("HD", "a target with a blank", "GET /hel lo HTTP/1.1", "host: h"),
  bad("HD", "a target with a tab", "GET /a\tb HTTP/1.1", "host: h"),
  bad("HD", "a target with a byte past ASCII", "GET /\u00e9 HTTP/1.1", "host: h"),
  bad("HD", "a target with a backslash before it", "GET \\\\elsewhere.example/hello HTTP/1.1", "host: h"),
  bad("HD", "a target with no slash before it", "GET hello HTTP/1.1", "host: h"),
  bad("HD", "an absolute target of no host", "GET http:///hello HTTP/1.1", "host: h"),
  bad("HD", "an absolute target of a host that is none", "GET http://[::1/hello HTTP/1.1", "host: h"),
  bad("HD", "an absolute target with a port that is none", "GET http://h:x/hello HTTP/1.1", "host: h"),
  bad("HD", "CONNECT of an absolute target", "CONNECT http://h:443/ HTTP/1.1", "host: h"),
  bad("HD", "CONNECT without a Host", "CONNECT h:443 HTTP/1.1", "x: y"),
  bad("HD", "a field name that is empty", ...field(": z")),
  bad("HD", "a field with no colon", ...field("xyz")),
  bad("HD", "a folded field", ...field("x: a", " b")),
  bad("HD", "a first field that is folded", line, " x: a", "host: h"),
  bad("HD", "a control character in a value", ...field("x: a\u0001b")),
  bad("HD", "a bare CR in a value", ...field("x: a\rb")),
  bad("HD", "no Host", line, "x: y"),
  bad("HD", "a Host with a path", ...hosted("h/elsewhere?")),
  bad("HD", "a Host with userinfo", ...hosted("u@h")),
  bad("HD", "a Host with a port that is none", ...hosted("h:x")),
  bad("HD", "a Host with two ports", ...hosted("h:1:2")),
  bad("HD", "a Host that is a port alone", ...hosted(":80")),
  bad("HD", "a Host that is a list", ...hosted("h, g")),
  bad("HD", "a Host past ASCII", ...hosted("b\u00fccher.example")),
  bad("HD", "a Host with half an encoded byte", ...hosted("a%4")),
  bad("HD", "a Host of an address with no brackets", ...hosted("::1")),
  bad("HD", "a Host of an address with a zone", ...hosted("[fe80::1%eth0]")),
  bad("HD", "a Host of a name in brackets", ...hosted("[h]")),
  bad("HD", "a Host of IPv4 in brackets", ...hosted("[192.0.2.1]")),
  bad("HD", "the first bytes of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000"),
  bad("HD", "the preface of HTTP/2", "PRI * HTTP/2.0", "", "SM", ""),
  bad("BD-12", "two lengths", "POST /hello HTTP/1.1", "host: h", "content-length: 5", "content-length: 6"),
  bad("BD", "a length below 0", "POST /hello HTTP/1.1", "host: h", "content-length: -5"),
  bad("BD", "a length of more than 18 digits", ...field(`content-length: ${"1".repeat(19)}`)),
  bad("BD-15", "two framings", "POST /hello HTTP/1.1", "host: h", "content-length: 5", "transfer-encoding: chunked"),
  bad("BD-18", "chunked twice", "POST /hello HTTP/1.1", "host: h", "transfer-encoding: chunked, chunked"),
];

const bareLf: Row = {
  id: "HD-02",
  what: "lines that end in LF alone",
  head: [`${line}\nhost: h\n`],
  outcome: { host: "h" },
};

/** Rows where Node's parser differs and does not show the bytes: the result instead, and the reason. */
const deviations: { readonly [what: string]: readonly [instead: Outcome, why: string] } = {
  "HTTP/1.2 (as 1.1)": [400, "it knows 1.0 and 1.1, and ends the connection at any other 1.x"],
  "two spaces before the target": [{ host: "h" }, "it passes over them, and says nothing of them"],
  "two spaces behind the target": [{ host: "h" }, "it passes over them, and says nothing of them"],
  "lines that end in LF alone": [400, "it wants the CR"],
};

const rows = [...accepted, ...refused, bareLf];
const path = Path.rest("path");
const hello = get(
  Path.of(path),
  { inputs: { path: param(path), request }, returns: Returns.text },
  ({ request }) => request.host ?? "-",
);

describe("the head of a request", () => {
  it.each(rows)("$id $what", async ({ what, head, outcome }) => {
    const server = await start([hello], { maxHeaderBytes: 1024 });
    const client = await RawClient.to(server.port);
    const answered = await client.send(...head, "", "").answer();
    const expected = deviations[what]?.[0] ?? outcome;
    if (typeof expected === "object") {
      if ("host" in expected) expect([answered.status, answered.body]).toEqual([200, expected.host]);
      else expect([answered.status, answered.body]).toEqual([501, notImplemented]);
      expect(header(answered, "x-request-id")).toBeDefined();
    } else {
      const date = expected < 500 ? ["date"] : [];
      expect([answered.status, answered.body]).toEqual([expected, ""]);
      expect(answered.head.map(([name]) => name)).toEqual(["content-length", "connection", ...date]);
      expect(header(answered, "connection")).toBe("close");
      expect(await client.rest()).toBe("");
      const [, ...said] = messages("info");
      expect(said).toEqual([expect.stringMatching(new RegExp(`^refused a request head: ${expected} \\S`))]);
      expect(said[0]).not.toContain("hello");
    }
    expect([...messages("warn"), ...messages("error")]).toEqual([]);
    const other = await RawClient.to(server.port);
    expect((await other.ask("GET /hello").answer()).body).toBe("h");
  });

  it("has a test for every row, except those listed here", () => {
    const differ = rows.filter(
      ({ what, outcome }) => deviations[what] !== undefined && deviations[what]?.[0] !== outcome,
    );
    expect(differ.map(({ what }) => what).toSorted()).toEqual(Object.keys(deviations).toSorted());
    expect(new Set(rows.map(({ what }) => what)).size).toBe(rows.length);
  });
});

it("every header of a request is read, past the 2,000 that Node reads by itself", async () => {
  const counted = get(Path.root, { inputs: { request }, returns: Returns.text }, ({ request }) => {
    const lengths = [...request.headers].map(([name]) => name).filter((name) => name.startsWith("x"));
    return String(lengths.length);
  });
  const server = await start([counted], { maxHeaderBytes: 65_536 });
  const client = await RawClient.to(server.port);
  const fields = Array.from({ length: 2500 }, (_, i) => `x${i}: 1`);
  const { status, body } = await client.send("GET / HTTP/1.1", "host: h", ...fields, "", "").answer();
  expect([status, body]).toEqual([200, "2500"]);
});
