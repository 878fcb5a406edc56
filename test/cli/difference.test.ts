/** Two texts and two JSON values, and where they differ. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonDiff, textDiff } from "../../cli/write-or-check.ts";

describe("the difference of two texts", () => {
  it.each([
    ["nothing", "a\nb\n", "a\nb\n", []],
    ["a line", "a\nb\nc\n", "a\nx\nc\n", ["at line 2", "- b", "+ x"]],
    ["a line that is new", "a\nc\n", "a\nb\nc\n", ["at line 2", "+ b"]],
    ["a line that is gone", "a\nb\nc\n", "a\nc\n", ["at line 2", "- b"]],
    [
      "places far apart, each by itself",
      "a\nb\nc\nd\ne\nf\n",
      "a\nB\nc\nd\ne\nF\n",
      ["at line 2", "- b", "+ B", "at line 6", "- f", "+ F"],
    ],
    ["everything", "a", "b", ["at line 1", "- a", "+ b"]],
  ])("is %s", (_what, before, after, lines) => {
    expect(textDiff(before, after)).toEqual(lines);
  });

  it("is shortened when it is long", () => {
    const lines = textDiff("", Array.from({ length: 100 }, (_, i) => `line ${i}`).join("\n"));
    expect([lines.length, lines.at(-1)]).toEqual([41, "and 62 more lines"]);
  });

  it("is found in texts of any length", () => {
    const [before, after] = ["a", "b"].map((word) => `${word}\n`.repeat(5000));
    expect(textDiff(before as string, after as string).slice(0, 3)).toEqual(["at line 1", "- a", "- a"]);
  });

  it("turns one text into the other", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (olds, news) => {
        const made: string[] = [...olds];
        let [at, grown] = [0, 0];
        for (const line of textDiff(olds.join("\n"), news.join("\n"))) {
          if (line.startsWith("at line ")) at = Number(line.slice(8)) - 1 + grown;
          else if (line.startsWith("- ")) {
            expect(made.splice(at, 1)).toEqual([line.slice(2)]);
            grown--;
          } else {
            made.splice(at++, 0, line.slice(2));
            grown++;
          }
        }
        expect(made).toEqual(news);
      }),
    );
  });
});

describe("the difference of two JSON values", () => {
  it("is at the places that differ, and the order of members is no difference", () => {
    expect(jsonDiff({ a: 1, b: [1, 2], c: null }, { b: [1, 3, 4], a: 1, "d/e~": {} })).toEqual([
      "~ /b/1 2 is now 3",
      "+ /b/2 4",
      "- /c null",
      "+ /d~1e~0 {}",
    ]);
    expect(jsonDiff({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toEqual([]);
    expect(jsonDiff({ a: [] }, { a: {} })).toEqual(["~ /a [] is now {}"]);
    expect(jsonDiff(undefined, 1)).toEqual(["~ / no JSON is now 1"]);
  });
});
