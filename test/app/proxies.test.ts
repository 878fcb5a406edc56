/** Trusted proxies: `client`, host, `secure` and the request's id (contract 4.4, 5.8; rows SV-22 to SV-28, CK-04, ST-48). */
import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { App, Dep, Path, Proxies, Returns, Test, client, get, peer, request } from "usher-http";
import type { AppOptions } from "usher-http";
import { addressBytes } from "../../src/http/addresses.ts";
import { TrustedProxies } from "../../src/app/trusted-proxies.ts";
import "../support/logs.ts";

const seen = get(Path.root, { inputs: { client, peer, request }, returns: Returns.text }, ({ client, peer, request }) =>
  [client, peer, request.host ?? "-", request.secure ? "secure" : "plain"].join(" "),
);

type Headers = readonly (readonly [name: string, value: string])[];

async function ask(options: AppOptions, peer: string, headers: Headers) {
  const { body, headers: answered } = await Test.call(Test.app([seen], options), "GET", "/", { peer, headers });
  const [from, , host, secure] = body.split(" ");
  return { client: from, host, secure, id: answered.get("x-request-id") };
}

const xff = (...lines: readonly string[]): Headers => lines.map((line) => ["x-forwarded-for", line] as const);
const forwarded = (...lines: readonly string[]): Headers => lines.map((line) => ["forwarded", line] as const);

describe("the client", () => {
  it.each([
    ["SV-22", ["10.0.0.0/8"], xff("6.6.6.6, 1.2.3.4"), "1.2.3.4"],
    ["SV-24", ["10.0.0.0/8"], xff("6.6.6.6, 1.2.3.4, 10.0.0.7"), "1.2.3.4"],
    ["lines are one list", ["10.0.0.0/8"], xff("6.6.6.6", "1.2.3.4, 10.0.0.7", "10.0.0.8"), "1.2.3.4"],
    ["none told", ["10.0.0.0/8"], [], "10.0.0.1"],
    ["all trusted", ["10.0.0.0/8"], xff("10.0.0.3, 10.0.0.2"), "10.0.0.1"],
    ["a hop that is no address", ["10.0.0.0/8"], xff("1.2.3.4, unknown"), "10.0.0.1"],
    ["a hop that is no address behind one that is", ["10.0.0.0/8"], xff("unknown, 1.2.3.4"), "1.2.3.4"],
    ["empty items", ["10.0.0.0/8"], xff("1.2.3.4, , "), "1.2.3.4"],
    ["with its port", ["10.0.0.0/8"], xff("1.2.3.4:8080"), "1.2.3.4"],
    ["IPv6 in brackets, with its port", ["10.0.0.0/8"], xff("[2001:DB8::1]:80"), "2001:db8::1"],
    ["IPv6", ["10.0.0.0/8"], xff("2001:DB8::1"), "2001:db8::1"],
    ["IPv4 written as IPv6", ["10.0.0.0/8"], xff("::ffff:1.2.3.4"), "1.2.3.4"],
    ["SV-25 no proxy is trusted", [], xff("1.2.3.4"), "10.0.0.1"],
    ["SV-25 another one is", ["10.0.0.2"], xff("1.2.3.4"), "10.0.0.1"],
    ["a header of the other family", ["10.0.0.0/8"], forwarded("for=1.2.3.4"), "10.0.0.1"],
  ] as const)("is %s", async (_id, proxies, headers, client) => {
    expect((await ask({ trustedProxies: Proxies.make(proxies) }, "10.0.0.1", headers)).client).toBe(client);
  });

  it.each([
    ["SV-27", [...forwarded("for=1.2.3.4"), ...xff("6.6.6.6")], "1.2.3.4"],
    ["SV-27 an unknown hop", forwarded("for=1.2.3.4, for=unknown"), "10.0.0.1"],
    ["SV-27 a hidden hop", forwarded("for=1.2.3.4, for=_hidden"), "10.0.0.1"],
    ["SV-27 a hop that says nothing", forwarded("for=1.2.3.4, proto=http"), "10.0.0.1"],
    ["SV-27 an IPv6 hop", forwarded('for="[2001:db8::1]:4711"'), "2001:db8::1"],
    ["SV-27 a hop with a hidden port", forwarded('for="192.0.2.43:_a.1-b"'), "192.0.2.43"],
    ["SV-27 an IPv6 hop with a hidden port", forwarded('for="[2001:db8::1]:_b"'), "2001:db8::1"],
    ["with its port", forwarded('for="1.2.3.4:4711"'), "1.2.3.4"],
    ["what cannot be read", forwarded("for=1.2.3.4;;for=x"), "10.0.0.1"],
    ["trusted hops", forwarded("for=6.6.6.6, for=1.2.3.4", "for=10.0.0.9"), "1.2.3.4"],
  ] as const)("is %s with Forwarded", async (_id, headers, client) => {
    const options = { trustedProxies: Proxies.make(["10.0.0.0/8"], { header: "forwarded" }) };
    expect((await ask(options, "10.0.0.1", headers)).client).toBe(client);
  });

  it.each([
    ["one proxy", 1, xff("6.6.6.6, 1.2.3.4"), "1.2.3.4"],
    ["two proxies", 2, xff("6.6.6.6, 1.2.3.4", "10.0.0.7"), "1.2.3.4"],
    ["two proxies, the inner of which hides its client", 2, xff("1.2.3.4, unknown"), "1.2.3.4"],
    ["three proxies, of which a request passed two", 3, xff("1.2.3.4, 10.0.0.7"), "1.2.3.4"],
    ["one proxy that hides the client", 1, xff("1.2.3.4, unknown"), "10.0.0.1"],
    ["one proxy that says nothing", 1, [], "10.0.0.1"],
    ["no proxy", 0, xff("1.2.3.4"), "10.0.0.1"],
  ] as const)("is known by the count of proxies: %s", async (_what, count, headers, client) => {
    expect((await ask({ trustedProxies: Proxies.make(count) }, "10.0.0.1", headers)).client).toBe(client);
  });

  it("is known by the count of proxies with Forwarded, with its host, scheme and id", async () => {
    const options = { trustedProxies: Proxies.make(2, { header: "forwarded" }) };
    const headers = [
      ...forwarded("for=6.6.6.6, for=1.2.3.4", "for=10.0.0.9;host=shop.example;proto=https"),
      ["x-request-id", "a1"] as const,
    ];
    expect(await ask(options, "203.0.113.9", headers)).toEqual({
      client: "1.2.3.4",
      host: "shop.example",
      secure: "secure",
      id: "a1",
    });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("has no count of proxies like %s", (count) => {
    expect(() => Proxies.make(count)).toThrow(
      `Proxies.make: a count of proxies is a whole number from 0, and not ${count}`,
    );
  });

  it("SV-28 of an IPv4 proxy is known, however the proxy's address is written", async () => {
    const options = { trustedProxies: Proxies.make(["::ffff:10.0.0.0/104"]) };
    expect((await ask(options, "10.0.0.1", xff("1.2.3.4"))).client).toBe("1.2.3.4");
    const four = { trustedProxies: Proxies.make(["10.0.0.0/8"]) };
    expect((await ask(four, "::ffff:10.0.0.1", xff("1.2.3.4"))).client).toBe("1.2.3.4");
  });

  it("of a proxy with a link-local address is known, whatever its zone", async () => {
    for (const trusted of ["fe80::1", "fe80::/10"]) {
      const options = { trustedProxies: Proxies.make([trusted]) };
      expect((await ask(options, "fe80::1%eth0", xff("1.2.3.4"))).client).toBe("1.2.3.4");
      expect((await ask(options, "fec0::1%eth0", xff("1.2.3.4"))).client).toBe("fec0::1%eth0");
    }
  });

  it("of a proxy on a Unix socket is known", async () => {
    const options = { trustedProxies: Proxies.make(["unix:/run/proxy.sock"]) };
    expect((await ask(options, "unix:/run/proxy.sock", xff("1.2.3.4"))).client).toBe("1.2.3.4");
    expect((await ask(options, "unix:/run/other.sock", xff("1.2.3.4"))).client).toBe("unix:/run/other.sock");
  });
});

describe("host, secure and id", () => {
  const trusted = { trustedProxies: Proxies.make(["10.0.0.1"]) };
  const told = [
    ["host", "inner.example"],
    ["x-forwarded-host", "a.example, Shop.Example:8443"],
    ["x-forwarded-proto", "http, HTTPS"],
    ["x-request-id", "Abc_1.2-3"],
  ] as const;

  it("are those that a trusted proxy reports", async () => {
    expect(await ask(trusted, "10.0.0.1", told)).toEqual({
      client: "10.0.0.1",
      host: "shop.example:8443",
      secure: "secure",
      id: "Abc_1.2-3",
    });
  });

  it("SV-25 are those of the request itself without a trusted proxy", async () => {
    const { host, id } = await ask(trusted, "10.0.0.2", told);
    expect(host).toBe("inner.example");
    expect(id).toMatch(/^[0-9a-z]{12}$/);
  });

  it.each(["h/admin", "h/admin?", "h?", "h#", "h\\admin", "user:pw@h", "a b", "é", "[::1", "h:port"])(
    "a forwarded host like %j, which many proxies pass on from the client, is not used",
    async (forwarded) => {
      const headers = [
        ["host", "inner.example"],
        ["x-forwarded-host", forwarded],
      ] as const;
      expect((await ask(trusted, "10.0.0.1", headers)).host).toBe("inner.example");
    },
  );

  it("CK-04 a loopback page that arrived by HTTPS is secure", async () => {
    const loopback = [["host", "localhost"]] as const;
    expect((await ask(trusted, "10.0.0.1", loopback)).secure).toBe("plain");
    const https = [...loopback, ["x-forwarded-proto", "https"]] as const;
    expect((await ask(trusted, "10.0.0.1", https)).secure).toBe("secure");
    expect((await ask(trusted, "10.0.0.2", https)).secure).toBe("plain");
  });

  it("are read from Forwarded, if that header is configured", async () => {
    const headers = [
      ["host", "localhost"],
      ...forwarded("for=1.2.3.4;host=a;proto=http, host=Shop.Example;proto=https"),
    ] as const;
    expect(
      await ask({ trustedProxies: Proxies.make(["10.0.0.1"], { header: "forwarded" }) }, "10.0.0.1", headers),
    ).toMatchObject({
      client: "10.0.0.1",
      host: "shop.example",
      secure: "secure",
    });
  });

  it.each(["", "a b", "x".repeat(65), "é", 'a"b'])("an id like %j is not used", async (id) => {
    expect((await ask(trusted, "10.0.0.1", [["x-request-id", id]])).id).toMatch(/^[0-9a-z]{12}$/);
  });

  it("an id that is sent twice is not used", async () => {
    const twice = [
      ["x-request-id", "a"],
      ["x-request-id", "a"],
    ] as const;
    expect((await ask(trusted, "10.0.0.1", twice)).id).not.toBe("a");
  });
});

describe("ST-48 trustedProxies", () => {
  const make = (...proxies: readonly string[]) => App.make([seen], { trustedProxies: Proxies.make(proxies) });

  it.each([
    "10.0.0.0/33",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.01",
    "::1/129",
    "1::2::3",
    "fe80::1%eth0",
    "unix:",
    "",
    "host",
  ])("refuses %j", (proxy) => {
    expect(() => make("10.0.0.1", proxy)).toThrow(
      `Proxies.make: ${JSON.stringify(proxy)} is no address, range or unix:<path>`,
    );
  });

  it.each(["10.0.0.0/8", "::1", "unix:/run/proxy.sock", "0.0.0.0/1", "8000::/1", "2001:db8::/32", "::ffff:1.2.3.4"])(
    "%j is taken",
    (proxy) => expect(() => make(proxy)).not.toThrow(),
  );

  it.each([
    [
      "trustedProxies",
      ["10.0.0.0/8"],
      "trustedProxies is a list, and not made by Proxies.make: write Proxies.make(addresses)",
    ],
    ["trustedProxies", 2, "trustedProxies is a number, and not made by Proxies.make: write Proxies.make(addresses)"],
    [
      "proxyHeader",
      "forwarded",
      "proxyHeader is no option of an app: write trustedProxies: Proxies.make(addresses, { header })",
    ],
  ])("refuses the option %s: %o, and says what to write", (name, value, sentence) => {
    expect(() => App.make([seen], { [name]: value })).toThrow(`App.make: ${sentence}`);
  });

  it("uses one of two headers", () => {
    expect(() => Proxies.make([], { header: "via" as "forwarded" })).toThrow(
      'Proxies.make: header is "x-forwarded-for" or "forwarded", and not "via"',
    );
  });
});

describe("addresses", () => {
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.stringMatching(/^[0-9.]{0,16}$/),
    fc.stringMatching(/^[0-9a-fA-F:.]{0,30}$/),
  );

  it("are parsed as the platform parses them", () => {
    fc.assert(
      fc.property(text, (text) => {
        expect(addressBytes(text) !== undefined).toBe(isIP(text) !== 0);
      }),
    );
  });

  it("are in the ranges that the platform reports", () => {
    const range = fc.oneof(
      fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 }), fc.ipV4()),
      fc.tuple(fc.ipV6(), fc.integer({ min: 1, max: 128 }), fc.ipV6()),
      // Two that begin with the same text.
      fc
        .tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 }))
        .map(([net, bits]) => [net, bits, net.replace(/\d+$/, "7")] as const),
    );
    fc.assert(
      fc.property(range, ([net, bits, address]) => {
        fc.pre(!net.toLowerCase().includes("ffff") && !address.toLowerCase().includes("ffff"));
        const list = new BlockList();
        const family = isIP(net) === 4 ? "ipv4" : "ipv6";
        list.addSubnet(net, bits, family);
        const proxies = TrustedProxies.read([`${net}/${bits}`], "forwarded");
        expect(proxies?.trusts(address)).toBe(list.check(address, family));
      }),
    );
  });
});

it("the address of a peer is not read when no proxy is trusted", async () => {
  const depends = Dep.map(client, (address) => address);
  const route = get(Path.root, { inputs: { depends }, returns: Returns.text }, ({ depends }) => depends);
  expect((await Test.call(Test.app([route]), "GET", "/", { peer: "192.0.2.1" })).body).toBe("192.0.2.1");
});
