/** What bench/peers and docs/why/compared.md say that Usher answers is what it answers. The other columns need packages that are not here. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./packed.ts";

const folder = join(root, "bench/peers");
/** `bench/peers/requests.mjs`, which has no declarations. */
const { requests } = (await import(join(folder, "requests.mjs"))) as { readonly requests: readonly Request[] };
const { ask } = (await import(join(folder, "ask.mjs"))) as {
  readonly ask: (port: number, asked: object) => Promise<object>;
};

interface Request {
  readonly name: string;
  readonly brief?: string;
  readonly asked: object;
  readonly cell: (answer: object) => string;
  readonly isMet: (answer: object) => boolean;
}

/** A column of the tables of a page: its cells by the first cell of their rows. */
function column(page: string, name: string): ReadonlyMap<string, string> {
  const rows = readFileSync(join(root, page), "utf8").match(/^\|.*\|$/gm) ?? [];
  const cells = rows.map((row) =>
    row
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
  const at = cells.find((heads) => heads.includes(name) && heads.includes("Fastify"))?.indexOf(name) ?? -1;
  return new Map(cells.map((row) => [row[0] ?? "", row[at] ?? ""]));
}

describe("the column of Usher in the comparison", () => {
  const child = spawn(process.execPath, [join(folder, "serve.mjs"), "usher"], { stdio: ["ignore", "pipe", "inherit"] });
  let port: number;
  beforeAll(async () => {
    port = Number((await once(createInterface(child.stdout), "line"))[0]);
  });
  afterAll(() => void child.kill());

  const all = column("bench/peers/README.md", "Usher");
  const compared = column("docs/why/compared.md", "Usher");

  it.each(requests)("is correct for $name", async ({ name, brief, asked, cell, isMet }) => {
    const answer = await ask(port, asked);
    const text = isMet(answer) ? `**${cell(answer)}**` : cell(answer);
    expect(all.get(name)).toBe(text);
    if (brief !== undefined) expect(compared.get(brief)).toBe(text);
  });
});
