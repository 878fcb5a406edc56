import { describe, expect, test } from "vitest";
import * as v from "valibot";
import { compileReader } from "../../src/schema/read.ts";
import { accepted, decidedToAccept, decidedToRefuse, refused } from "./json-test-suite.ts";

const anyJson = compileReader(v.unknown());
const exactJson = compileReader(v.any());

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

describe("JSON text that is accepted (except JS-01: a repeated member has its last value)", () => {
  test.each(Object.entries({ ...accepted, ...decidedToAccept }))("%s", (_file, text) => {
    const read = anyJson.read(bytes(text));
    expect(read).toEqual({ ok: true, value: JSON.parse(new TextDecoder().decode(bytes(text))) });
  });
});

describe("JSON text that is refused (JS-03 and the decisions of JS-04 to JS-37)", () => {
  test.each(Object.entries({ ...refused, ...decidedToRefuse }))("%s", (_file, text) => {
    for (const reader of [anyJson, exactJson]) {
      const read = reader.read(bytes(text));
      expect(read.ok).toBe(false);
      if (!read.ok) expect(read.error).toHaveLength(1);
    }
  });
});

const sentences: readonly [string, string, string, string][] = [
  ["text that is no JSON", "not json", "malformed", "This is not JSON."],
  ["bytes that are no UTF-8", '"\xff"', "malformed", "This is not JSON."],
  ["half of a surrogate pair", '"\\ud800"', "malformed", "This is not JSON."],
  ["a name with half of a surrogate pair", '{"\\udc00":1}', "malformed", "This is not JSON."],
  ["a byte order mark", "\xef\xbb\xbf{}", "malformed", "This is not JSON."],
  ["PM-07: 513 lists", "[".repeat(513) + "]".repeat(513), "too_deep", "This is nested more than 512 deep."],
  ["10,000 lists", "[".repeat(10_000) + "]".repeat(10_000), "too_deep", "This is nested more than 512 deep."],
  ["a mebibyte of [", "[".repeat(1024 * 1024), "too_deep", "This is nested more than 512 deep."],
  ["513 objects", '{"a":'.repeat(513) + "1" + "}".repeat(513), "too_deep", "This is nested more than 512 deep."],
];

describe("the problems of a JSON text", () => {
  test.each(sentences)("%s", (_name, text, code, message) => {
    expect(anyJson.read(bytes(text))).toEqual({ ok: false, error: [{ at: "body", code, message }] });
  });

  test("a depth of 512 is read, and any number of brackets inside a string", () => {
    const deep = "[".repeat(512) + "]".repeat(512);
    expect(anyJson.readText(deep).ok).toBe(true);
    expect(anyJson.readText(JSON.stringify(["[".repeat(2000), '\\"[', '"'])).ok).toBe(true);
    for (const shallow of ["[]", "{}"]) {
      expect(anyJson.readText(`[${`${shallow},`.repeat(1025)}${shallow}]`).ok).toBe(true);
    }
    expect(anyJson.readText(`[${'"\\\\",'.repeat(1000)}${"[".repeat(511)}${"]".repeat(512)}`).ok).toBe(true);
  });

  test("depth counts undeclared members too, and hides every other problem", () => {
    const reader = compileReader(v.object({ a: v.string() }));
    const read = reader.readText(`{"a":1,"b":${"[".repeat(512)}${"]".repeat(512)}}`);
    expect(read).toEqual({
      ok: false,
      error: [{ at: "body", code: "too_deep", message: "This is nested more than 512 deep." }],
    });
    expect(reader.readValue(JSON.parse("[".repeat(20_000) + "]".repeat(20_000)), "message")).toEqual({
      ok: false,
      error: [{ at: "message", code: "too_deep", message: "This is nested more than 512 deep." }],
    });
  });

  test("an escaped backslash before a u is no escape", () => {
    expect(anyJson.readText('"\\\\ud800"')).toEqual({ ok: true, value: "\\ud800" });
  });

  test.each(["", " ", "\n\t\r "])("JB-01: a body of %j is an empty object", (text) => {
    expect(anyJson.readText(text)).toEqual({ ok: true, value: {} });
  });

  test("other white space is not JSON", () => {
    expect(anyJson.readText("\u00a0").ok).toBe(false);
    expect(anyJson.readText("\f").ok).toBe(false);
  });
});
