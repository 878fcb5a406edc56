/** No text of a client's costs more than its length: twice the text is at most twice the steps. */
import { describe, expect, it } from "vitest";
import type { Work } from "./natives.ts";
import { countRun, countSource, countWork, startCounting } from "./steps.ts";

startCounting();
const { rows, ofFields } = await import("./texts.ts");
const { mcpRows } = await import("./mcp-texts.ts");
await import("../support/logs.ts");

// Past the lengths at which what is long is told from what is not, such as a body that may nest deep.
const long = 1100;

const described = ({ units, thrown }: Work): string => `${units} characters looked at and ${thrown} exceptions`;

describe("twice the text is at most twice the steps", () => {
  it.each([...rows, ...mcpRows].map((row) => [row.reader, row] as const))(
    "%s",
    async (_reader, { read, texts, times = long }) => {
      const grown: string[] = [];
      const all = Object.entries(texts);
      for (const [name, text] of all) {
        // The first request fills caches, which is not a cost of the text.
        await read(text(1));
        const once = await countWork(() => read(text(times)));
        const grows = ({ units, thrown }: Work): boolean => units > once.units * 2 || thrown > once.thrown;
        const readTwice = () => read(text(times * 2));
        // What a single run does beside its own work only adds to it: where that is within the bound, so is the work.
        if (!grows(await countRun(readTwice))) continue;
        const twice = await countWork(readTwice);
        if (grows(twice)) grown.push(`${name}: ${described(once)}, then ${described(twice)}`);
      }
      // V8 takes as long to tell of one text as of all: each is asked for by itself only where they grew together.
      const ran = (some: typeof all, length: number): Promise<number> =>
        countSource(async () => {
          for (const [, text] of some) await read(text(length));
        });
      if ((await ran(all, times * 2)) > (await ran(all, times)) * 2) {
        for (const one of all) {
          const [once, twice] = [await ran([one], times), await ran([one], times * 2)];
          if (twice > once * 2) grown.push(`${one[0]}: ${once} characters of source ran, then ${twice}`);
        }
      }
      expect(grown).toEqual([]);
    },
  );
});

describe.each(Object.entries(ofFields))("a %s", (_name, readWith) => {
  it("is read once for all its fields", async () => {
    // A field that is not given is a look at what was read, however long that was.
    const added = async (text: string): Promise<number> => {
      const [few, many] = [readWith(4), readWith(64)];
      await few("a=1");
      await many("a=1");
      const [once, more] = [await countWork(() => few(text)), await countWork(() => many(text))];
      return more.units - once.units;
    };
    const short = await added("%&a=".repeat(64));
    expect(await added("%&a=".repeat(2048))).toBeLessThanOrEqual(short * 1.1);
  });
});
