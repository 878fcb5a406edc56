/** Signed and encrypted cookies, and their keys (contract 5.9; facts 10.2, 10.3; rows SK). */
import { createHmac, hkdfSync } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Codec, Cookie, Keys, Path, Returns, Test, get, post, refuse, Refusal, setCookie } from "usher-http";
import * as v from "valibot";
import { logWith, logged, messages } from "../support/logs.ts";
import { internal, invalid } from "../support/refusals.ts";
import { codePoint } from "../support/code-point.ts";

const old = "an old secret of thirty-two bytes, or a few more";
const fresh = "a new secret of thirty-two bytes, or a few more";
const other = "no secret of this server's, of as many bytes as it takes";
const keys = Keys.ring(fresh, old);
const at = new Date("2026-11-21T12:00:00.000Z");
const after = (seconds: number) => new Date(at.getTime() + seconds * 1000);

type Maker = typeof Cookie.signed;
const makers: readonly (readonly [kind: string, make: Maker])[] = [
  ["signed", Cookie.signed],
  ["encrypted", Cookie.encrypted],
];

/** The Set-Cookie line, and the value of its cookie. */
async function set<A>(cookie: Cookie<A>, value: A, options: Cookie.CookieOptions = {}, now = at) {
  const route = post(Path.root, { inputs: { setCookie }, returns: Returns.empty() }, ({ setCookie }) =>
    setCookie(Cookie.make(cookie, value, options)),
  );
  const { headers } = await Test.call(Test.app([route]), "POST", "/", { now });
  const [line = ""] = headers.getSetCookie();
  return { line, wire: line.slice(line.indexOf("=") + 1, line.indexOf(";")) };
}

/** The value of a cookie as a route reads it, or "absent". */
async function read<A>(cookie: Cookie<A>, wire: string, now = at): Promise<unknown> {
  const route = get(
    Path.root,
    { inputs: { value: Cookie.optional(cookie) }, returns: Returns.json(v.array(v.string())) },
    ({ value }) => (value === undefined ? [] : [String(value)]),
  );
  const { json } = await Test.call(Test.app([route]), "GET", "/", {
    now,
    headers: { cookie: `${cookie.name}=${wire}` },
  });
  const [value = "absent"] = json() as readonly string[];
  return value;
}

describe.each(makers)("a %s cookie: its value", (kind, make) => {
  const prefs = make(keys, "prefs", Codec.string);

  it("SK-01, SK-06 is set and read", async () => {
    const { wire } = await set(prefs, "dark");
    expect(await read(prefs, wire)).toBe("dark");
    expect(wire).toMatch(/^[A-Za-z0-9_.-]+$/);
    expect(wire).not.toContain("dark");
  });

  it("SK-06 is not readable in the header when it is encrypted", async () => {
    const { wire } = await set(prefs, "dark");
    expect(wire.includes(Buffer.from("dark").toString("base64url"))).toBe(kind === "signed");
  });

  it("SK-02 may be any text; with one character changed, removed or added it is absent", async () => {
    const text = fc.string({ unit: codePoint, maxLength: 40 }).filter((text) => text.isWellFormed());
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/%"];
    await fc.assert(
      fc.asyncProperty(text, fc.nat(), fc.constantFrom(...letters), async (text, place, letter) => {
        const { wire } = await set(prefs, text);
        expect(await read(prefs, wire)).toBe(text);
        const i = place % wire.length;
        const edited = wire.slice(0, i) + letter + wire.slice(i + 1);
        if (edited !== wire) expect(await read(prefs, edited)).toBe("absent");
        expect(await read(prefs, wire.slice(0, i))).toBe("absent");
        expect(await read(prefs, wire.slice(0, i) + wire.slice(i + 1))).toBe("absent");
        expect(await read(prefs, wire.slice(0, i) + letter + wire.slice(i))).toBe("absent");
      }),
      { numRuns: 60 },
    );
  });

  it("SK-02 is absent with any bit changed", async () => {
    const { wire } = await set(prefs, "dark");
    const parts = wire.split(".");
    for (const [p, part] of parts.entries()) {
      const bytes = kind === "signed" && p === 0 ? Buffer.from(part) : Buffer.from(part, "base64url");
      const spell = (bytes: Buffer) => (kind === "signed" && p === 0 ? bytes.toString() : bytes.toString("base64url"));
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(await read(prefs, parts.with(p, spell(flipped)).join("."))).toBe("absent");
      }
    }
  });

  it.each(["", ".", "..", "...", "a.b.c", "AAAA", "A".repeat(200), "=", "%", '"x"'])(
    "SK-02 %j is absent",
    async (wire) => {
      expect(await read(prefs, wire)).toBe("absent");
    },
  );

  it("SK-03 is absent when it was copied from a cookie of another name", async () => {
    const { wire } = await set(prefs, "dark");
    expect(await read(make(keys, "pref", Codec.string), wire)).toBe("absent");
    expect(await read(make(keys, "prefs2", Codec.string), wire)).toBe("absent");
  });

  it("SK-03 is absent when it was copied from a cookie of the other kind", async () => {
    const { wire } = await set(prefs, "dark");
    const otherKind = kind === "signed" ? Cookie.encrypted : Cookie.signed;
    expect(await read(otherKind(keys, "prefs", Codec.string), wire)).toBe("absent");
  });
});

describe.each(makers)("a %s cookie: keys and age", (_kind, make) => {
  const prefs = make(keys, "prefs", Codec.string);

  it("SK-04 is absent when the key ring does not have its key", async () => {
    const { wire } = await set(prefs, "dark");
    expect(await read(make(Keys.ring(other), "prefs", Codec.string), wire)).toBe("absent");
    expect(await read(make(Keys.ring(old), "prefs", Codec.string), wire)).toBe("absent");
  });

  it.each([{}, { maxAgeMs: 600_000 }])(
    "that was set later than now is absent, except for a minute: %j",
    async (options) => {
      const ahead = make(keys, "prefs", Codec.string, options);
      for (const [seconds, value] of [
        [0, "dark"],
        [60, "dark"],
        [61, "absent"],
        [3600, "absent"],
        [1e9, "absent"],
      ] as const) {
        const { wire } = await set(ahead, "dark", {}, after(seconds));
        expect([seconds, await read(ahead, wire)]).toEqual([seconds, value]);
        expect(await read(ahead, wire, after(seconds))).toBe("dark");
      }
    },
  );

  it("SK-05 is read with a retired key of the key ring; the newest key is used to set it", async () => {
    const { wire } = await set(make(Keys.ring(old), "prefs", Codec.string), "dark");
    expect(await read(prefs, wire)).toBe("dark");
    const { wire: renewed } = await set(prefs, "dark");
    expect(await read(make(Keys.ring(fresh), "prefs", Codec.string), renewed)).toBe("dark");
  });

  it.each([
    [59, "dark"],
    [60, "dark"],
    [60.999, "dark"],
    [61, "absent"],
    [1e9, "absent"],
    [-60, "dark"],
    [-3600, "absent"],
  ])("SK-07 with an age of 60 s, read %d s later: %s", async (seconds, expected) => {
    const aged = make(keys, "prefs", Codec.string, { maxAgeMs: 60_000 });
    const { wire } = await set(aged, "dark");
    expect(await read(aged, wire, after(seconds))).toBe(expected);
  });

  it("SK-07 without an age does not expire", async () => {
    const { wire } = await set(prefs, "dark");
    expect(await read(prefs, wire, after(1e9))).toBe("dark");
  });

  it("SK-07 expires by the server's clock, whatever the cookie's attributes are", async () => {
    const { wire } = await set(prefs, "dark");
    expect(await read(make(keys, "prefs", Codec.string, { maxAgeMs: 1000 }), wire, after(2))).toBe("absent");
  });
});

describe.each(makers)("a %s cookie: attributes and refusals", (kind, make) => {
  const prefs = make(keys, "prefs", Codec.string);

  it.each([
    ["SK-08", {}, "Max-Age=60"],
    ["SK-09", { maxAgeMs: 30_000 }, "Max-Age=30"],
    ["SK-09", { maxAgeMs: 600_000 }, "Max-Age=60"],
  ])("%s made with %j is set with %s", async (_id, options, attribute) => {
    const aged = make(keys, "prefs", Codec.string, { maxAgeMs: 60_000 });
    expect((await set(aged, "dark", options)).line).toMatch(
      new RegExp(`^prefs=[\\w.-]+; Path=/; HttpOnly; SameSite=Lax; ${attribute}$`),
    );
  });

  it("SK-10 if it is required and forged, is reported as missing", async () => {
    const who = make(keys, "who", Codec.string);
    const route = get(Path.root, { inputs: { who: Cookie.required(who) }, returns: Returns.text }, ({ who }) => who);
    for (const headers of [{}, { cookie: "who=forged" }]) {
      const { status, body } = await Test.call(Test.app([route]), "GET", "/", { headers });
      expect([status, body]).toEqual([400, invalid(["cookie.who", "required", "This is required."])]);
    }
  });

  it("SK is absent if its codec does not parse the value", async () => {
    const { wire } = await set(prefs, "dark");
    expect(await read(make(keys, "prefs", Codec.int), wire)).toBe("absent");
    const { wire: seven } = await set(make(keys, "n", Codec.int), 7);
    expect(await read(make(keys, "n", Codec.int), seven)).toBe("7");
  });

  it("SK holds any text that is valid Unicode", async () => {
    const text = 'a;b, "c"\r\nSet-Cookie: x=1\u0000é\ufeff世🌍';
    expect(await read(prefs, (await set(prefs, text)).wire)).toBe(text);
    expect(() => Cookie.make(prefs, "\ud800")).toThrow("Cookie.make: cookie prefs has a value no cookie can hold");
  });

  it("SK is removed like any other cookie", () => {
    expect(Cookie.clear(prefs)).toEqual({
      name: "prefs",
      value: "",
      path: "/",
      httpOnly: true,
      sameSite: "lax",
      maxAgeMs: 0,
    });
  });

  it("SK is not sent with a refusal", async () => {
    const route = get(
      Path.root,
      { inputs: { setCookie }, returns: Returns.empty(), refuses: [Refusal.notFound] },
      ({ setCookie }) => {
        setCookie(Cookie.make(prefs, "dark"));
        return refuse(Refusal.notFound);
      },
    );
    const { status, headers } = await Test.call(Test.app([route]), "GET", "/");
    expect([status, headers.getSetCookie()]).toEqual([404, []]);
  });

  it("SK that cannot be sealed is a 500 without a cookie", async () => {
    const broken = { ...Cookie.make(prefs, "dark"), seal: () => Promise.reject(new Error("dark")) };
    const route = get(Path.root, { inputs: { setCookie }, returns: Returns.empty() }, ({ setCookie }) =>
      setCookie(broken),
    );
    const { status, body, headers } = await Test.call(Test.app([route]), "GET", "/");
    expect([status, body, headers.getSetCookie()]).toEqual([500, internal, []]);
    expect(logged().join("\n")).not.toContain("dark");
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300])("ST an age of %d is refused", (maxAgeMs) => {
    expect(() => make(keys, "prefs", Codec.string, { maxAgeMs })).toThrow(
      `Cookie.${kind}: maxAgeMs of cookie prefs must be milliseconds, more than 0, not ${maxAgeMs}`,
    );
  });
});

it("SK-01 a signed value is HMAC with a key of HKDF, in the format of the facts", async () => {
  const { wire } = await set(Cookie.signed(keys, "prefs", Codec.string), "dark");
  const seconds = at.getTime() / 1000;
  const key = hkdfSync("sha256", fresh, Buffer.alloc(32), "usher-http cookie signing", 32);
  const mac = createHmac("sha256", Buffer.from(key)).update(`prefs\0${seconds}\0dark`).digest("base64url");
  expect(wire).toBe(`${seconds}.${Buffer.from("dark").toString("base64url")}.${mac}`);
});

describe("the log of sealed cookies", () => {
  beforeEach(() => logWith({ level: "debug" }));
  it("has a debug line for a cookie that did not open, without its value", async () => {
    await read(Cookie.signed(keys, "prefs", Codec.string), "1.c2VjcmV0.forged-by-somebody");
    expect(messages("debug")).toEqual(["the cookie prefs did not open, and is read as absent"]);
    expect(logged().join("\n")).not.toMatch(/c2VjcmV0|forged/);
  });
});

describe("Keys.make", () => {
  it("refuses a short secret without quoting it", () => {
    const why = (place: number) => new Error(`Keys.ring: secrets[${place}] is shorter than 32 bytes`);
    expect(() => Keys.ring("x".repeat(31))).toThrow(why(0));
    expect(() => Keys.ring(fresh, "hunter2")).toThrow(why(1));
    expect(Keys.ring("é".repeat(16)).size).toBe(1);
    expect(keys.size).toBe(2);
  });

  it("does not print its secrets", () => {
    const shown = inspect(keys, { depth: null, showHidden: true }) + JSON.stringify(keys) + String(keys);
    expect(shown).not.toContain("secret of thirty-two");
  });

  it("SK-12 can sign and verify a text", async () => {
    const signature = await Keys.sign(keys, "a text");
    expect(await Keys.verify(keys, "a text", signature)).toBe(true);
    expect(await Keys.verify(keys, "another text", signature)).toBe(false);
    expect(await Keys.verify(keys, "a text", signature.slice(0, 20))).toBe(false);
    expect(await Keys.verify(keys, "a text", "")).toBe(false);
    expect(await Keys.verify(keys, "a text", `${signature}=`)).toBe(false);
    expect(await Keys.verify(Keys.ring(old), "a text", signature)).toBe(false);
    expect(await Keys.verify(keys, "a text", await Keys.sign(Keys.ring(old), "a text"))).toBe(true);
  });

  it("is refused with a lone surrogate, which has no UTF-8: two such texts would have one signature", async () => {
    for (const text of ["\ud800", "a\udc00b", "\udc00\ud800"]) {
      await expect(Keys.sign(keys, text)).rejects.toThrow(
        "Keys.sign: the text is not Unicode: it has a lone surrogate",
      );
      await expect(Keys.seal(keys, text, "a")).rejects.toThrow("Keys.seal: the text is not Unicode");
      await expect(Keys.seal(keys, "a", text)).rejects.toThrow("Keys.seal: the context is not Unicode");
      const replaced = new TextDecoder().decode(new TextEncoder().encode(text));
      expect(await Keys.verify(keys, text, await Keys.sign(keys, replaced))).toBe(false);
      expect(await Keys.open(keys, await Keys.seal(keys, "a", replaced), text)).toBeUndefined();
    }
    const [one, another] = ["\ud800", "\ud801"].map((last) => Keys.ring("a secret of 32 bytes and more, and " + last));
    expect(await Keys.verify(one as Keys, "a", await Keys.sign(another as Keys, "a"))).toBe(false);
  });

  it("SK-13 can seal and open a text, with the same context only", async () => {
    const sealed = await Keys.seal(keys, "a text", "for this");
    expect(await Keys.open(keys, sealed, "for this")).toBe("a text");
    expect(await Keys.open(keys, sealed, "for that")).toBeUndefined();
    expect(await Keys.open(Keys.ring(other), sealed, "for this")).toBeUndefined();
    expect(await Keys.open(keys, "", "for this")).toBeUndefined();
    expect(await Keys.open(keys, "not base64url!", "for this")).toBeUndefined();
    expect(await Keys.seal(keys, "a text", "for this")).not.toBe(sealed);
    await expect(Keys.seal(keys, "\ud800", "")).rejects.toThrow("the text is not Unicode");
  });

  it("a signature of a text is not valid as a cookie", async () => {
    const seconds = at.getTime() / 1000;
    const signature = await Keys.sign(keys, `prefs\0${seconds}\0dark`);
    const forged = `${seconds}.${Buffer.from("dark").toString("base64url")}.${signature}`;
    expect(await read(Cookie.signed(keys, "prefs", Codec.string), forged)).toBe("absent");
  });
});
