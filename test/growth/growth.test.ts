/** No text of a client's costs more than its length: twice the text is at most twice the steps. */
import { describe, expect, it } from "vitest";
import { countSteps, startCounting } from "./steps.ts";

startCounting();
const { rows, ofFields } = await import("./texts.ts");
await import("../support/logs.ts");

// Past the length that a body may have without a look at how deep it is.
const times = 1100;

describe.each(rows)("$reader", ({ read, texts }) => {
  it.each(Object.entries(texts))("%s", async (_name, text) => {
    // What the first request makes for those behind it is no part of the text's cost.
    await read(text(1));
    const once = await countSteps(() => read(text(times)));
    const twice = await countSteps(() => read(text(times * 2)));
    expect(twice.source, "source that ran").toBeLessThanOrEqual(once.source * 2);
    expect(twice.natives, "what the language's functions looked at").toBeLessThanOrEqual(once.natives * 2);
    expect(twice.thrown, "exceptions").toBe(once.thrown);
  });
});

describe.each(Object.entries(ofFields))("%s", (_name, readWith) => {
  it("reads all its fields in one pass", async () => {
    // A field that is not given is a look at what was read, however long that was.
    const added = async (text: string): Promise<number> => {
      const [few, many] = [readWith(4), readWith(64)];
      await few("a=1");
      await many("a=1");
      const [once, more] = [await countSteps(() => few(text)), await countSteps(() => many(text))];
      return more.source + more.natives - once.source - once.natives;
    };
    const short = await added("%&a=".repeat(64));
    expect(await added("%&a=".repeat(2048))).toBeLessThan(short * 1.1);
  });
});
