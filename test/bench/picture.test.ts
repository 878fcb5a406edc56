/** README's picture, from the records of `server` and `runtimes`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Picture {
  readonly machine: string;
  readonly versions: string;
  readonly panels: readonly { readonly title: string; readonly requests: readonly object[] }[];
}

const { pictureOf, recordPicture } = (await import(join(root, "bench/picture/record.mjs"))) as {
  readonly pictureOf: (records: readonly object[]) => Picture;
  readonly recordPicture: (records: readonly object[], into: string) => void;
};

function record(title: string, rows: Readonly<Record<string, readonly number[]>>): object {
  const groups = ["GET /", "GET /id/7?name=x", "POST /orders"].map((name) => ({
    name,
    rows: Object.entries(rows).map(([name, values]) => ({ name, values })),
  }));
  const versions = {
    Usher: "0.1.0",
    Node: "24.1.0",
    Bun: "1.4.5",
    Fastify: "5.0.0",
    Hono: "4.0.0",
    h3: "2",
    Elysia: "1",
  };
  const about = { date: "2026-11-25", command: "npm run bench -- --publish", versions, host: { cores: 2 } };
  return { ...about, series: [{ kind: "bars", title, groups }] };
}

const onNode = {
  "node:http by hand": [10, 20],
  usher: [11, 24],
  Fastify: [12, 24],
  "Hono, node-server": [20, 40],
  h3: [15, 30],
};
const onBun = { "Bun.serve by hand": [5, 5], usher: [6, 6], Elysia: [5, 5], Hono: [7, 7] };

it("has the medians of the ratios within a round", () => {
  const picture = pictureOf([record("CPU of a request, on Node", onNode), record("CPU of a request, on Bun", onBun)]);
  expect(picture.versions).toBe("Node 24.1.0, Bun 1.4.5, Fastify 5.0.0, Hono 4.0.0, h3 2, Elysia 1");
  expect(picture.machine).toBe("a machine with 2 cores");
  expect(picture.panels.map(({ title }) => title)).toEqual(["Node", "Bun"]);
  expect(picture.panels.map(({ requests }) => requests[0])).toEqual([
    { name: "GET, plain text", micros: 15, ratios: { Usher: 1.15, Fastify: 1.2, Hono: 2, h3: 1.5 } },
    { name: "GET, plain text", micros: 5, ratios: { Usher: 1.2, Elysia: 1, Hono: 1.4 } },
  ]);
});

it("fails if a record lacks its series", () => {
  expect(() => pictureOf([record("CPU of a request, on Node", onNode)])).toThrow(
    'no record has the series "CPU of a request, on Bun"',
  );
});

it("is drawn, and its text written into README, from the records", () => {
  const into = mkdtempSync(join(tmpdir(), "usher-picture-"));
  try {
    for (const folder of ["bench/results", "docs/images"]) mkdirSync(join(into, folder), { recursive: true });
    const readme = join(into, "README.md");
    writeFileSync(readme, "![CPU per request, of an older run](docs/images/cpu.svg)");
    recordPicture([record("CPU of a request, on Node", onNode), record("CPU of a request, on Bun", onBun)], into);
    const [node, bun] = [
      "on Node, of node:http by hand: Usher 1.15 to 1.15, Fastify 1.20 to 1.20, Hono 2.00 to 2.00, h3 1.50 to 1.50",
      "on Bun, of Bun.serve by hand: Usher 1.20 to 1.20, Elysia 1.00 to 1.00, Hono 1.40 to 1.40",
    ];
    expect(readFileSync(readme, "utf8")).toBe(`![CPU per request, ${node}; ${bun}](docs/images/cpu.svg)`);
    const svg = readFileSync(join(into, "docs/images/cpu.svg"), "utf8");
    expect(svg).toContain(">1.15<");
    expect(svg).toContain("@media (prefers-color-scheme: dark)");
  } finally {
    rmSync(into, { recursive: true });
  }
});
