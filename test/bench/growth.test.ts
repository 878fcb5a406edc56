/** How the benchmarks measure growth: who plays at which size, what is sent, and what has no figure. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { root } from "../package/packed.ts";

type Figures = Readonly<Record<string, ReadonlyMap<number, readonly Readonly<Record<string, number>>[]>>>;

const { grown, growthOf } = (await import(join(root, "bench/growth/grow.mjs"))) as {
  readonly grown: (what: {
    readonly sizes: readonly number[];
    readonly whos: readonly string[];
    readonly rounds: number;
    readonly play: (who: string, size: number) => Promise<Readonly<Record<string, number>>>;
  }) => Promise<Figures>;
  readonly growthOf: (
    about: object,
    names: Readonly<Record<string, string>>,
    figures: Figures,
    key: string,
  ) => { readonly text: string; readonly series: object };
};
const { parts, partsOf } = (await import(join(root, "bench/parts.mjs"))) as {
  readonly parts: readonly string[];
  readonly partsOf: (names: readonly string[]) => readonly string[];
};

const { send } = (await import(join(root, "bench/uploads/send.mjs"))) as {
  readonly send: (port: number, body: { readonly bytes: number; readonly multipart: boolean }) => Promise<void>;
};

const about = { title: "Time", unit: "ms", better: "less", x: "routes" };
const names = { usher: "usher", other: "Another" };

describe("growth", () => {
  it("is measured at each size in each round, with another candidate first", async () => {
    const played: string[] = [];
    const play = async (who: string, size: number) => {
      played.push(`${who} ${size}`);
      return { ms: size };
    };
    const figures = await grown({ sizes: [1, 10], whos: ["usher", "other"], rounds: 2, play });
    expect(played).toEqual([
      "usher 1",
      "other 1",
      "usher 10",
      "other 10",
      "other 1",
      "usher 1",
      "other 10",
      "usher 10",
    ]);
    expect(figures["usher"]?.get(10)).toEqual([{ ms: 10 }, { ms: 10 }]);
  });

  it("is a table of medians and a curve, without the points that have no value", () => {
    const rounds = (...values: readonly number[]) => values.map((ms) => ({ ms }));
    const figures = {
      usher: new Map([
        [10, rounds(1, 3, 2)],
        [1000, rounds(20, 40, 30)],
      ]),
      // In one round it did not end.
      other: new Map([
        [10, rounds(4, 5, 6)],
        [1000, rounds(50, Number.NaN, 50)],
      ]),
    };
    const { text, series } = growthOf(about, names, figures, "ms");
    expect(text.split("\n")).toEqual([
      "| Time, ms; routes | 10 | 1,000 |",
      "| --- | ---: | ---: |",
      "| usher | 2.00 | 30.0 |",
      "| Another | 5.00 | – |",
    ]);
    expect(series).toMatchObject({
      kind: "curves",
      lines: [
        {
          name: "usher",
          points: [
            { x: 10, values: [1, 3, 2] },
            { x: 1000, values: [20, 40, 30] },
          ],
        },
        { name: "Another", points: [{ x: 10, values: [4, 5, 6] }] },
      ],
    });
  });

  it("has six parts, which one name runs", () => {
    expect(partsOf(["growth"])).toEqual(parts.filter((part) => part.startsWith("growth/")));
    expect(partsOf(["growth"])).toHaveLength(6);
    expect(() => partsOf(["growht"])).toThrow("no such part: growht; there are server, ");
  });
});

it.each([1, 1024, 65_536, 65_537, 1 << 20])("a body of %i bytes has this length", async (bytes) => {
  const lengths: number[] = [];
  const server = createServer((request, response) => {
    const hash = createHash("sha1");
    let length = 0;
    request.on("data", (part: Buffer) => {
      length += part.length;
      hash.update(part);
    });
    request.on("end", () => {
      lengths.push(length);
      response.end(hash.digest("hex"));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // The second one comes on the same connection.
  for (let i = 0; i < 2; i++) await send(port, { bytes, multipart: false });
  expect(lengths).toEqual([bytes, bytes]);
});
