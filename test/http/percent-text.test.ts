/** The decoder of form text compared with the platform's own: strict UTF-8, with any text before, after and between. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFormText, decodePercent } from "../../src/http/target.ts";
import { rounds } from "../support/wide.ts";
import { codePoint } from "../support/code-point.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(bytes: readonly number[]): string | null {
  try {
    return utf8.decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

const escaped = (bytes: readonly number[], upper: boolean): string =>
  bytes
    .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
    .map((text) => (upper ? text.toUpperCase() : text))
    .join("");

// First bytes of every kind, and second ones at each bound of what may follow them (RFC 3629 §4).
const leads = [
  0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5,
  0xff,
];
const follows = [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
const sequences = leads.flatMap((lead) => [
  [lead],
  ...follows.flatMap((second) => [
    [lead, second],
    ...follows.flatMap((third) => [
      [lead, second, third],
      [lead, second, third, 0x80],
      [lead, second, third, 0x41],
    ]),
  ]),
]);

describe("form text: compared with the platform", () => {
  it(`reads ${sequences.length} sequences at the limits of UTF-8 like the platform`, () => {
    for (const bytes of sequences) {
      const expected = decoded(bytes);
      expect(decodeFormText(escaped(bytes, true)), String(bytes)).toBe(expected);
      expect(decodeFormText(escaped(bytes, false)), String(bytes)).toBe(expected);
    }
  });

  it("reads any bytes like the platform, between text and at any place", () => {
    const piece = fc.oneof(
      fc.string({ unit: codePoint }).map((text) => text.toWellFormed().replace(/[%+]/g, "")),
      fc.constantFrom("é", "€", "😀", "x".repeat(70), "x".repeat(1100)),
      fc.array(fc.constantFrom(...leads, ...follows), { minLength: 1, maxLength: 4 }),
      fc.string({ unit: codePoint }).map((text) => [...new TextEncoder().encode(text.toWellFormed())]),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.string(), (pieces, before) => {
        const text = pieces.map((piece) => (typeof piece === "string" ? piece : escaped(piece, true))).join("");
        const bytes = pieces.flatMap((piece) =>
          typeof piece === "string" ? [...new TextEncoder().encode(piece)] : piece,
        );
        expect(decodeFormText(text)).toBe(decoded(bytes));
        expect(decodeFormText(`${before}${text}&41`, before.length, before.length + text.length)).toBe(decoded(bytes));
      }),
      { numRuns: rounds(3000) },
    );
  });

  it.each([
    ["", ""],
    ["%", "%"],
    ["%%", "%%"],
    ["%4", "%4"],
    ["%%41", "%A"],
    ["%4%41", "%4A"],
    ["%g1%1g", "%g1%1g"],
    ["%+", "% "],
    ["%4+", "%4 "],
    ["%%2", "%%2"],
    ["%é1", "%é1"],
    ["%EF%BB%BFx", "\ufeffx"],
    ["%F0%9F%98%80", "😀"],
    ["%C3é", null],
    ["%C3+", null],
    ["%C3%", null],
    ["%E2%82", null],
  ])("%s is %j", (text, expected) => {
    expect(decodeFormText(text)).toBe(expected);
  });
});

describe("form text: segments and buffers", () => {
  it("reads a segment of a path like the platform", () => {
    const model = (text: string): string | null => {
      try {
        return decodeURIComponent(text);
      } catch {
        return null;
      }
    };
    const piece = fc.constantFrom(
      "%",
      "%4",
      "%41",
      "%zz",
      "%C3%A9",
      "%C3",
      "%A9",
      "+",
      "a",
      "é",
      "%F0%9F%98%80",
      "%ED%A0%80",
      "%2F",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        expect(decodePercent(pieces.join(""))).toBe(model(pieces.join("")));
      }),
      { numRuns: rounds(3000) },
    );
    for (const bytes of sequences) expect(decodePercent(escaped(bytes, true)), String(bytes)).toBe(decoded(bytes));
  });

  it("reads nothing after its end", () => {
    expect(decodeFormText("a%41", 0, 3)).toBe("a%4");
    expect(decodeFormText("%C3%A9", 0, 3)).toBe(null);
    expect(decodeFormText("%C3%A9", 0, 5)).toBe(null);
  });

  it.each([1000, 1024, 1025, 5000])("is the same at the limits of buffers: %i characters", (length) => {
    for (const piece of ["%41", "+", "%F0%9F%98%80", `${"x".repeat(64)}%41`, `${"x".repeat(65)}%41`]) {
      expect(decodeFormText(piece.repeat(length))).toBe(new URLSearchParams(`a=${piece.repeat(length)}`).get("a"));
    }
  });
});
