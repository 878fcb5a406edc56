import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encoded } from "../../src/codecs/codec.ts";
import { decodeBase64url, encodeBase64url } from "../../src/http/bytes.ts";
import { expectRefuses, valueOf } from "./expectations.ts";
import { codePoint } from "../support/code-point.ts";

describe("base64url of bytes", () => {
  it("is the same as Node's, and is read back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeBase64url(bytes);
        expect(text).toBe(Buffer.from(bytes).toString("base64url"));
        expect(decodeBase64url(text)).toEqual(bytes);
      }),
    );
  });

  it("has one spelling: a valid text is the encoding of its bytes", () => {
    const text = fc.string({ unit: fc.constantFrom(..."AQgw-_=+/ \n"), maxLength: 9 });
    let decoded = 0;
    fc.assert(
      fc.property(text, (spelling) => {
        const bytes = decodeBase64url(spelling);
        if (bytes === undefined) return;
        decoded++;
        expect(encodeBase64url(bytes)).toBe(spelling);
      }),
    );
    expect(decoded).toBeGreaterThan(0);
  });

  it.each(["a", "QQ==", "QR", "QUK", "+/8", "Q Q", "QQ\n", "ü", "QUJD?"])("refuses %j", (text) => {
    expect(decodeBase64url(text)).toBeUndefined();
  });
});

describe("Cookie.encoded", () => {
  it("CD-135 holds any text, in characters that every cookie allows, and reads it back", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 100 }), (text) => {
        const printed = encoded.print(text);
        expect(printed).toMatch(/^[A-Za-z0-9_-]*$/);
        expect(valueOf(encoded, printed)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a byte order mark", () => expect(valueOf(encoded, encoded.print("\ufeffa"))).toBe("\ufeffa"));

  it("prints text that is not Unicode as nothing", () => expect(encoded.print("\ud800")).toBe(""));

  it.each(["not*base64", "a", "QQ==", "QR", "gA", "7aCA", "\u00e9"])("CD-136 refuses %j", (text) => {
    expectRefuses(encoded, text, "a value this server wrote");
  });
});
