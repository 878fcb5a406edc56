/** No text of a client's costs more than its length: twice the text is at most twice the steps. */
import { describe, expect, it } from "vitest";
import type { Work } from "./natives.ts";
import { agreed, countRun, countSource, countWork, startCounting } from "./steps.ts";

startCounting();
const { rows, ofFields } = await import("./texts.ts");
const { mcpRows } = await import("./mcp-texts.ts");
await import("../support/logs.ts");

// Above the lengths at which code treats long input in another way, such as a body that may nest deep.
const long = 1100;

const described = ({ units, thrown }: Work): string => `${units} characters looked at and ${thrown} exceptions`;

/** What one run of each text did: the language's functions for each, and our own source for all. */
interface Counted {
  readonly works: readonly Work[];
  readonly ran: number;
}

const grows = (once: Work, twice: Work): boolean => twice.units > once.units * 2 || twice.thrown > once.thrown;
const isSame = (one: Work, other: Work): boolean => one.units === other.units && one.thrown === other.thrown;

describe("twice the text takes at most twice the steps", () => {
  it.each([...rows, ...mcpRows].map((row) => [row.reader, row] as const))(
    "%s",
    async (_reader, { read, texts, times = long }) => {
      const grown: string[] = [];
      const all = Object.entries(texts);
      // The first request fills caches, which is not a cost of the text.
      for (const [, text] of all) await read(text(1));
      // V8 takes as long to report one text as all: each is measured by itself only if they grew together.
      const countEach = async (some: typeof all, length: number): Promise<Counted> => {
        const works: Work[] = [];
        const ran = await countSource(async () => {
          for (const [, text] of some) works.push(await countRun(() => read(text(length))));
        });
        return { works, ran };
      };
      const ranOf = async (some: typeof all, length: number): Promise<number> => (await countEach(some, length)).ran;
      const [once, twice] = [await countEach(all, times), await countEach(all, times * 2)];
      for (const [at, [name, text]] of all.entries()) {
        const [of, ofTwice] = [once.works[at] as Work, twice.works[at] as Work];
        // Other work during a single run only adds to it.
        if (!grows(of, ofTwice) && isSame(of, await countRun(() => read(text(times))))) continue;
        const [agreed, agreedTwice] = [
          await countWork(() => read(text(times))),
          await countWork(() => read(text(times * 2))),
        ];
        if (grows(agreed, agreedTwice)) grown.push(`${name}: ${described(agreed)}, then ${described(agreedTwice)}`);
      }
      if (twice.ran > once.ran * 2) {
        for (const one of all) {
          const [ran, ranTwice] = [
            await agreed(() => ranOf([one], times)),
            await agreed(() => ranOf([one], times * 2)),
          ];
          if (ranTwice > ran * 2) grown.push(`${one[0]}: ${ran} characters of source ran, then ${ranTwice}`);
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
