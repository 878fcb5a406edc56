import { describe, expect, it } from "vitest";
import * as Codec from "../../src/codecs/index.ts";
import { error, ok } from "../../src/result.ts";

const even = Codec.custom({
  kind: "even number",
  parse: (text) => (/^[0-9]*[02468]$/.test(text) ? ok(Number(text)) : error("Give an even number.")),
  print: (value: number) => String(value),
});

describe("custom", () => {
  it("CD-133 reports the message of its parse function", () => {
    expect(even.parse("7")).toEqual({ ok: false, error: "Give an even number." });
    expect(even.parse("8")).toEqual({ ok: true, value: 8 });
    expect(even.print(8)).toBe("8");
  });

  it("is described by its kind, and is a list if it says so", () => {
    expect(even.text).toEqual({ type: "string", kind: "even number" });
    expect(even.list).toBe(false);
    const words = {
      kind: "words",
      parse: (text: string) => ok(text.split(", ")),
      print: (list: string[]) => list.join(", "),
    };
    expect(Codec.custom({ ...words, list: true }).list).toBe(true);
  });
});
