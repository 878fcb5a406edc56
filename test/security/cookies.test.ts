/**
 * Cookies: declared, read, set and removed (contract 2.6; facts 10.1; rows CK, CD-135, CD-136, IN-43, ST-42, ST-43).
 * CK-04 (trusted proxies) is in test/app, and CK-06 in test/adapters.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Answer, Codec, Cookie, Keys, Path, Returns, Test, get, post, setCookie } from "usher-http";
import * as v from "valibot";
import { findCookie } from "../../src/codecs/cookie.ts";
import { logged, messages } from "../support/logs.ts";
import { clientOf } from "../support/node-server.ts";
import { header } from "../support/raw-client.ts";
import { internal, invalid } from "../support/refusals.ts";
import { rounds } from "../support/wide.ts";
import { codePoint } from "../support/code-point.ts";

const k = Cookie.named("k", Codec.string);

/** The Set-Cookie lines of an answer. */
async function sets(cookies: readonly Cookie.SetCookie[], host = "getsente.io"): Promise<readonly string[]> {
  const route = post(Path.of("in"), { inputs: { setCookie }, returns: Returns.empty() }, ({ setCookie }) =>
    cookies.forEach(setCookie),
  );
  const { headers } = await Test.call(Test.app([route]), "POST", "/in", { headers: { host } });
  return headers.getSetCookie();
}

describe("a cookie that is set", () => {
  it.each([
    [
      "CK-01",
      Cookie.make(k, "v", { path: "/in", maxAgeMs: 60_000 }),
      "k=v; Path=/in; HttpOnly; Secure; SameSite=Lax; Max-Age=60",
    ],
    ["CK-01", Cookie.make(k, "v"), "k=v; Path=/; HttpOnly; Secure; SameSite=Lax"],
    ["CK-01", Cookie.make(k, "v", { httpOnly: false, sameSite: "strict" }), "k=v; Path=/; Secure; SameSite=Strict"],
    ["CK-01", Cookie.make(k, "v", { maxAgeMs: 1 }), "k=v; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=1"],
    ["CK-01", Cookie.make(k, "v", { maxAgeMs: 0 }), "k=v; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0"],
    ["for other sites", Cookie.make(k, "v", { sameSite: "none" }), "k=v; Path=/; HttpOnly; Secure; SameSite=None"],
    [
      "for each site that embeds this one",
      Cookie.make(k, "v", { sameSite: "none", partitioned: true }),
      "k=v; Path=/; HttpOnly; Secure; SameSite=None; Partitioned",
    ],
    [
      "for all hosts of a domain",
      Cookie.make(k, "v", { domain: "shop.example", maxAgeMs: 1000 }),
      "k=v; Path=/; HttpOnly; Secure; SameSite=Lax; Domain=shop.example; Max-Age=1",
    ],
    [
      "removed where it was set",
      Cookie.clear(k, { domain: "shop.example", partitioned: true }),
      "k=; Path=/; HttpOnly; Secure; SameSite=None; Domain=shop.example; Partitioned; Max-Age=0",
    ],
    ["CK-01", Cookie.make(k, ""), "k=; Path=/; HttpOnly; Secure; SameSite=Lax"],
    ["CK-01", Cookie.make(Cookie.named("n", Codec.int), -7), "n=-7; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [
      "CK-07",
      Cookie.clear(Cookie.named("session", Codec.int)),
      "session=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0",
    ],
    ["CK-07", Cookie.clear(k, { path: "/in" }), "k=; Path=/in; HttpOnly; Secure; SameSite=Lax; Max-Age=0"],
  ])("%s %#", async (_id, cookie, line) => {
    expect(await sets([cookie])).toEqual([line]);
  });

  it("CK-12 has a line of its own, in the order of the calls; of one cookie set twice the last stands", async () => {
    const a = Cookie.make(Cookie.named("a", Codec.string), "2");
    const pairs = async (cookies: readonly Cookie.SetCookie[]) =>
      (await sets(cookies)).map((line) => line.split(";").slice(0, 2).join(";"));
    expect(await pairs([Cookie.make(k, "1"), a, Cookie.make(k, "3")])).toEqual(["a=2; Path=/", "k=3; Path=/"]);
    expect(await pairs([Cookie.make(k, "1"), Cookie.clear(k)])).toEqual(["k=; Path=/"]);
    // Another path is another cookie (RFC 6265 §5.3), as is a name in another case.
    const moved = [Cookie.clear(k, { path: "/old" }), Cookie.make(k, "3")];
    expect(await pairs(moved)).toEqual(["k=; Path=/old", "k=3; Path=/"]);
    expect(await pairs([Cookie.make(k, "1"), Cookie.make(Cookie.named("K", Codec.string), "2")])).toHaveLength(2);
  });

  it("CK-12 of a sealed cookie set twice the last stands, too", async () => {
    const sealed = Cookie.signed(Keys.ring("a secret of thirty-two bytes, or a few more"), "s", Codec.string);
    const [line, ...others] = await sets([Cookie.make(sealed, "1"), Cookie.make(sealed, "2")]);
    expect(others).toEqual([]);
    expect(line).toMatch(/^s=/);
  });

  it.each([
    ["CK", "localhost", false],
    ["CK", "localhost:8080", false],
    ["CK", "LOCALHOST", false],
    ["CK", "127.0.0.1:1", false],
    ["CK", "[::1]", false],
    ["CK", "[::1]:8080", false],
    ["CK-03", "localhost.example.com", true],
    ["CK-03", "127.0.0.1.example.com", true],
    ["CK-03", "notlocalhost", true],
    ["CK-03", "localhost:x", true],
    ["CK-03", "127.0.0.2", true],
  ])("%s Host %s: Secure is %s", async (_id, host, secure) => {
    const [line] = await sets([Cookie.make(k, "v")], host);
    expect(line?.includes("; Secure")).toBe(secure);
  });
});

describe("text that no cookie can hold", () => {
  it.each([
    "a;b",
    "a b",
    "secret\r\nSet-Cookie: x=1",
    "back\\slash",
    "a,b",
    'a"b',
    '"',
    "é",
    "\u0000",
    "\u007f",
    '"a b"',
  ])("ST-42 the value %j is refused", (value) => {
    expect(() => Cookie.make(k, value)).toThrow(new Error("Cookie.make: cookie k has a value no cookie can hold"));
  });
  it.each(["", "a", '"quoted"', '""', "!#$%&'()*+-./:<=>?@[]^_`{|}~", "a=b"])(
    "ST-42 the value %j is accepted",
    async (value) => {
      expect((await sets([Cookie.make(k, value)]))[0]).toMatch(/^k=/);
    },
  );
  it.each(["/;x", "/\r\nx", "/\u0000", "/\u007f", "/é"])("ST-43 the path %j is refused", (path) => {
    const said = new Error("Cookie.make: cookie k has a path no cookie can hold");
    expect(() => Cookie.make(k, "v", { path })).toThrow(said);
    expect(() => Cookie.clear(k, { path })).toThrow(said);
  });
  it.each(["", "a b", "a;b", "a=b", "é", "a\r\nb", "a,b"])("the name %j is refused", (name) => {
    expect(() => Cookie.named(name, Codec.string)).toThrow(
      new Error(`Cookie.named: ${JSON.stringify(name)} is not a cookie name`),
    );
  });
});

describe("a cookie that a browser drops or changes (RFC 6265bis §4.1.3, §5.6)", () => {
  const a = (count: number): string => "a".repeat(count);
  const long = (name: number, value: number) => Cookie.make(Cookie.named(a(name), Codec.string), a(value));

  it.each([
    [2048, 2048],
    [1, 4095],
    [4096, 0],
  ])("a name of %i bytes and a value of %i have the maximum length", async (name, value) => {
    expect(await sets([long(name, value)])).toEqual([expect.stringContaining(`${a(name)}=${a(value)};`)]);
  });
  it.each([
    [1, 4096],
    [2048, 2049],
    [4096, 1],
    [4097, 0],
  ])("a name of %i bytes and a value of %i are too long", (name, value) => {
    expect(() => long(name, value)).toThrow(
      new Error(`Cookie.make: cookie ${a(name)} has 4097 bytes, and a browser drops one of more than 4096`),
    );
  });

  it.each([
    ["plain", (value: string) => ({ value })],
    ["sealed", (value: string) => ({ value: "", seal: async () => value })],
  ])("a cookie that is too long, written by hand, %s", async (_kind, partsOf) => {
    const of = (length: number) => ({ ...Cookie.make(k, ""), ...partsOf(a(length)) });
    expect(await sets([of(4095)])).toHaveLength(1);
    expect(await sets([of(4096)])).toEqual([]);
    expect(messages("error")).toEqual([expect.stringContaining('"set-cookie": the length of cookie k')]);
    // Longer than what an id of a trace may have by chance.
    expect(logged().join("\n")).not.toContain(a(33));
  });

  it.each(["", "in", "../in", "\\in", `/${a(1024)}`])(
    "the path %j is refused: the browser would use another path",
    (path) => {
      const said = new Error("Cookie.make: cookie k has a path no cookie can hold");
      expect(() => Cookie.make(k, "v", { path })).toThrow(said);
      expect(() => Cookie.clear(k, { path })).toThrow(said);
    },
  );
  it("a path of 1024 bytes is accepted", async () => {
    expect(await sets([Cookie.make(k, "v", { path: `/${a(1023)}` })])).toEqual([
      expect.stringContaining(`Path=/${a(1023)};`),
    ]);
  });

  it.each(["__Host-k", "__host-k", "__HOST-"])("%s with a path other than / is refused", (name) => {
    const host = Cookie.named(name, Codec.string);
    const said = new Error(`Cookie.make: cookie ${name} needs the path /, or a browser drops it`);
    expect(() => Cookie.make(host, "v", { path: "/in" })).toThrow(said);
    expect(() => Cookie.clear(host, { path: "/in" })).toThrow(said);
  });
  it.each(["__Host-k", "__host-k", "__Secure-k", "__SECURE-k"])(
    "%s without Secure is refused, also on loopback",
    async (name) => {
      const prefixed = Cookie.named(name, Codec.string);
      const attributes = "Path=/; HttpOnly; Secure; SameSite=Lax";
      expect(await sets([Cookie.make(prefixed, "v")], "localhost")).toEqual([`${name}=v; ${attributes}`]);
      expect(await sets([Cookie.clear(prefixed)], "localhost")).toEqual([`${name}=; ${attributes}; Max-Age=0`]);
    },
  );
  it("a name that only contains such a prefix needs no Secure", async () => {
    const names = ["__Hostk", "_Host-k", "x__Host-k", "__Securek"].map((name) => Cookie.named(name, Codec.string));
    const lines = await sets(
      names.map((cookie) => Cookie.make(cookie, "v", { path: "/in" })),
      "localhost",
    );
    expect(lines.map((line) => line.includes("Secure;"))).toEqual([false, false, false, false]);
  });
});

describe("an invalid age of a cookie", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 1e300, Number.MAX_SAFE_INTEGER])(
    "%d is refused with an error that names it",
    (maxAgeMs) => {
      expect(() => Cookie.make(k, "v", { maxAgeMs })).toThrow(
        new Error(
          `Cookie.make: maxAgeMs of cookie k must be milliseconds, from 0 to 8000000000000000, not ${maxAgeMs}`,
        ),
      );
    },
  );

  it("is an error of the handler, and the server continues", async () => {
    const route = get(Path.root, { inputs: { setCookie }, returns: Returns.empty() }, ({ setCookie }) =>
      setCookie(Cookie.make(k, "v", { maxAgeMs: Number.NaN })),
    );
    const app = Test.app([route]);
    for (let i = 0; i < 2; i++) {
      const { status, body, headers } = await Test.call(app, "GET", "/");
      expect([status, body, headers.getSetCookie()]).toEqual([500, internal, []]);
    }
    expect(messages("error")).toHaveLength(2);
  });
});

describe("a cookie for other hosts and sites", () => {
  it.each([
    [
      "a __Host- cookie of a domain",
      () => Cookie.make(Cookie.named("__Host-k", Codec.string), "v", { domain: "a.example" }),
      "must have no domain",
    ],
    [
      "a domain with another attribute",
      () => Cookie.make(k, "v", { domain: "a.example; HttpOnly" }),
      "a domain no cookie can hold",
    ],
    [
      "a partitioned cookie of one site",
      () => Cookie.make(k, "v", { partitioned: true }),
      'which needs sameSite: "none"',
    ],
    ["another word", () => Cookie.make(k, "v", { sameSite: "None" as never }), 'must be "strict", "lax" or "none"'],
    [
      "a __Host- cookie of a domain, removed",
      () => Cookie.clear(Cookie.named("__Host-k", Codec.string), { domain: "a.example" }),
      "must have no domain",
    ],
  ])("is an error if it is %s", (_what, made, why) => {
    expect(made).toThrow(why);
  });
});

describe("a cookie written by hand", () => {
  const plain: Cookie.SetCookie = { name: "sid", value: "v", path: "/", httpOnly: true, sameSite: "lax" };
  const no = (part: object): Cookie.SetCookie => ({ ...plain, ...part });
  const seal = (value: unknown) => ({ value: "", seal: async () => value });
  const rows: readonly (readonly [what: string, cookie: unknown])[] = [
    ...["a; domain=evil", "a b", "a,b", "a\\b", 'a"b', "a\r\nb", "a\tb", "a\0b", "\u00e9", undefined, 1, null].flatMap(
      (value) => [
        ["the value of cookie sid", no({ value })] as const,
        // A sealed value that is not a string fails before the cookie is checked.
        ...(typeof value === "string" ? [["the value of cookie sid", no(seal(value))] as const] : []),
      ],
    ),
    ...[
      "/; Domain=evil.example",
      "/\r\nx: y",
      "/\u0000",
      "/\u007f",
      "/\t",
      "/\u00e9",
      "",
      "in",
      undefined,
      null,
      1,
    ].map((path) => ["the path of cookie sid", no({ path })] as const),
    ["the path of cookie __Host-sid", no({ name: "__Host-sid", path: "/in" })],
    ...["", "a b", "a;b", "a=b", "a\r\nb", "\u00e9", "\u00a0__Host-sid", undefined, null, {}].map(
      (name) => ["the name of a cookie", no({ name })] as const,
    ),
    ...[Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300, "1; Domain=evil.example", null].map(
      (maxAgeMs) => ["maxAgeMs of cookie sid", no({ maxAgeMs })] as const,
    ),
    ...["evil.example; Path=/x", "a\r\nb", "a b", "\u0000", null].map(
      (domain) => ["the domain of cookie sid", no({ domain })] as const,
    ),
    ["the domain of cookie __Host-sid", no({ name: "__Host-sid", domain: "shop.example" })],
    ...["None", "", null, 1].map((sameSite) => ["sameSite of cookie sid", no({ sameSite })] as const),
    ["partitioned of cookie sid", no({ partitioned: true })],
    ["no cookie", null],
    ["no cookie", "sid=v; Domain=evil.example"],
  ];

  it.each(rows)("is refused if it cannot be sent: %s, %j", async (what, cookie) => {
    const set = get(Path.of("set"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
      setCookie(cookie as Cookie.SetCookie);
      return "set";
    });
    const answer = get(Path.of("answer"), { returns: Returns.response }, () =>
      Answer.make("answered", { cookies: [cookie as Cookie.SetCookie] }),
    );
    const fine = get(Path.root, { returns: Returns.text }, () => "fine");
    const client = await clientOf([set, answer, fine]);
    for (const target of ["/set", "/answer"]) {
      const answered = await client.ask(`GET ${target}`).answer();
      expect([answered.status, answered.body, header(answered, "set-cookie")]).toEqual([500, internal, undefined]);
    }
    expect((await client.ask("GET /").answer()).body).toBe("fine");
    const said = `a header that cannot be written: "set-cookie": ${what}`;
    expect(messages("error")).toEqual([expect.stringContaining(said), expect.stringContaining(said)]);
    expect(logged().join("\n")).not.toMatch(/evil/);
  });

  it("is never sent with an attribute that the application did not give", async () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'ab=;, "\\/\t\r\n\0\u00e9\u00a0') }),
      fc.constantFrom("a", "ab", "/", "/ab"),
    );
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(text, text, text, async (name, value, path) => {
        const [line] = await sets([no({ name, value, path })]);
        if (line === undefined) return;
        sent++;
        expect(line).toBe(`${name}=${value}; Path=${path}; HttpOnly; Secure; SameSite=Lax`);
        expect(line.split(";")).toHaveLength(5);
      }),
      // About 3 of 100 can be sent: with 100 cookies, one test in twenty would send none.
      { numRuns: 500 },
    );
    expect(sent).toBeGreaterThan(0);
  });
});

describe("a cookie that is read", () => {
  const inputs = { k: Cookie.optional(k), n: Cookie.optional(Cookie.named("n", Codec.int)) };
  const told = get(Path.root, { inputs, returns: Returns.json(v.array(v.string())) }, ({ k, n }) => [
    k ?? "-",
    String(n),
  ]);
  async function read(...cookies: readonly string[]): Promise<unknown> {
    const headers = cookies.map((cookie) => ["Cookie", cookie] as const);
    const { status, body, json } = await Test.call(Test.app([told]), "GET", "/", { headers });
    return status === 200 ? json() : body;
  }

  it.each([
    ["CK-09", [], ["-", "undefined"]],
    ["CK-09", [""], ["-", "undefined"]],
    ["CK-09", ["kk=1; K=2; xk=3; k"], ["-", "undefined"]],
    ["CK", ["k=v"], ["v", "undefined"]],
    ["CK", ["a=1;k=v ;  n = 3 "], ["v", "3"]],
    ["CK", ["k=a=b"], ["a=b", "undefined"]],
    ["CK", ["k="], ["", "undefined"]],
    ["CK", ['k="v"'], ['"v"', "undefined"]],
    ["CK", [";;k=v;;"], ["v", "undefined"]],
    ["CK", ["n=7; k=%20+"], ["%20+", "7"]],
    ["IN-43", ["k=1; k=2"], ["1", "undefined"]],
    ["IN-43", ["n=1", "k=1; n=2", "k=2"], ["1", "1"]],
  ])("%s %j", async (_id, cookies, expected) => {
    expect(await read(...cookies)).toEqual(expected);
  });

  it.each(["n=x", "n=", 'n="7"', "n=7.0"])("CK-10 %s does not parse, and is a 400", async (cookie) => {
    expect(await read(cookie)).toBe(invalid(["cookie.n", "malformed", "This is not a whole number."]));
  });

  it("is the one found by splitting the line at each `;`", () => {
    const strip = (text: string): string => text.replace(/^[ \t]+|[ \t]+$/g, "");
    const model = (line: string, name: string): string | undefined => {
      const pairs = line.split(";").map((pair) => [pair.indexOf("="), pair] as const);
      const found = pairs.find(([equals, pair]) => equals !== -1 && strip(pair.slice(0, equals)) === name);
      return found && strip(found[1].slice(found[0] + 1));
    };
    const line = fc
      .array(fc.constantFrom(";", "=", " ", "\t", "\u00a0", "a", "b", "a=", "; a"))
      .map((all) => all.join(""));
    fc.assert(
      fc.property(line, fc.constantFrom("a", "b", "ab", "", "a b", "a=b", " a"), (line, name) => {
        expect(findCookie(line, name)).toBe(model(line, name));
      }),
      { numRuns: rounds(5000) },
    );
  });

  it("may be required", async () => {
    const required = get(Path.root, { inputs: { k: Cookie.required(k) }, returns: Returns.text }, ({ k }) => k);
    const { status, body } = await Test.call(Test.app([required]), "GET", "/");
    expect([status, body]).toEqual([400, invalid(["cookie.k", "required", "This is required."])]);
    expect((await Test.call(Test.app([required]), "GET", "/", { headers: { cookie: "k=v" } })).body).toBe("v");
  });
});

describe("Cookie.encoded holds any text", () => {
  const any = Cookie.named("k", Cookie.encoded);
  const told = get(
    Path.root,
    { inputs: { any: Cookie.optional(any) }, returns: Returns.json(v.array(v.string())) },
    ({ any }) => [any ?? "-"],
  );
  const app = Test.app([told]);

  it("CD-135 base64url without padding on the wire, and reads back the same", async () => {
    const text = fc.string({ unit: codePoint }).filter((text) => text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        const [line = ""] = await sets([Cookie.make(any, text)]);
        const pair = line.slice(0, line.indexOf(";"));
        expect(pair).toBe(`k=${Buffer.from(text).toString("base64url")}`);
        expect((await Test.call(app, "GET", "/", { headers: { cookie: pair } })).json()).toEqual([text]);
      }),
      { numRuns: rounds(300) },
    );
  });

  it.each(["not*base64", "a", "YQ==", "YR", "_w", "YWI=", '"YQ"', "YQ%3D", "Y Q"])(
    "CD-136 k=%s is a 400",
    async (value) => {
      const { status, body } = await Test.call(app, "GET", "/", { headers: { cookie: `k=${value}` } });
      expect([status, body]).toEqual([
        400,
        invalid(["cookie.k", "malformed", "This is not a value this server wrote."]),
      ]);
    },
  );
});
